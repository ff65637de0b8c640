import inspect
import pickle
import pydoc
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import inbounds as ib
from inbounds._entry import entry
from inbounds.analysis.regimes import regimes
from inbounds.errors import ArgumentError, ArgumentTypeError, WeakGuaranteeWarning
from inbounds.frames.central.statistic import count, mean

BOX = ib.Box(0, 120)
PEOPLE = pd.DataFrame({"age": [0.2, 0.7] * 20, "town": ["Ulm", "Rom"] * 20})
HIDDEN = ib.Optimal(ib.Box(0, 1), 1, 1.0)
KINDS = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
LAPLACE = (ib.BoundedLaplace, ib.ClampedLaplace)
every_kind = pytest.mark.parametrize("kind", KINDS)


def refusal(call: Callable[[], Any]) -> str:
    """Return what our error says, behind which there is no other."""
    with pytest.raises((ArgumentTypeError, ArgumentError)) as caught:
        call()
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


@every_kind
def test_epsilon_by_its_place_is_refused_with_the_call_that_works(kind: Any) -> None:
    call = f"{kind.__name__}.calibrated(domain, sensitivity, epsilon=0.5"
    assert refusal(lambda: kind.calibrated(BOX, 1, 0.5)).startswith(
        f"epsilon must be given by name: {call}"
    )
    both = refusal(lambda: kind.calibrated(BOX, 1, 0.5, 1e-6))
    assert both == f"epsilon and delta must be given by name: {call}, delta=1e-06)."


@every_kind
def test_what_stands_in_epsilons_place_is_not_shown_unless_it_is_a_number(kind: Any) -> None:
    assert "2718" not in refusal(lambda: kind.calibrated(BOX, 1, [271828182]))


@every_kind
def test_a_calibration_to_nothing_says_what_must_be_given(kind: Any) -> None:
    text = refusal(lambda: kind.calibrated(BOX, 1))
    assert text.startswith("epsilon ")
    assert "epsilon=" in text
    assert refusal(kind.calibrated).startswith("domain")


def test_a_clamped_gaussian_without_delta_says_where_none_is_needed() -> None:
    text = refusal(lambda: ib.ClampedGaussian.calibrated(BOX, 1, epsilon=1))
    assert text.startswith("delta must be given: ClampedGaussian.calibrated(")
    assert "Hint: method='exact' takes delta=0" in text
    assert ib.ClampedGaussian.calibrated(BOX, 1, epsilon=1, delta=0, method="exact").epsilon <= 1


@pytest.mark.parametrize("kind", LAPLACE)
def test_laplace_noise_takes_a_delta_of_zero_only(kind: Any) -> None:
    assert kind.calibrated(BOX, 1, epsilon=1, delta=0) == kind.calibrated(BOX, 1, epsilon=1)
    text = refusal(lambda: kind.calibrated(BOX, 1, epsilon=1, delta=1e-6))
    assert text.startswith("delta must be 0 for Laplace noise, got delta=1e-06.")
    assert "holds for every delta: leave delta out. For many numbers" in text
    assert refusal(lambda: kind.calibrated(BOX, 1, rho=0.1)).startswith("rho is not an argument of")


@every_kind
@pytest.mark.parametrize(
    ("wrong", "right"),
    [("eps", "epsilon"), ("epsilom", "epsilon"), ("sens", "sensitivity"), ("box", "domain")],
)
def test_a_misspelt_argument_is_met_with_the_right_one(kind: Any, wrong: str, right: str) -> None:
    text = refusal(lambda: kind.calibrated(BOX, 1, **{wrong: 1.0}))
    assert text.startswith(
        f"{wrong} is not an argument of {kind.__name__}.calibrated, which takes domain, "
    )
    assert text.endswith(f"Hint: did you mean {right}?")


@every_kind
def test_an_argument_that_nobody_knows_is_refused_without_a_guess(kind: Any) -> None:
    assert "Hint" not in refusal(lambda: kind.calibrated(BOX, 1, epsilon=1, xyzzy=2))


@every_kind
def test_a_constructor_says_what_is_missing_unknown_or_too_much(kind: Any) -> None:
    scale = "scale" if kind in LAPLACE else "sigma"
    assert refusal(lambda: kind(BOX, 1)).startswith(
        f"{scale} must be given: {kind.__name__}(domain, sensitivity, {scale})."
    )
    assert "calibrated(" in refusal(lambda: kind(BOX, 1, epsilon=1))
    assert "got 4 arguments" in refusal(lambda: kind(BOX, 1, 1.0, 2.0))
    assert refusal(lambda: kind(BOX, 1, 1.0, domain=BOX)).startswith("domain must be given once")


@every_kind
def test_signatures_help_and_copies_are_as_ever(kind: Any) -> None:
    scale = "scale" if kind in LAPLACE else "sigma"
    assert list(inspect.signature(kind).parameters) == ["domain", "sensitivity", scale]
    names = list(inspect.signature(kind.calibrated).parameters)
    assert names[:3] == ["domain", "sensitivity", "epsilon"]
    assert "calibrated(domain: 'Box', sensitivity: " in pydoc.plain(pydoc.render_doc(kind))
    made = kind(BOX, 1, **{scale: 5.0})
    assert pickle.loads(pickle.dumps(made)) == made


def test_an_error_inside_is_not_taken_for_a_wrong_call() -> None:
    @entry()
    def raises(domain: object) -> None:
        raise TypeError(f"of its own, {domain}")

    with pytest.raises(TypeError, match=r"^of its own, 1$"):
        raises(1)


@every_kind
@pytest.mark.parametrize("epsilon", [20.000001, 1e6, Decimal(100), np.float64(50)])
def test_a_large_epsilon_is_accepted_with_a_warning_at_the_callers_line(
    kind: Any, epsilon: Any
) -> None:
    more = {"delta": 1e-6} if kind is ib.ClampedGaussian else {}
    with pytest.warns(WeakGuaranteeWarning, match=r"^epsilon=.* protects hardly anything") as seen:
        made = kind.calibrated(BOX, 1, epsilon=epsilon, **more)
    assert [warning.filename for warning in seen] == [__file__]
    assert 0 <= made.release(41.0) <= 120


@pytest.mark.parametrize("delta", [0.01, 0.5, 0.999])
def test_a_large_delta_is_accepted_with_a_warning_that_says_what_it_means(delta: float) -> None:
    text = rf"^delta={delta:g} would allow even .* everything with probability {delta:g}"
    for kind in (ib.BoundedGaussian, ib.ClampedGaussian):
        with pytest.warns(WeakGuaranteeWarning, match=text) as seen:
            assert kind.calibrated(BOX, 1, epsilon=1.0, delta=delta).delta(1.0) <= delta
        assert len(seen) == 1


def test_guarantees_that_protect_and_work_done_for_the_caller_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            kind.calibrated(BOX, 1, epsilon=20, delta=0.0 if kind in LAPLACE else 0.0099)
        regimes(delta=0.5, fractions=[0.1], epsilons=[50.0])


def test_a_refused_call_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "epsilon" in refusal(lambda: ib.BoundedGaussian.calibrated(BOX, 1, epsilon=1e200))


def test_a_ledger_and_a_summary_warn_once_at_the_callers_line(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    with pytest.warns(WeakGuaranteeWarning, match=r"^epsilon=100 ") as seen:
        ledger.open("survey", epsilon=100.0)
    table = pd.DataFrame({"age": [17, 41, 68]})
    with pytest.warns(WeakGuaranteeWarning, match=r"^delta=0.1 ") as also:
        ib.summarize(table, [mean("age", 0, 120)], epsilon=1.0, delta=0.1)
    assert [warning.filename for warning in (*seen, *also)] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # reading a budget again is not opening one
        assert ledger.remaining("survey").epsilon == 100


def test_a_large_rho_and_an_array_of_one_number_are_weak_too() -> None:
    with pytest.warns(WeakGuaranteeWarning, match="rho=1e"):
        ib.BoundedGaussian.calibrated(BOX, 1, rho=1e6)
    with pytest.warns(WeakGuaranteeWarning, match="epsilon=50"):
        ib.BoundedGaussian.calibrated(BOX, 1, epsilon=np.array(50.0))


FUNCTIONS = (
    ib.audit,
    ib.compose,
    ib.deconvolve,
    ib.privatize,
    ib.regimes,
    ib.summarize,
    ib.frames.histogram,
    ib.frames.mean,
    ib.frames.total,
    ib.frames.variance,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_wrong_call_names_what_is_missing_or_unknown(function: Any) -> None:
    needed = [
        p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty
    ]
    assert refusal(function).startswith((f"{needed[0]} ", f"{needed[0]}, "))
    unknown = refusal(lambda: function(**dict.fromkeys(needed, None), misspelt=271828182))
    assert unknown.startswith(f"misspelt is not an argument of {function.__name__}, which takes ")
    assert "2718" not in unknown


def test_a_function_without_arguments_says_so() -> None:
    text = refusal(lambda: ib.frames.count(column="age"))  # type: ignore[call-arg]
    assert text == "column is not an argument of count, which takes no arguments."


def test_bounds_in_place_of_a_box_are_explained() -> None:
    text = refusal(lambda: ib.calibrate(0, 120, 2.5, epsilon=1.0))  # type: ignore[misc,arg-type]
    assert "Hint: domain is one argument: Box(0, 120)." in text


def test_what_cannot_release_is_refused_before_its_box_is_missed() -> None:
    assert refusal(lambda: ib.audit("m")).startswith("mechanism must have a method release")


@pytest.mark.parametrize("progress", [1, "yes", [True]])
def test_progress_must_be_true_or_false(progress: Any) -> None:
    m = ib.ClampedLaplace(BOX, 120, scale=100.0)
    for call in (
        lambda: ib.deconvolve([3.0, 4.0], m, progress=progress),
        lambda: ib.audit(m, releases=1000, progress=progress),
    ):
        assert refusal(call).startswith("progress must be True or False")


def test_a_ledger_names_arguments_of_a_wrong_type(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "ledger.db")
    wrong: Any = np.array([True, False])
    assert refusal(lambda: ledger.open("d", epsilon=1, exist_ok=wrong)).startswith("exist_ok ")
    ledger.open("d", epsilon=1)
    assert refusal(lambda: ledger.verify("d", expected_head=wrong)).startswith("expected_head ")
    for word in ("5489b970", "x" * 64, ""):  # no head, so nobody tampered with anything
        message = refusal(lambda word=word: ledger.verify("d", expected_head=word))
        assert message.startswith("expected_head must be 64 hexadecimal digits")


def test_a_ledger_says_how_it_is_called(tmp_path: Path) -> None:
    ledger: Any = ib.Ledger(tmp_path / "ledger.db")
    ledger.open("d", epsilon=1)
    words = "epsilon must be given by name: spend(dataset, epsilon=0.5)"
    assert refusal(lambda: ledger.spend("d", 0.5)).startswith(words)
    assert "did you mean epsilon?" in refusal(lambda: ledger.open("e", epsilom=1))


def test_a_single_query_is_not_a_sequence() -> None:
    wrong: Any = 3
    assert refusal(lambda: ib.queries.stack(wrong)).startswith("queries must be a sequence")


@pytest.mark.parametrize(
    "call",
    [
        lambda: ib.calibrate(ib.Box(0, 1), 1, epsilon=30.0),
        lambda: ib.summarize(PEOPLE, count(), epsilon=30.0),
        lambda: ib.find_groups(PEOPLE, "town", epsilon=30.0, delta=1e-9),
        lambda: ib.privatize(pl.LazyFrame(PEOPLE), {"age": HIDDEN}, lazy=True),
        lambda: ib.deconvolve(HIDDEN.release([0.3, 0.7] * 9), HIDDEN, bootstrap=0),
    ],
    ids=["calibrate", "summarize", "find_groups", "privatize", "deconvolve"],
)
def test_a_warning_is_given_at_the_line_that_called_the_library(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
