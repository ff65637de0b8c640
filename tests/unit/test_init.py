import json
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from types import ModuleType

import pytest

import inbounds
from inbounds.domain import Box


def modules_after(statement: str) -> set[str]:
    """The modules a fresh interpreter holds after `statement`."""
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_the_public_names_are_these() -> None:
    assert inbounds.__all__ == [
        "L1",
        "L2",
        "ArgumentError",
        "ArgumentTypeError",
        "Audit",
        "BoundedGaussian",
        "BoundedLaplace",
        "Box",
        "BudgetExceededError",
        "Certificate",
        "CertificateError",
        "ClampedGaussian",
        "ClampedLaplace",
        "ClampedStaircase",
        "Comparison",
        "Composition",
        "Deconvolution",
        "FewOutputsWarning",
        "Fractions",
        "InBoundsError",
        "LInf",
        "Ledger",
        "LedgerError",
        "Limit",
        "LimitCertificate",
        "Mechanism",
        "MissingPackageError",
        "NotPrivateWarning",
        "Optimal",
        "PerCoordinate",
        "PrivacyLoss",
        "RandomizedResponse",
        "Regimes",
        "RepeatedReleaseWarning",
        "RowOrderWarning",
        "TableCertificate",
        "Unit",
        "WeakGuaranteeWarning",
        "Window",
        "audit",
        "calibrate",
        "compare",
        "compose",
        "deconvolve",
        "estimate",
        "find_groups",
        "limit",
        "privatize",
        "regimes",
        "summarize",
    ]


@pytest.mark.parametrize("name", inbounds.__all__)
def test_every_public_name_loads_and_is_documented(name: str) -> None:
    value = getattr(inbounds, name)
    assert value.__name__ == name
    assert value.__module__.startswith("inbounds.")
    assert value.__doc__


def test_dir_lists_every_public_name_once() -> None:
    names = dir(inbounds)
    assert set(inbounds.__all__) <= set(names)
    assert len(names) == len(set(names))
    assert "__version__" in names


def test_dir_of_a_fresh_import_lists_names_not_loaded_yet() -> None:
    modules = modules_after(
        "import inbounds\nassert set(inbounds.__all__) <= set(dir(inbounds)), dir(inbounds)"
    )
    assert "inbounds.domain" not in modules


def test_a_star_import_gives_the_public_names() -> None:
    scope: dict[str, object] = {}
    exec("from inbounds import *", scope)
    assert set(scope) - {"__builtins__"} == set(inbounds.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = inbounds.nonsense  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "package", [inbounds.frames, inbounds.plots, inbounds.queries, inbounds.sklearn]
)
def test_a_public_package_has_public_names_and_each_is_documented(package: ModuleType) -> None:
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


def test_statistics_are_summarized_and_columns_privatized_by_functions_of_frames() -> None:
    from inbounds.frames import find_groups, privatize, summarize  # noqa: PLC0415 - what is tested

    assert summarize is inbounds.summarize
    assert find_groups is inbounds.find_groups
    assert privatize is inbounds.privatize


def test_a_name_is_the_same_object_at_every_use() -> None:
    assert inbounds.Box is inbounds.Box is Box


def test_importing_loads_no_heavy_library() -> None:
    heavy = {"scipy", "flint", "numba", "pandas", "matplotlib", "sklearn"}
    assert not heavy & modules_after("import inbounds")


def test_estimators_are_named_without_loading_scikit_learn() -> None:
    assert "sklearn" not in modules_after("import inbounds as ib\nib.sklearn.__all__")


def test_stating_a_box_and_a_sensitivity_loads_no_heavy_library() -> None:
    modules = modules_after("import inbounds as ib\nib.Box(0, 1); ib.L2(1) & ib.LInf(1)")
    assert not {"scipy", "flint", "numba"} & modules


def test_the_version_is_that_of_the_installed_package() -> None:
    assert inbounds.__version__ == version("inbounds")


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("inbounds") / "py.typed").is_file()
