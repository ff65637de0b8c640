import inbounds as ib
from inbounds.analysis.error import ErrorSummary
from inbounds.cli.explore.people import many


def test_the_numbers_are_those_of_the_library():
    m = ib.ClampedLaplace.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    error = ErrorSummary.of(m, 500)
    shown = many(error, 500)
    assert shown == {"count": 500, "mean_rmse": error.mean_rmse, "plain_bias": error.worst_bias}
    contender = ib.compare(ib.Box(0, 120), 120, epsilon=1.0, people=500)["ClampedLaplace"]
    assert shown["mean_rmse"] == contender.error.mean_rmse


def test_one_output_has_no_people():
    m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
    assert many(ErrorSummary.of(m), None) is None
