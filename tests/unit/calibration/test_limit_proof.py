"""The check of a proof, against a checker that shares no code with it."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import inbounds as ib
from inbounds.calibration.limit_proof import LatticeProof, ratio_above
from inbounds.errors import CertificateError


@cache
def proofs() -> list[tuple[float, LatticeProof]]:
    settings = [
        (0.5, 1.0, "average"),
        (0.3, 2.0, "average"),
        (0.5, 2.0, "worst"),
        (1.0, 1.0, "unbiased"),
    ]
    return [
        (
            epsilon,
            ib.limit(ib.Box(0, 1), change, epsilon=epsilon, objective=objective, tolerance=0.05)
            .certificate()
            .proofs[0],
        )  # type: ignore[arg-type]
        for change, epsilon, objective in settings
    ]


def exp_above(epsilon: float) -> Fraction:
    """A rational above exp(epsilon): the series, and twice its first term that is left out."""
    x, term, total = Fraction(epsilon), Fraction(1), Fraction(0)
    for n in range(1, 200):
        total += term
        term = term * x / n
    return total + 2 * term


def least(costs: list[Fraction], reach: int, ratio: Fraction) -> Fraction:
    """The least Σfc over level functions, by states (which way the last step went, its age)."""
    rest = {(way, age): Fraction(0) for way in (1, -1) for age in range(1, reach + 1)}
    for cost in reversed(costs[1:]):
        new = {}
        for way, age in rest:
            options = [cost + rest[way, min(age + 1, reach)]]
            options.append((cost + rest[-way, 1]) * (ratio if way < 0 else 1 / ratio))
            if age >= reach:
                options.append((cost + rest[way, 1]) * (ratio if way > 0 else 1 / ratio))
            new[way, age] = min(options)
        rest = new
    return costs[0] + min(rest[1, reach], rest[-1, reach])


def holds(proof: LatticeProof, epsilon: float) -> bool:
    """Whether the inequality holds at every point of the grid, in exact rationals."""
    size, ratio = len(proof.weights), exp_above(epsilon)
    ratio = Fraction(math.ceil(ratio * 2**60), 2**60)  # fewer digits, still above
    weights = [Fraction(w) for w in proof.weights]
    middle = Fraction(size - 1, 2)
    slopes = [2 * w * (i - middle) for i, w in enumerate(weights)]
    if proof.slopes is not None:
        slopes = [Fraction(slope) for slope in proof.slopes]
    step, reach = Fraction(proof.spacing), min(proof.reach, size)
    end = proof.outputs * step
    if least([2 * end * w - r for w, r in zip(weights, slopes, strict=True)], reach, ratio) < 0:
        return False
    for j in range(proof.outputs + 1):
        a = j * step
        costs = [
            w * (a * a - Fraction(proof.margin)) - r * a - Fraction(v)
            for w, r, v in zip(weights, slopes, proof.values, strict=True)
        ]
        if least(costs, reach, ratio) < 0:
            return False
    return True


def test_an_independent_checker_accepts_the_proofs() -> None:
    for epsilon, proof in proofs():
        assert holds(proof, epsilon)


def test_whole_numbers_prove_what_doubles_prove() -> None:
    for epsilon, proof in proofs():
        proof.check(epsilon, exact=True)


def test_a_little_more_is_not_proved_by_anyone() -> None:
    for epsilon, proof in proofs():
        typical = abs(float(proof.total())) / proof.size
        raised = replace(proof, margin=proof.margin + 0.05 * typical)
        assert not holds(raised, epsilon)
        for exact in (False, True):
            with pytest.raises(CertificateError, match="does not prove"):
                raised.check(epsilon, exact=exact)


def test_doubles_never_accept_what_whole_numbers_refuse() -> None:
    generator = np.random.default_rng(3)
    accepted = 0
    for trial in range(300):
        size, reach = int(generator.integers(2, 7)), int(generator.integers(1, 7))
        values = generator.normal(size=size) - 0.8
        proof = LatticeProof(
            reach=reach,
            weights=(1.0,) * size,
            slopes=None,
            values=tuple((values + values[::-1]).tolist()),
            margin=float(generator.normal() * 10.0 ** -generator.integers(0, 16)),
            spacing=0.25,
            outputs=4 * size,
        )
        epsilon = float(generator.uniform(0.1, 3))
        try:
            proof.check(epsilon)
        except CertificateError:
            continue
        accepted += 1
        proof.check(epsilon, exact=True)
        assert trial % 10 or holds(proof, epsilon)
    assert 30 < accepted < 270


def test_what_holds_with_equality_is_not_proved_in_doubles() -> None:
    """Costs of zero leave no room for rounding errors, so the margin must refuse them."""
    equal = LatticeProof(1, (1.0, 1.0), None, (0.0, 0.0), -1.0, 0.5, 4)  # cost a² + 1 - 2xa
    equal.check(1.0)
    tight = replace(equal, margin=0.0, values=(-0.25, -0.25))  # cost (x - a)², zero at a = x
    tight.check(1.0)
    touching = replace(tight, weights=(1.0,), values=(0.0,))  # a single place, cost a² = 0 at 0
    touching.check(1.0, exact=True)
    with pytest.raises(CertificateError, match="does not prove"):
        touching.check(1.0)


def test_outputs_between_grid_points_are_paid_for() -> None:
    """The least ratio may drop by a quarter of the squared spacing between two points."""
    proof = LatticeProof(1, (1.0, 1.0), None, (0.0, 0.0), 0.0, 1.0, 4)
    epsilon, margin = 1e-9, -0.01  # both places count alike: the least ratio at a is a²
    raised = replace(proof, values=(0.24, 0.24), margin=margin - 0.24)
    raised.check(epsilon)
    for a in np.linspace(0, 2, 41):
        assert a * a - 0.24 >= float(raised.least())
    assert raised.least() == Fraction(raised.margin) - Fraction(1, 4)


def test_the_margin_covers_rounding_errors() -> None:
    """Costs that cancel in doubles, but not exactly, are never taken for zero or more."""
    generator = np.random.default_rng(8)
    refused = 0
    for _ in range(200):
        size = int(generator.integers(3, 40))
        weights = (1.0,) * size
        level = float(generator.normal() * 1e3)
        values = generator.normal(size=size) * 1e-13 - level
        values = (values + values[::-1]) / 2
        wide = LatticeProof(size, weights, None, tuple(values.tolist()), level, 1.0, size)
        try:
            wide.check(1e-12)
        except CertificateError:
            refused += 1
        else:
            wide.check(1e-12, exact=True)
    assert refused > 150


@pytest.mark.parametrize(
    "change",
    [
        {"reach": 0},
        {"reach": 1.0},
        {"weights": (1.0, 2.0)},
        {"weights": (-1.0, -1.0)},
        {"weights": (0.0, 0.0)},
        {"weights": (1, 1)},
        {"weights": (1.0,)},
        {"weights": [1.0, 1.0]},
        {"values": (-1.0, math.nan)},
        {"values": (-1.0, -2.0)},
        {"slopes": (1.0, 1.0)},
        {"margin": math.inf},
        {"spacing": 0.0},
        {"spacing": 0.1},
        {"spacing": -0.5},
        {"outputs": 0},
        {"outputs": 1 << 30},
        {"values": (-1e40, -1e40)},
    ],
)
def test_fields_that_are_not_valid_are_refused(change: dict[str, object]) -> None:
    sound = LatticeProof(1, (1.0, 1.0), None, (-1.0, -1.0), 0.0, 0.5, 4)
    sound.check(1.0)
    with pytest.raises(CertificateError, match="not valid"):
        replace(sound, **change).check(1.0)  # type: ignore[arg-type]


def test_outputs_beyond_the_grid_are_covered_or_the_proof_is_refused() -> None:
    wide = LatticeProof(1, (1.0,) * 4, None, (-9.0,) * 4, 0.0, 0.5, 4)
    wide.check(1.0)
    with pytest.raises(CertificateError, match="does not prove"):
        replace(wide, outputs=1).check(1.0)  # the grid ends at 0.5, the places at 1.5


def test_an_epsilon_for_which_doubles_could_overflow_is_refused() -> None:
    proof = LatticeProof(1, (1.0,) * 9, None, (-99.0,) * 9, 0.0, 0.5, 20)
    proof.check(70.0)
    with pytest.raises(CertificateError, match="too large"):
        proof.check(90.0)


def test_the_ratio_is_rounded_up() -> None:
    for epsilon in (1e-9, 0.1, 1.0, 3.7, 40.0):
        assert Fraction(ratio_above(epsilon)) >= exp_above(epsilon) - Fraction(1, 10**40)
        assert Fraction(ratio_above(epsilon, 3)) > Fraction(ratio_above(epsilon))
