"""Every row of values.json (mpmath, 30 digits) through the public names."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import inbounds as ib

ROWS = json.loads(Path(__file__).with_name("values.json").read_text())

EPSILONS = (0.1, 0.5, 1, 1.5, 2, 2.5, 3)
PAPER = (857.5, 170.3, 84.4, 55.8, 41.5, 32.9, 27.2)
EXACT_L2 = (
    290.897390983,
    61.3946034624,
    32.3427195040,
    22.4623084110,
    17.4123306862,
    14.3146329203,
    12.2048943930,
)
EXACT_PER_COORDINATE = (
    284.587842803,
    60.1515515936,
    31.7200564832,
    22.0412647283,
    17.0899387872,
    14.0504381960,
    11.9790250264,
)
EXAMPLE_BOX = ib.Box([0, 1], [10, 9])
EXAMPLE_CHANGES = ib.PerCoordinate([4, 2])
EXAMPLE_NORM = ib.L2(2 * math.sqrt(5))


def rows(*kinds: str, having: str = "id") -> Any:
    chosen = [row for row in ROWS if row["kind"] in kinds and having in row]
    return pytest.mark.parametrize("row", chosen, ids=lambda row: f"{row['kind']}-{row['id']}")


def number(text: str) -> float:
    """Read '2.5', '1e-9' or '2*sqrt(5)'."""
    product = re.fullmatch(r"([\d.]+)\*sqrt\(([\d.]+)\)", text)
    return float(product[1]) * math.sqrt(float(product[2])) if product else float(text)


def box_of(row: dict[str, Any]) -> ib.Box:
    if "widths" in row:
        return ib.Box(0, [number(width) for width in row["widths"]])
    return ib.Box(0, number(row["width"]))


def sensitivity_of(row: dict[str, Any]) -> Any:
    stated = row["sensitivity"]
    match row.get("norm"):
        case None:
            return number(stated)
        case "l2":
            return ib.L2(number(stated))
        case "l1":
            return ib.L1(number(stated))
        case "linf":
            return ib.LInf(number(stated))
        case "box":
            return ib.PerCoordinate([number(cap) for cap in stated])
        case "l2box":
            norm, caps = stated
            return ib.L2(number(norm)) & ib.PerCoordinate([number(cap) for cap in caps])
    raise AssertionError(row)


def close(expected: float, relative: float) -> Any:
    return pytest.approx(expected, rel=relative, abs=0)


def test_the_table_has_every_kind_in_full() -> None:
    kinds = [row["kind"] for row in ROWS]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "eps1d": 76,
        "sigma1d": 72,
        "sigma_md": 54,
        "moments": 18,
        "estimators": 9,
    }


@rows("eps1d", "sigma1d")
def test_epsilon_on_an_interval_holds_to_1e_12(row: dict[str, Any]) -> None:
    mechanism = ib.BoundedGaussian(box_of(row), sensitivity_of(row), number(row["sigma"]))
    assert mechanism.epsilon == close(number(row["eps"]), 1e-12)


@rows("sigma_md")
def test_epsilon_on_a_box_holds_to_1e_10(row: dict[str, Any]) -> None:
    mechanism = ib.BoundedGaussian(box_of(row), sensitivity_of(row), number(row["sigma"]))
    assert mechanism.epsilon == close(number(row["eps"]), 1e-10)


@rows("sigma1d")
def test_calibrated_sigma_on_an_interval_holds_to_1e_11(row: dict[str, Any]) -> None:
    epsilon = number(row["eps"])
    mechanism = ib.BoundedGaussian.calibrated(box_of(row), sensitivity_of(row), epsilon=epsilon)
    assert mechanism.sigma == close(number(row["sigma"]), 1e-11)
    assert mechanism.epsilon <= epsilon


@rows("sigma_md")
def test_calibrated_sigma_on_a_box_holds_to_1e_9(row: dict[str, Any]) -> None:
    epsilon = number(row["eps"])
    mechanism = ib.BoundedGaussian.calibrated(box_of(row), sensitivity_of(row), epsilon=epsilon)
    assert mechanism.sigma == close(number(row["sigma"]), 1e-9)
    assert mechanism.epsilon <= epsilon


@rows("sigma1d", "sigma_md", having="paper_sigma2")
def test_the_paper_s_method_finds_the_root_of_its_equation(row: dict[str, Any]) -> None:
    epsilon = number(row["eps"])
    mechanism = ib.BoundedGaussian.calibrated(
        box_of(row), sensitivity_of(row), epsilon=epsilon, method="paper"
    )
    assert mechanism.sigma**2 == close(number(row["paper_sigma2"]), 1e-9)
    assert mechanism.epsilon <= epsilon


@rows("moments")
@pytest.mark.parametrize("moment", ["bias", "variance", "mse"])
def test_moments_hold_to_1e_9(row: dict[str, Any], moment: str) -> None:
    mechanism = ib.BoundedGaussian(
        ib.Box(number(row["a"]), number(row["b"])), 1, number(row["sigma"])
    )
    expected = number(row[moment])
    assert getattr(mechanism, moment)(number(row["s"])) == close(expected, 1e-9)
    if moment == "bias":
        assert mechanism.mean(number(row["s"])) == close(number(row["s"]) + expected, 1e-9)


@rows("estimators")
def test_denoised_values_hold_to_1e_7(row: dict[str, Any]) -> None:
    mechanism = ib.BoundedGaussian(
        ib.Box(number(row["a"]), number(row["b"])), 1, number(row["sigma"])
    )
    assert mechanism.denoise(number(row["x"])) == close(number(row["posterior_mean"]), 1e-7)


@pytest.mark.parametrize(("epsilon", "square"), list(zip(EPSILONS, PAPER, strict=True)))
def test_the_paper_s_method_gives_the_paper_s_table(epsilon: float, square: float) -> None:
    mechanism = ib.BoundedGaussian.calibrated(
        EXAMPLE_BOX, EXAMPLE_NORM, epsilon=epsilon, method="paper"
    )
    assert round(mechanism.sigma**2, 1) == square


@pytest.mark.parametrize(("epsilon", "square"), list(zip(EPSILONS, EXACT_L2, strict=True)))
def test_the_exact_method_needs_far_less_on_the_paper_s_example(
    epsilon: float, square: float
) -> None:
    mechanism = ib.BoundedGaussian.calibrated(EXAMPLE_BOX, EXAMPLE_NORM, epsilon=epsilon)
    assert mechanism.sigma**2 == close(square, 1e-9)


@pytest.mark.parametrize(
    ("epsilon", "square"), list(zip(EPSILONS, EXACT_PER_COORDINATE, strict=True))
)
def test_the_exact_method_needs_less_still_per_coordinate(epsilon: float, square: float) -> None:
    mechanism = ib.BoundedGaussian.calibrated(EXAMPLE_BOX, EXAMPLE_CHANGES, epsilon=epsilon)
    assert mechanism.sigma**2 == close(square, 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_liu_s_method_gives_132_over_epsilon_on_the_paper_s_example(epsilon: float) -> None:
    mechanism = ib.BoundedGaussian.calibrated(
        EXAMPLE_BOX, EXAMPLE_CHANGES, epsilon=epsilon, method="liu"
    )
    assert mechanism.sigma**2 == close(132 / epsilon, 1e-13)
    assert mechanism.sigma**2 >= 132 / epsilon * (1 - 2**-52)
