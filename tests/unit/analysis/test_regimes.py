import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import truncnorm

import inbounds as ib
from inbounds.analysis import regimes as module
from inbounds.analysis.error import ErrorSummary
from inbounds.analysis.regimes import NAMES, Regimes, regimes


def of_names(rmse, names=NAMES):
    rmse = np.asarray(rmse, dtype=float)
    _, rows, columns = rmse.shape
    grid = np.arange(1.0, max(rows, columns) + 1)
    return Regimes(0.0, 1, grid[:columns], grid[:rows], tuple(names), rmse)


def error(name, *arguments, **options):
    return ErrorSummary.of(getattr(ib, name).calibrated(*arguments, **options)).average_rmse


@pytest.mark.parametrize("dimension", [1, 3])
def test_every_error_is_that_of_the_mechanism_calibrated_by_itself(dimension):
    box = ib.Box(0, 1) if dimension == 1 else ib.Box([0] * dimension, 1)
    method = "exact" if dimension == 1 else "analytic"
    result = regimes(delta=1e-6, dimension=dimension, fractions=[0.05, 0.7], epsilons=[0.3, 4.0])
    for row, epsilon in enumerate(result.epsilons):
        for column, fraction in enumerate(result.fractions):
            joint = {"epsilon": float(epsilon), "delta": 1e-6}
            pure = {"epsilon": float(epsilon)}
            expected = [
                error("BoundedGaussian", box, float(fraction), **joint),
                error("BoundedLaplace", box, float(fraction), **pure),
                error("ClampedGaussian", box, float(fraction), **joint, method=method),
                error("ClampedLaplace", box, float(fraction), **pure),
            ]
            if dimension == 1:
                others = ("ClampedStaircase", "Window", "Optimal")
                expected += [error(name, box, float(fraction), **pure) for name in others]
            np.testing.assert_allclose(result.rmse[:, row, column], expected, rtol=1e-9)


def test_the_error_is_that_of_scipy_s_truncated_normal():
    sigma = ib.BoundedGaussian.calibrated(ib.Box(0, 1), 0.2, epsilon=1.0).sigma
    s = (np.arange(2000) + 0.5) / 2000
    law = truncnorm(-s / sigma, (1 - s) / sigma, loc=s, scale=sigma)
    expected = math.sqrt(np.mean(law.var() + (law.mean() - s) ** 2))
    result = regimes(delta=0.0, fractions=[0.2], epsilons=[1.0])
    assert result.rmse[0, 0, 0] == pytest.approx(expected, rel=1e-5)


def test_rows_are_epsilons_and_columns_are_sensitivities():
    result = regimes(delta=0.0, fractions=[0.01, 0.1, 1.0], epsilons=[0.5, 2.0])
    assert result.rmse.shape == (7, 2, 3)
    assert (np.diff(result.rmse, axis=1) < 0).all()  # a larger budget errs less
    others = np.array(result.names) != "Window"  # which hides any change
    assert (np.diff(result.rmse[others], axis=2) > 0).all()  # a larger change errs more


def test_the_best_the_margin_and_the_best_truncated_are_read_off_the_errors():
    result = of_names([[[3.0, 1.0]], [[4.0, 2.0]], [[2.0, np.inf]], [[1.5, 8.0]]])
    assert result.best.tolist() == [["ClampedLaplace", "BoundedGaussian"]]
    assert result.best_truncated.tolist() == [["BoundedGaussian", "BoundedGaussian"]]
    assert result.margin.tolist() == [[25.0, 50.0]]


def test_clamped_gaussian_noise_takes_no_part_in_several_coordinates_without_delta():
    result = regimes(delta=0.0, dimension=2, fractions=[0.1], epsilons=[1.0])
    assert np.isinf(result.rmse[NAMES.index("ClampedGaussian")]).all()
    assert np.isfinite(result.rmse[NAMES.index("BoundedGaussian")]).all()
    assert np.isfinite(result.margin).all()


def test_the_map_knows_where_each_mechanism_wins():
    pure = regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.3, 10.0])
    assert pure.best.tolist() == [["Optimal", "Optimal"], ["ClampedStaircase", "Optimal"]]
    assert pure.best_truncated[0].tolist() == ["BoundedLaplace", "BoundedLaplace"]
    joint = regimes(delta=1e-6, dimension=100, fractions=[0.01, 0.3], epsilons=[3.0])
    assert joint.best.tolist() == [["ClampedGaussian", "BoundedGaussian"]]
    assert joint.margin[0, 0] < 1
    assert joint.margin[0, 1] > 10


def test_the_best_is_that_of_a_comparison():
    result = regimes(delta=1e-6, fractions=[0.3], epsilons=[1.0])
    comparison = ib.compare(ib.Box(0, 1), 0.3, epsilon=1.0, delta=1e-6)
    assert result.best[0, 0] == comparison.best().name
    assert result.rmse.min() == pytest.approx(comparison.best().error.average_rmse, rel=1e-9)


def test_a_map_cannot_be_changed():
    result = regimes(delta=0.0, fractions=[0.1], epsilons=[1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.delta = 0.1
    with pytest.raises(ValueError, match="read-only"):
        result.rmse[0] = 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.0}, "delta must be below 1"),
        ({"delta": -0.1}, "delta must be zero or more"),
        ({"dimension": 0}, "dimension must be a whole number from 1 to"),
        ({"dimension": 1.5}, "dimension must be a whole number"),
        ({"fractions": [0.1, 0.1]}, "fractions must rise"),
        ({"fractions": [10, 50]}, "fractions must be fractions of the range, at most 1"),
        ({"fractions": [0.0, 0.1]}, "fractions must be positive"),
        ({"epsilons": [2.0, 1.0]}, "epsilons must rise"),
        ({"epsilons": [math.inf]}, "epsilons must be finite"),
    ],
)
def test_impossible_arguments_are_named(options, message):
    with pytest.raises(ib.ArgumentError, match=message):
        regimes(**{"delta": 0.0, "fractions": [0.1], "epsilons": [1.0], **options})


def test_a_bar_is_shown_only_on_request(capsys):
    regimes(delta=0.0, fractions=[0.1], epsilons=[1.0])
    assert capsys.readouterr().out == ""
    regimes(delta=0.0, fractions=[0.1], epsilons=[1.0], progress=True)
    assert "Regimes" in capsys.readouterr().err


def test_the_repr_says_what_was_compared():
    result = of_names(np.ones((4, 2, 3)))
    assert repr(result) == "Regimes(delta=0, dimension=1, 2×3 cells)"


def test_a_map_draws_itself():
    assert of_names(np.ones((4, 2, 3))).plot().axes[0].get_title().startswith("m = 1 coordinate")


def test_the_table_names_the_best_by_their_initials():
    table = regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.1])._table()
    assert table.headings == ("ε", "1", "100")
    assert table.rows == (("0.1", "O", "O"),)
    assert "<caption" in table.html()


def test_the_old_names_of_fractions_work_and_say_so():
    new = regimes(delta=0.0, fractions=[0.1, 1.0], epsilons=[1.0])
    with pytest.warns(DeprecationWarning, match="shares is now called fractions") as caught:
        old = regimes(delta=0.0, shares=[0.1, 1.0], epsilons=[1.0])
    assert caught[0].filename == __file__
    assert np.array_equal(old.rmse, new.rmse)
    with pytest.warns(DeprecationWarning, match="shares is now called fractions") as caught:
        assert old.shares.tolist() == [0.1, 1.0]
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="SHARES is now called FRACTIONS"):
        assert module.SHARES is module.FRACTIONS
    assert not hasattr(module, "NO_SUCH_NAME")
