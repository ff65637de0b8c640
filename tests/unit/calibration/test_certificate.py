import dataclasses
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import ctx
from mpmath import mp, mpf

from inbounds import (
    L1,
    L2,
    BoundedGaussian,
    BoundedLaplace,
    Box,
    Certificate,
    LInf,
    PerCoordinate,
)
from inbounds.calibration.certificate import Row, certify
from inbounds.errors import ArgumentError, CertificateError, InBoundsError
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.normal import NORMAL
from inbounds.sensitivity import Sensitivity

PLANE = Box([0, 1], [10, 9])
MECHANISMS: dict[str, BoundedGaussian | BoundedLaplace] = {
    "interval": BoundedGaussian(Box(0, 120), 2.5, 15.3),
    "whole interval": BoundedGaussian(Box(-1, 1), 5.0, 0.7),
    "offset": BoundedGaussian(Box(1e9, 1e9 + 1e-6), 1e-7, 1e-6),
    "rounded width": BoundedGaussian(Box(0.1, 0.3), 0.05, 0.07),
    "l2": BoundedGaussian(PLANE, L2(4), 5.0),
    "l1": BoundedGaussian(PLANE, L1(4), 5.0),
    "linf": BoundedGaussian(PLANE, LInf(4), 5.0),
    "per coordinate": BoundedGaussian(PLANE, PerCoordinate([4, 2]), [5.0, 3.0]),
    "l2 and caps": BoundedGaussian(PLANE, L2(4) & PerCoordinate([3.9, 2]), 5.0),
    "l1 and caps": BoundedGaussian(PLANE, L1(5) & PerCoordinate([4, 2]), [5.0, 3.0]),
    "ball over the box": BoundedGaussian(PLANE, L2(99), 5.0),
    "unequal": BoundedGaussian(Box(0, [1e-6, 1.0, 1e9]), L2(0.3), [1e-6, 0.2, 1e8]),
    "narrow": BoundedGaussian(Box(0, [1.0, 2.0]), L2(0.3), 1e9),
    "narrow l1": BoundedGaussian(Box(0, [1.0, 2.0]), L1(0.3), 1e9),
    "wide": BoundedGaussian(Box(0, [1.0, 2.0]), L2(0.3), 1e-4),
    "wide l1": BoundedGaussian(Box(0, [1.0, 2.0]), L1(0.3), 1e-4),
    "tiny change": BoundedGaussian(Box(0, [1.0, 2.0]), L2(1e-12), 0.3),
    "laplace": BoundedLaplace(Box(0, 120), 2.5, 4.1),
    "laplace, whole interval": BoundedLaplace(Box(-1, 1), 5.0, 0.7),
    "laplace, offset": BoundedLaplace(Box(1e9, 1e9 + 1e-6), 1e-7, 1e-6),
    "laplace, l1": BoundedLaplace(PLANE, L1(4), 5.0),
    "laplace, l1 and caps": BoundedLaplace(PLANE, L1(5) & PerCoordinate([4, 2]), [5.0, 3.0]),
    "laplace, l2": BoundedLaplace(PLANE, L2(4), 5.0),
    "laplace, linf": BoundedLaplace(PLANE, LInf(4), 5.0),
    "laplace, unequal": BoundedLaplace(Box(0, [1e-6, 1.0, 1e9]), L1(0.3), [1e-6, 0.2, 1e8]),
    "laplace, narrow": BoundedLaplace(Box(0, [1.0, 2.0]), L1(0.3), 1e9),
    "laplace, wide": BoundedLaplace(Box(0, [1.0, 2.0]), LInf(0.3), 1e-4),
    "laplace, 1e7 scales wide": BoundedLaplace(Box(0, 1), 0.3, 1e-7),
}
JOINED = [name for name, mechanism in MECHANISMS.items() if mechanism.certificate().order]

each = pytest.mark.parametrize("name", MECHANISMS)
each_joined = pytest.mark.parametrize("name", JOINED)


def loss_at(certificate: Certificate, changes: list[float]) -> mpf:
    """The loss of one change, from the closed form at 80 digits."""
    with mp.workdps(80):
        total = mpf(0)
        for row, change in zip(certificate.rows, changes, strict=True):
            w, c, s = mpf(row.upper) - mpf(row.lower), mpf(change), mpf(row.scale)
            if certificate.law == "laplace":
                mass = 2 - mp.exp(-c / s) - mp.exp((c - w) / s)
                total += row.count * (c / s + mp.log(mass / (1 - mp.exp(-w / s))))
                continue
            root = mp.sqrt(2) * s
            mass = mp.erf(c / root) + mp.erf((w - c) / root)
            loss = c * (2 * w - c) / (2 * s * s) - mp.log(mass / mp.erf(w / root))
            total += row.count * loss
        return total


def lower_bound(certificate: Certificate) -> mpf:
    """The loss of a change that is surely allowed: epsilon cannot be less."""
    caps = [
        min(row.upper - row.lower, math.inf if row.cap is None else row.cap) * (1 - 1e-15)
        for row in certificate.rows
    ]
    if certificate.order is None:
        return loss_at(certificate, caps)
    changes = [min(row.change, cap) for row, cap in zip(certificate.rows, caps, strict=True)]
    counts = [row.count for row in certificate.rows]
    order, radius = certificate.order, certificate.radius
    assert radius is not None
    parts = zip(counts, changes, strict=True)
    norm = math.fsum(count * change**order for count, change in parts) ** (1 / order)
    return loss_at(certificate, [c * min(1.0, radius / norm * (1 - 1e-15)) for c in changes])


def proves(certificate: Certificate, claim: float) -> bool:
    try:
        dataclasses.replace(certificate, epsilon=claim).check()
    except CertificateError:
        return False
    return True


def with_row(certificate: Certificate, index: int, **fields: Any) -> Certificate:
    rows = list(certificate.rows)
    rows[index] = dataclasses.replace(rows[index], **fields)
    return dataclasses.replace(certificate, rows=tuple(rows))


@each
def test_the_proof_holds_the_truth_and_fits_the_doubles(name: str) -> None:
    mechanism = MECHANISMS[name]
    proof = mechanism.certificate()
    truth = lower_bound(proof)
    assert truth <= proof.epsilon <= mechanism.epsilon
    assert proof.epsilon <= truth * (1 + 1e-10)


@each
def test_a_certificate_passes_its_own_check_and_is_returned_by_it(name: str) -> None:
    proof = MECHANISMS[name].certificate()
    assert proof.check() is proof


@each
def test_a_lower_claim_is_refused(name: str) -> None:
    proof = MECHANISMS[name].certificate()
    assert not proves(proof, proof.epsilon * (1 - 1e-12))
    assert not proves(proof, float(lower_bound(proof)) * (1 - 1e-13))
    assert not proves(proof, 0.0)
    assert not proves(proof, -1.0)
    assert not proves(proof, math.nan)
    assert proves(proof, proof.epsilon * 2)


@each
def test_less_noise_in_any_row_is_refused(name: str) -> None:
    proof = MECHANISMS[name].certificate()
    for index, row in enumerate(proof.rows):
        fraction = float(loss_at(proof, [r.change for r in proof.rows]))
        alone = dataclasses.replace(proof, rows=(row,))
        if float(loss_at(alone, [row.change])) < 1e-6 * fraction:
            continue  # a row that hardly counts
        with pytest.raises(CertificateError, match="the evidence proves epsilon <="):
            with_row(proof, index, scale=row.scale * (1 - 1e-4)).check()


@pytest.mark.parametrize("name", ["interval", "offset", "l2", "linf", "l2 and caps", "wide"])
def test_a_wider_box_or_another_copy_is_refused(name: str) -> None:
    proof = MECHANISMS[name].certificate()
    widest = max(range(len(proof.rows)), key=lambda i: proof.rows[i].upper - proof.rows[i].lower)
    row = proof.rows[widest]
    wider = max(math.nextafter(row.upper, math.inf), 1.01 * row.upper - 0.01 * row.lower)
    for tampered in ({"upper": wider}, {"count": row.count + 1}):
        with pytest.raises(CertificateError):
            with_row(proof, widest, **tampered).check()


@each_joined
def test_a_change_moved_anywhere_proves_something_weaker_but_never_something_false(
    name: str,
) -> None:
    proof = MECHANISMS[name].certificate()
    truth = float(lower_bound(proof))
    generator = np.random.default_rng(5)
    for index, row in enumerate(proof.rows):
        for fraction in (0.0, 1.0, *generator.uniform(0, 1, 3).tolist()):
            moved = with_row(proof, index, change=fraction * (row.upper - row.lower))
            assert not proves(moved, truth * (1 - 1e-12))


@each_joined
@pytest.mark.parametrize("factor", [1e-6, 0.5, 0.999, 1.001, 2.0, 1e6])
def test_any_positive_multiplier_proves_something_weaker_but_never_something_false(
    name: str, factor: float
) -> None:
    proof = MECHANISMS[name].certificate()
    moved = dataclasses.replace(proof, multiplier=proof.multiplier * factor)
    assert not proves(moved, float(lower_bound(proof)) * (1 - 1e-12))
    assert proves(moved, math.inf) or abs(math.log10(factor)) > 3


@pytest.mark.parametrize("name", ["l2", "l1 and caps"])
@pytest.mark.parametrize("multiplier", [-1e-9, -1.0, -1e9, 0.0, math.nan, math.inf, -math.inf])
def test_a_multiplier_that_is_not_positive_proves_nothing_false(
    name: str, multiplier: float
) -> None:
    """Weak duality needs ν >= 0."""
    proof = MECHANISMS[name].certificate()
    moved = dataclasses.replace(proof, multiplier=multiplier)
    assert not proves(moved, float(lower_bound(proof)) * (1 - 1e-9))


def test_a_negative_multiplier_under_a_norm_that_does_not_bind_proves_nothing_false() -> None:
    proof = MECHANISMS["l1"].certificate()
    free = dataclasses.replace(proof, radius=100.0, multiplier=-1e6)
    widest = loss_at(free, [row.upper - row.lower for row in free.rows])
    assert not proves(free, float(widest) * (1 - 1e-9))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(15))
def test_any_change_and_multiplier_at_all_give_a_bound_above_the_truth(
    order: Any, seed: int
) -> None:
    """Allowed or not: evidence need not be trusted, only the arithmetic."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 5))
    lower = generator.normal(0, 3, size)
    upper = lower + 10 ** generator.uniform(-1, 1, size)
    sigma = 10 ** generator.uniform(-1, 1, size)
    caps = np.where(generator.random(size) < 0.5, np.inf, generator.uniform(0.1, 2, size))
    radius = float(generator.uniform(0.2, 3))
    box = Box(lower, upper)
    norm: Sensitivity = {1: L1, 2: L2}[order](radius)
    good = BoundedGaussian(box, norm & PerCoordinate(np.minimum(caps, 1e6)), sigma)
    truth = lower_bound(good.certificate())
    for low, high in ((0, 1), (0, 1), (0, 0.01), (-0.3, 1.3), (-0.3, 1.3)):
        certified = certify(
            lower=lower,
            upper=upper,
            noise=NORMAL,
            scale=sigma,
            caps=caps,
            order=order,
            radius=radius,
            change=generator.uniform(low, high, size) * (upper - lower),
            multiplier=float(10 ** generator.uniform(-4, 4)),
        )
        assert certified.epsilon >= truth
        if low == 0:
            certified.check()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_any_change_and_multiplier_bound_laplace_noise_from_above(order: Any, seed: int) -> None:
    """Against random allowed changes and those at the caps: none loses more."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 5))
    lower = generator.normal(0, 3, size)
    upper = lower + 10 ** generator.uniform(-1, 1, size)
    caps = np.where(generator.random(size) < 0.5, np.inf, generator.uniform(0.1, 2, size))
    radius = float(generator.uniform(0.2, 3))
    for high in (1, 1, 0.01):
        certified = certify(
            noise=LAPLACE,
            lower=lower,
            upper=upper,
            scale=10 ** generator.uniform(-1, 1, size),
            caps=caps,
            order=order,
            radius=radius,
            change=generator.uniform(0, high, size) * (upper - lower),
            multiplier=float(10 ** generator.uniform(-4, 4)),
        )
        certified.check()
        most = [min(r.upper - r.lower, r.cap or math.inf) * (1 - 1e-15) for r in certified.rows]
        for _ in range(10):
            change = np.array(most) * generator.uniform(0, 1, size) ** 0.2
            change *= min(1.0, radius / float(np.linalg.norm(change, order)) * (1 - 1e-15))
            assert loss_at(certified, change.tolist()) <= certified.epsilon


def test_a_certificate_of_one_distribution_does_not_prove_another() -> None:
    """The same numbers prove more for the distribution that leaks less."""
    normal = BoundedGaussian(Box(0, 1), 0.1, 1.0).certificate()
    laplace = BoundedLaplace(Box(0, 1), 0.1, 1.0).certificate()
    assert normal.epsilon < laplace.epsilon
    with pytest.raises(CertificateError, match="the evidence proves epsilon <="):
        dataclasses.replace(normal, law="laplace").check()
    dataclasses.replace(laplace, law="normal").check()


def test_closed_form_and_integrals_agree_to_the_last_bit_that_matters() -> None:
    """`check` shares no formula with `certify`, yet proves the very same double or a neighbour."""
    for name, mechanism in MECHANISMS.items():
        proof = mechanism.certificate()
        assert proves(proof, math.nextafter(proof.epsilon, math.inf)), name
        assert not proves(proof, proof.epsilon * (1 - 1e-14)), name


def test_the_check_uses_neither_the_closed_form_nor_the_doubles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proofs = [MECHANISMS[name].certificate() for name in ("l2 and caps", "laplace, l1 and caps")]

    def broken(*_: object) -> None:
        raise AssertionError("the check must not need this")

    for module, names in (
        ("inbounds.numerics.normal._Normal", ("loss_and_slope",)),
        ("inbounds.numerics.laplace._Laplace", ("loss_and_slope",)),
        ("inbounds.calibration.laplace", ("losses", "slopes", "laplace_loss")),
        ("inbounds.numerics.partition", ("loss", "losses", "log_ratio", "log_ratios")),
        ("inbounds.calibration.waterfill", ("worst_change", "gap")),
    ):
        for function in names:
            monkeypatch.setattr(f"{module}.{function}", broken)
    for proof in proofs:
        proof.check()


@each
def test_json_brings_back_the_same_certificate(name: str) -> None:
    proof = MECHANISMS[name].certificate()
    text = proof.to_json()
    back = Certificate.from_json(text)
    assert dataclasses.asdict(back) == dataclasses.asdict(proof)
    assert back.to_json() == text
    assert isinstance(back.rows[0], Row)
    back.check()


def test_json_holds_plain_numbers_only() -> None:
    fields = json.loads(
        MECHANISMS["l2 and caps"].certificate().to_json(), parse_constant=pytest.fail
    )
    assert set(fields) == {"law", "epsilon", "precision", "order", "radius", "multiplier", "rows"}
    assert set(fields["rows"][0]) == {"count", "lower", "upper", "scale", "cap", "change"}


WHOLE = {
    "law": "normal",
    "epsilon": 1,
    "precision": 128,
    "order": None,
    "radius": None,
    "multiplier": 0,
    "rows": [],
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"text"',
        "{}",
        json.dumps(WHOLE | {"rows": 3}),
        json.dumps(WHOLE | {"rows": None}),
        json.dumps(WHOLE | {"rows": [3]}),
        json.dumps(WHOLE | {"rows": [{}]}),
        json.dumps(WHOLE | {"colour": "red"}),
        *(json.dumps({k: WHOLE[k] for k in WHOLE if k != missing}) for missing in WHOLE),
    ],
)
def test_text_that_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^text must be a certificate written by to_json"):
        Certificate.from_json(text)


@pytest.mark.parametrize("text", [None, 3, ["{}"]])
def test_what_is_not_text_is_refused(text: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^text must be"):
        Certificate.from_json(text)


NONSENSE: list[tuple[str, Any]] = [
    ("epsilon", None),
    ("epsilon", "1"),
    ("epsilon", [1]),
    ("order", 3),
    ("order", 0),
    ("order", "2"),
    ("radius", None),
    ("radius", "1"),
    ("radius", math.nan),
    ("multiplier", None),
    ("multiplier", "x"),
    ("rows.count", 0),
    ("rows.count", -1),
    ("rows.count", 0.5),
    ("rows.count", "1"),
    ("law", "uniform"),
    ("law", ["normal"]),
    ("law", None),
    ("rows.scale", 0.0),
    ("rows.scale", math.nan),
    ("rows.scale", math.inf),
    ("rows.scale", "1"),
    ("rows.upper", -1e9),
    ("rows.upper", math.inf),
    ("rows.lower", None),
    ("rows.cap", -1.0),
    ("rows.cap", "1"),
    ("rows.cap", math.nan),
    ("rows.change", None),
    ("rows.change", math.nan),
]


@pytest.mark.parametrize(("field", "value"), NONSENSE)
def test_a_certificate_of_nonsense_is_refused_with_our_error(field: str, value: object) -> None:
    for name in ("l2 and caps", "laplace, l1 and caps"):
        fields = json.loads(MECHANISMS[name].certificate().to_json())
        *path, last = field.split(".")
        (fields[path[0]][0] if path else fields)[last] = value
        with pytest.raises(InBoundsError):
            Certificate.from_json(json.dumps(fields)).check()


@pytest.mark.parametrize("radius", [-4.0, 0.0, -math.inf])
def test_a_norm_bound_that_is_not_positive_is_refused(radius: float) -> None:
    proof = dataclasses.replace(MECHANISMS["l1"].certificate(), radius=radius)
    with pytest.raises(InBoundsError):
        proof.check()


def test_repeated_coordinates_are_written_once() -> None:
    box = Box(np.tile([0.0, 1.0], 500), np.tile([10.0, 9.0], 500))
    for sensitivity in (L2(4), L1(4), LInf(0.1)):
        mechanism = BoundedGaussian(box, sensitivity, 50.0)
        proof = mechanism.certificate()
        assert [row.count for row in proof.rows] == [500, 500]
        assert lower_bound(proof) <= proof.epsilon <= mechanism.epsilon
        proof.check()


def test_coordinates_that_differ_in_anything_are_written_apart() -> None:
    box = Box([0, 0, 0, 1], [1, 1, 1, 2])
    proof = BoundedGaussian(box, PerCoordinate([0.1, 0.1, 0.2, 0.1]), [1, 2, 1, 1]).certificate()
    assert [row.count for row in proof.rows] == [1, 1, 1, 1]
    assert {row.cap for row in proof.rows} == {0.1, 0.2}
    assert {row.scale for row in proof.rows} == {1.0, 2.0}


def test_rows_hold_the_very_doubles_in_use() -> None:
    mechanism = MECHANISMS["rounded width"]
    (row,) = mechanism.certificate().rows
    assert (row.lower, row.upper, row.scale, row.cap) == (0.1, 0.3, 0.07, 0.05)


def test_the_width_proved_for_is_that_of_the_bounds_and_not_its_nearest_double() -> None:
    """Here upper - lower rounds down to 1, and epsilon is exactly (upper - lower)²/2."""
    lower, upper = -1.0, 2.0**-53
    assert upper - lower == 1.0
    proof = BoundedGaussian(Box(lower, upper), 9.0, 1.0).certificate()
    exact = (Fraction(upper) - Fraction(lower)) ** 2 / 2
    assert exact <= Fraction(proof.epsilon) < exact * (1 + Fraction(1, 10**15))
    proof.check()
    (row,) = BoundedLaplace(Box(lower, upper), 9.0, 1.0).certificate().rows
    assert row.cap == 9.0 or row.cap is None  # never the rounded width


@pytest.mark.parametrize("change", [-5e6, -1e-300, 10.0001, 1e300, math.nan, math.inf])
def test_a_change_outside_the_box_is_refused(change: float) -> None:
    for name in ("l2", "laplace, l1"):
        proof = MECHANISMS[name].certificate()
        with pytest.raises(CertificateError, match="fields that are not valid"):
            with_row(proof, -1, change=change).check()


def test_the_working_precision_is_given_back() -> None:
    with ctx.workprec(77):
        MECHANISMS["l2"].certificate().check()
        assert ctx.prec == 77


def test_a_certificate_cannot_be_changed_and_says_what_it_proves() -> None:
    proof = MECHANISMS["l2"].certificate()
    with pytest.raises(dataclasses.FrozenInstanceError):
        proof.epsilon = 0.1  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        proof.rows[0].scale = 0.1  # type: ignore[misc]
    expected = f"Certificate(epsilon={proof.epsilon!r}, precision={proof.precision}, dimension=2)"
    assert repr(proof) == expected


def test_a_mechanism_whose_epsilon_is_too_low_is_not_certified() -> None:
    for kind in (BoundedGaussian, BoundedLaplace):
        mechanism = kind(PLANE, L2(4), 5.0)
        loss = dataclasses.replace(mechanism._pure_loss(), epsilon=mechanism.epsilon * (1 - 1e-9))
        object.__setattr__(mechanism, "_loss", loss)
        with pytest.raises(CertificateError, match="could not be certified"):
            mechanism.certificate()


def test_the_table_shows_the_bound_in_full_and_has_html():
    proof = BoundedGaussian.calibrated(Box([0, 0], [1, 2]), L2(1), epsilon=1.0)
    certificate = proof.certificate()
    rows = dict(certificate._table().rows)
    assert float(rows["pure ε, at most"]) == certificate.epsilon
    assert rows["coordinates"] == "2 (2 distinct)"
    assert rows["norm of a change"] == "l2 ≤ 1.0"
    assert "pure ε, at most" in str(certificate)
    assert "<caption" in certificate._repr_html_()


@pytest.mark.parametrize("field", ["law", "epsilon", "precision", "order", "radius", "multiplier"])
@pytest.mark.parametrize("value", ["<script>", None, [1], {"a": 2}, True, 1e300])
def test_a_certificate_from_anybody_is_shown_whatever_it_holds(field, value):
    honest = BoundedGaussian.calibrated(Box(0, 1), 1, epsilon=1.0).certificate()
    forged = json.loads(honest.to_json()) | {field: value, "rows": []}
    page = Certificate.from_json(json.dumps(forged))._repr_html_()
    assert "<script" not in page


def test_rows_that_can_be_read_only_once_are_refused() -> None:
    """The first look at an iterator would leave nothing for the sum, which would then be zero."""
    proof = BoundedGaussian(Box(0, 120), 2.5, sigma=16.0).certificate()
    rows: Any = iter(proof.rows)
    with pytest.raises(CertificateError, match="fields that are not valid"):
        dataclasses.replace(proof, epsilon=1e-9, rows=rows).check()


@pytest.mark.parametrize("seed", range(6))
def test_an_l1_norm_over_hundreds_of_capped_coordinates_is_certified(seed: int) -> None:
    """Rounding errors of their slopes add up to more than the margin if the multiplier is tight."""
    random = np.random.default_rng(seed)
    caps = random.choice([1.0, 0.5, 1e-6], 300)
    box, change = Box(np.zeros(300), np.ones(300)), L1(0.3) & PerCoordinate(caps)
    m = BoundedGaussian.calibrated(box, change, epsilon=0.1)
    assert m.certificate().epsilon <= m.epsilon <= 0.1
