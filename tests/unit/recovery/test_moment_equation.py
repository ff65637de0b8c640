"""The best reading of an output, against a general optimiser."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from inbounds.recovery.moment_equation import MomentEquation


def test_no_other_reading_has_a_lower_error():
    rng = np.random.default_rng(8)
    response = rng.dirichlet(np.ones(5), size=4)
    values, weights = np.array([-0.4, -0.1, 0.2, 0.5]), np.array([0.1, 0.4, 0.3, 0.2])
    for people in (1, 7, 1000):

        def risk(g, people=people):
            mean = response @ g
            return weights @ ((mean - values) ** 2 + (response @ g**2 - mean**2) / people)

        least = minimize(risk, np.zeros(5), method="BFGS", options={"gtol": 1e-12}).fun
        equation = MomentEquation.of_cells(response, values, weights)
        assert equation.rmse(equation.corrections(1 / people), people) == pytest.approx(
            math.sqrt(least), rel=1e-5
        )
