import ast
import re
import tomllib
from pathlib import Path

import pytest

import inbounds
from inbounds._extra import PACKAGES, optional
from inbounds.errors import MissingPackageError

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
PACKAGE = Path(inbounds.__file__).parent


def packages_of(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


@pytest.mark.parametrize(("module", "package", "extra"), [(m, *p) for m, p in PACKAGES.items()])
def test_a_missing_package_is_named_with_the_extra_that_installs_it(module, package, extra):
    with pytest.raises(MissingPackageError) as caught, optional():
        raise ModuleNotFoundError(name=f"{module}.part")
    assert str(caught.value) == (
        f"this needs the package {package}, which is not installed.\n"
        f"Hint: pip install 'inbounds[{extra}]'"
    )
    assert caught.value.name == module
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(("package", "extra"), sorted(set(PACKAGES.values())))
def test_the_extra_does_install_the_package(package, extra):
    assert package in packages_of(PROJECT["optional-dependencies"][extra])


def test_every_package_of_an_extra_for_users_is_in_the_table():
    for extra in set(PROJECT["optional-dependencies"]) - {"all", "bench", "dev", "docs"}:
        named = packages_of(PROJECT["optional-dependencies"][extra]) - {"inbounds"}
        assert named <= {package for package, _ in PACKAGES.values()}, extra


def test_other_errors_pass_unchanged():
    with pytest.raises(ModuleNotFoundError) as caught, optional():
        raise ModuleNotFoundError(name="somebody_elses")
    assert not isinstance(caught.value, MissingPackageError)
    with pytest.raises(ImportError, match="broken"), optional():
        raise ImportError("broken")


def unguarded(tree: ast.AST) -> list[ast.AST]:
    """Imports of optional packages that run outside ``with optional()``."""
    imports = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "optional()":
            continue
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.partition(".")[0] in PACKAGES for module in modules):
            imports.append(node)
        imports += unguarded(node)
    return imports


def test_the_search_for_unguarded_imports_finds_one():
    assert len(unguarded(ast.parse("def f():\n    import pandas as pd\nimport os"))) == 1


# The command line starts behind a guard; the parts of a figure are only drawn on a canvas that
# `blank` made; and a PostgreSQL statement is only written by somebody who has SQLAlchemy.
BEHIND_A_GUARD = {"cli", "plots/regimes.py", "accounting/schema.py"}


@pytest.mark.parametrize("source", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_every_import_of_an_optional_package_is_guarded(source):
    place = source.relative_to(PACKAGE)
    if not {place.parts[0], place.as_posix()} & BEHIND_A_GUARD:
        assert not unguarded(ast.parse(source.read_text()))
