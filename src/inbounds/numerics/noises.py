"""The distributions there are."""

from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL

NOISES: tuple[Noise, ...] = (NORMAL, LAPLACE)
"""Each of them; a new one is a module of its own, and an entry here."""

BY_NAME = {noise.name: noise for noise in NOISES}
