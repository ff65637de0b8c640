"""All distributions of noise."""

from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL

NOISES: tuple[Noise, ...] = (NORMAL, LAPLACE)
"""A new distribution has its own module, and an entry here."""

BY_NAME = {noise.name: noise for noise in NOISES}
