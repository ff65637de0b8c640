import inspect

import pytest

import inbounds as ib
from inbounds.cli import arguments
from inbounds.cli.arguments import read_box, read_guarantee, read_sensitivity
from inbounds.cli.failure import in_options
from inbounds.errors import ArgumentError
from inbounds.unit import Unit


@pytest.mark.parametrize(
    ("bounds", "steps", "box"),
    [
        (["0:120"], None, ib.Box(0, 120)),
        (["-5:-1.5"], None, ib.Box(-5, -1.5)),
        (["-1e-3:+2E6"], [], ib.Box(-0.001, 2e6)),
        ([" 0 : 120 "], [1.0], ib.Box(0, 120, step=1)),
        (["0:10", "1:9"], None, ib.Box([0, 1], [10, 9])),
        (["0:10", "1:9"], [2.0], ib.Box([0, 1], [10, 9], step=2)),
        (["0:10", "1:9"], [2.0, 1.0], ib.Box([0, 1], [10, 9], step=(2, 1))),
    ],
)
def test_bounds_and_steps_make_a_box(bounds, steps, box):
    assert read_box(bounds, steps) == box


@pytest.mark.parametrize("text", ["", "5", "0-120", "0:1:2", "a:b", ":", "0,5:1"])
def test_bounds_that_are_not_two_numbers_are_refused(text):
    with pytest.raises(ib.ArgumentError, match="bounds must be two numbers LOW:HIGH"):
        read_box([text])


@pytest.mark.parametrize("text", ["5:1", "1:1", "0:inf", "nan:1"])
def test_bounds_that_make_no_interval_are_refused_by_the_library(text):
    with pytest.raises(ib.ArgumentError):
        read_box([text])


@pytest.mark.parametrize(
    ("bounds", "norm", "sensitivity"),
    [
        ([2.5], None, ib.L2(2.5)),
        ([2.5], "l2", ib.L2(2.5)),
        ([2.5], "l1", ib.L1(2.5)),
        ([2.5], "linf", ib.LInf(2.5)),
        ([2.5], "each", ib.PerCoordinate(2.5)),
        ([4.0, 2.0], None, ib.PerCoordinate([4, 2])),
        ([4.0, 2.0], "each", ib.PerCoordinate([4, 2])),
    ],
)
def test_sensitivities_are_read_by_their_number_and_norm(bounds, norm, sensitivity):
    read = read_sensitivity(bounds, norm)
    assert read == sensitivity
    assert type(read) is type(sensitivity)


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_several_sensitivities_under_a_norm_are_refused(norm):
    with pytest.raises(ib.ArgumentError, match=r"^norm must be 'each'"):
        read_sensitivity([4.0, 2.0], norm)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            (None, None, None),
            "--epsilon or --rho must be given, but not both, got neither. "
            "Hint: for example --epsilon 1.",
        ),
        ((1.0, None, 1.0), "--epsilon or --rho must be given, but not both, got both."),
        ((None, 1e-6, 1.0), "--delta must be 0 if rho is given, got delta=1e-06."),
    ],
)
def test_a_guarantee_is_epsilon_with_or_without_delta_or_rho(given, says):
    with pytest.raises(ib.InBoundsError) as caught:
        read_guarantee(*given)
    assert in_options(caught.value) == says


def test_a_guarantee_says_only_what_was_asked_for():
    assert f"{read_guarantee(1.0):g}" == "epsilon=1"
    assert f"{read_guarantee(0.5, 1e-6):g}" == "epsilon=0.5, delta=1e-06"
    assert read_guarantee(None, None, 0.1).stated() == {"rho": 0.1}


def test_the_help_names_the_defaults_that_the_library_has():
    (option,) = arguments.MethodOption.__metadata__
    for cls, default in ((ib.BoundedGaussian, "exact"), (ib.ClampedGaussian, "analytic")):
        assert inspect.signature(cls.calibrated).parameters["method"].default == default
    assert "Bounded Gaussian: exact (the default" in option.help
    assert "Clamped Gaussian: analytic (the default" in option.help


def test_a_unit_is_read_as_it_is_typed() -> None:
    assert arguments.read_unit(None) is None
    assert arguments.read_unit("replace") == Unit("replace")
    assert arguments.read_unit("add-remove:household:2") == Unit("add-remove", "household", 2)


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "person", "replace:", "replace:row:", "replace:row:0", "replace:row:-1"),
        *("replace:row:1.0", "replace:row:1:2", "replace:Row", "replace:row:²", "add:row"),
    ],
)
def test_a_unit_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^unit must be CHANGE:WHAT\[:COUNT\], as in replace"):
        arguments.read_unit(text)
