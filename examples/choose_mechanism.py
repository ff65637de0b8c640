"""Which bounded mechanism should I use? Compare them at the guarantee that you need."""

import inbounds as ib

# A mean salary of 1000 people: a neighbour moves it by at most a thousandth of the range.
print(ib.compare(ib.Box(0, 200_000), 200, epsilon=1.0))

# Fifty rates in one release, with (epsilon, delta)-privacy.
rates = ib.Box([0.0] * 50, [1.0] * 50)
print(ib.compare(rates, ib.L2(0.1), epsilon=1.0, delta=1e-6))
