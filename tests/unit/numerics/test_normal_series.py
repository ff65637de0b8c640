import pytest
from flint import acb, arb, ctx
from mpmath import mp, mpf

from inbounds.numerics.normal_series import normal_integral

ENDS = [0.0, 1e-300, 2.0**-60, 1e-9, 0.1, 0.7, 1.0, 2.0, 3.7, 5.0, 8.0, 11.0, 11.2, 13.0, 14.0]
FAR = [20.0, 38.0, 1e3, 1e8, 1e77, 1e300]


def integral(end: arb) -> arb:
    return normal_integral(end, (-end * end / 2).exp())


def by_quadrature(end: arb) -> arb:
    return acb.integral(lambda x, _: (-x * x / 2).exp(), 0, end).real


@pytest.mark.parametrize("precision", [64, 128, 200, 512])
@pytest.mark.parametrize("end", [*ENDS, *FAR])
def test_the_ball_holds_the_integral_and_is_narrow(end: float, precision: int) -> None:
    with mp.workdps(400):
        truth = mp.sqrt(mp.pi / 2) * mp.erf(mpf(end) / mp.sqrt(2))
        digits = mp.nstr(truth, 300)
    with ctx.workprec(precision):
        for ball, sign in ((integral(arb(end)), 1), (integral(arb(-end)), -1)):
            assert end == 0 or ball.rel_accuracy_bits() > 0.75 * precision - 10
            with ctx.workprec(1100):
                assert (sign * ball).overlaps(arb(digits))


@pytest.mark.parametrize("end", ENDS)
def test_the_series_agrees_with_quadrature_of_the_definition(end: float) -> None:
    with ctx.workprec(128):
        assert integral(arb(end)).overlaps(by_quadrature(arb(end)))


def test_every_partial_sum_is_used_and_right_on_both_sides_of_its_last_end() -> None:
    ends = [0.01 * 1.02**k for k in range(370)]
    assert ends[-1] > 14
    with ctx.workprec(128):
        root = (arb(1) / 2).sqrt()
        for end in ends:
            ball = integral(arb(end))
            assert ball.overlaps((arb(end) * root).erf() * (arb.pi() / 2).sqrt())
            assert ball.rel_accuracy_bits() > 80


@pytest.mark.parametrize("radius", [1e-30, 1e-3, 0.5, 3.0])
def test_a_wide_ball_holds_the_integrals_of_all_its_ends(radius: float) -> None:
    for middle in (-9.0, -0.4, 0.0, 1.3, 12.5, 40.0):
        with ctx.workprec(128):
            ball = integral(arb(middle, radius))
            for fraction in (-1.0, -0.3, 0.0, 0.9, 1.0):
                end = arb(middle) + arb(fraction) * arb(radius) * (1 - arb(2) ** -40)
                with ctx.workprec(512):
                    truth = (end.mid() / arb(2).sqrt()).erf() * (arb.pi() / 2).sqrt()
                assert ball.is_nan() or ball.contains(truth.mid())
