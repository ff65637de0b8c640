"""Standard errors of rivals for sums by district, from the noise that they calibrate.

A competent user releases a vector of sums with noise calibrated to how far a neighbour moves all of
it, takes the better of Laplace and Gaussian noise, and divides the guarantee evenly between
vectors.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import opendp.prelude as dp

from benchmarks.timing import run_json

_PYTHON = Path(__file__).resolve().parents[1] / ".venv-diffprivlib/bin/python"


class Sums(NamedTuple):
    """One of `parts` vectors of sums under one guarantee, and how far a neighbour moves it."""

    epsilon: float
    delta: float
    parts: int
    l1: int
    l2: float


def opendp(requests: Sequence[Sums]) -> list[float]:
    """Return the standard errors of OpenDP's noise: Laplace's, or Gaussian by way of rho."""
    dp.enable_features("contrib")
    return [min(_laplace(each), _gaussian(each)) for each in requests]


def _laplace(sums: Sums) -> float:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    scale = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(*space, scale), sums.l1, sums.epsilon / sums.parts
    )
    step = math.exp(-1 / scale)  # the noise is an integer, of which k has probability ∝ step^|k|
    return math.sqrt(2 * step) / (1 - step)


def _gaussian(sums: Sums) -> float:
    """Return the error of one of several vectors: each has its part of the rho of them all."""
    if not sums.delta:
        return math.inf
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)

    def make(scale: float) -> Any:
        concentrated = dp.m.make_gaussian(*space, scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(concentrated), sums.delta)

    scale: float = dp.binary_search(
        lambda scale: make(scale).map(sums.l2)[0] <= sums.epsilon,
        bounds=(sums.l2 / 8, sums.l2 * 1e4),
    )
    return math.sqrt(sums.parts) * scale


def diffprivlib(requests: Sequence[Sums]) -> list[float]:
    """Return the standard errors of diffprivlib's mechanisms; NaN if it is not installed."""
    if not _PYTHON.exists():
        return [math.nan] * len(requests)
    divided = [
        (each.epsilon / each.parts, each.delta / each.parts, each.l1, each.l2) for each in requests
    ]
    command = [_PYTHON, "-m", "benchmarks.diffprivlib_noise", json.dumps(divided)]
    errors: Any = run_json(command)
    return list(errors)
