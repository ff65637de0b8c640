import inspect
import itertools

import pytest

import inbounds as ib
from inbounds.cli import mechanism as module
from inbounds.cli.arguments import read_guarantee
from inbounds.cli.mechanism import build

OPTIONS = {
    "bounded-gaussian": {"delta", "rho", "method", "scaling"},
    "bounded-laplace": set(),
    "clamped-gaussian": {"delta", "method"},
    "clamped-laplace": set(),
}
VALUES = {"delta": 1e-6, "rho": 0.5, "method": "exact", "scaling": "isotropic"}


@pytest.mark.parametrize(("mechanism", "option"), list(itertools.product(OPTIONS, VALUES)))
def test_a_mechanism_takes_the_options_it_heeds_and_refuses_others(mechanism, option):
    epsilon = None if option == "rho" else 1.0
    guarantee = read_guarantee(
        epsilon, VALUES["delta"] if option == "delta" else None, None if epsilon else 0.5
    )
    others = {option: VALUES[option]} if option in {"method", "scaling"} else {}
    call = (ib.Box(0, 10), ib.L2(1), guarantee)
    if option in OPTIONS[mechanism]:
        built = build(*call, mechanism=mechanism, **others)
        assert type(built).__name__.lower() == mechanism.replace("-", "")
    else:
        with pytest.raises(ib.ArgumentError, match=f"^{option} must not be given with"):
            build(*call, mechanism=mechanism, **others)


def test_every_option_that_a_mechanism_offers_is_on_the_command_line():
    for name, heeded in OPTIONS.items():
        cls = getattr(ib, "".join(map(str.capitalize, name.split("-"))))
        offered = set(inspect.signature(cls.calibrated).parameters)
        zero_only = {"delta"} if name.endswith("laplace") else set()
        assert offered - {"domain", "sensitivity", "epsilon"} - zero_only == heeded
        assert module._CLASSES[name] == (cls.__name__, heeded)


@pytest.mark.parametrize("method", [None, "analytic", "classical"])
def test_the_clamped_gaussian_without_delta_is_exact_or_refused(method):
    guarantee, options = read_guarantee(1.0), {"mechanism": "clamped-gaussian"}
    with pytest.raises(ib.ArgumentError, match=r"delta must be given.*\nHint: method='exact'"):
        build(ib.Box(0, 1), ib.L2(1), guarantee, method=method, **options)
    with pytest.raises(ib.ArgumentError) as caught:
        build(ib.Box([0, 0], [1, 1]), ib.L2(1), guarantee, method=method, **options)
    assert "Hint" not in str(caught.value)  # exact knows one interval only
    built = build(ib.Box(0, 1), ib.L2(1), guarantee, method="exact", **options)
    assert built.epsilon <= 1


def test_what_is_built_is_what_the_library_calibrates():
    guarantee = read_guarantee(1.0, 1e-6)
    built = build(ib.Box(0, 100), ib.L2(1), guarantee, mechanism="bounded-gaussian")
    assert built == ib.BoundedGaussian.calibrated(ib.Box(0, 100), 1, epsilon=1.0, delta=1e-6)
    built = build(ib.Box(0, 10), ib.L2(4), read_guarantee(1.0), method="liu")
    assert built == ib.BoundedGaussian.calibrated(ib.Box(0, 10), 4, epsilon=1.0, method="liu")
    built = build(ib.Box(0, 10), ib.L2(4), read_guarantee(1.0))
    assert built == ib.calibrate(ib.Box(0, 10), 4, epsilon=1.0)
    built = build(ib.Box(0, 10), ib.L2(4), read_guarantee(1.0), objective="worst")
    assert built == ib.Optimal.calibrated(ib.Box(0, 10), 4, epsilon=1.0, objective="worst")
