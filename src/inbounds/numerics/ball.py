"""Arb twins of `partition` and `truncated_normal`: every result is a ball that holds the truth.

Arguments are exact numbers (`flint.fmpq` of the doubles in use); the working precision is flint's.

Proofs: docs/proofs/interval.md, docs/proofs/box.md, docs/proofs/laplace.md.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq


def exact(number: float | Fraction | np.integer[Any]) -> fmpq:
    """Return a double, an integer or a fraction as the rational number it is."""
    whole = int(number) if isinstance(number, np.integer) else number
    return fmpq(*whole.as_integer_ratio())


def loss(width: arb, change: arb, sigma: arb) -> arb:
    """Return h(u) - h(u - γ) = γ(2u - γ)/2 - ln R, any real change."""
    root = arb(2).sqrt() * sigma
    u, gamma = width / sigma, change / sigma
    mass = (change / root).erf() + ((width - change) / root).erf()
    return gamma * (2 * u - gamma) / 2 - (mass / (width / root).erf()).log()


def loss_slope(width: arb, change: arb, sigma: arb) -> arb:
    """Return the derivative of `loss` in `change`."""
    rest = width - change
    root = arb(2).sqrt() * sigma
    edges = (-((rest / sigma) ** 2) / 2).exp() - (-((change / sigma) ** 2) / 2).exp()
    mass = (change / root).erf() + (rest / root).erf()
    return (rest / sigma + (2 / arb.pi()).sqrt() * edges / mass) / sigma


def laplace_loss(width: arb, change: arb, scale: arb) -> arb:
    """Return γ + ln(1 + (1-e^-γ)(1-e^-r)/(1-e^-u)) of truncated Laplace noise."""
    gone, left = (-change / scale).expm1(), ((change - width) / scale).expm1()
    return change / scale + (1 - gone * left / (-width / scale).expm1()).log()


def laplace_slope(width: arb, change: arb, scale: arb) -> arb:
    """Return the derivative of `laplace_loss` in `change`."""
    gone, left = (-change / scale).expm1(), ((change - width) / scale).expm1()
    return 2 * left / (gone + left) / scale


def cumulative(x: arb, lower: arb, upper: arb, centre: arb, sigma: arb) -> arb:
    """Return P(X <= x) for the normal at `centre` truncated to [lower, upper]."""
    root = arb(2).sqrt() * sigma
    below = ((centre - lower) / root).erf()
    return (((x - centre) / root).erf() + below) / (((upper - centre) / root).erf() + below)


def float_above(ball: arb) -> float:
    """Return a double at least as large as everything in the ball."""
    top = ball.upper()
    number = float(top)
    while not arb(number) >= top:
        number = math.nextafter(number, math.inf)
    return number
