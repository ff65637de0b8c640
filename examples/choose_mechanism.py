"""Which bounded mechanism should I use? Ask, at the guarantee you need."""

import inbounds as ib

# A mean salary over 1000 people: a neighbour moves it by a thousandth of the range.
print(ib.compare(ib.Box(0, 200_000), 200, epsilon=1.0))

# Fifty rates at once, under (epsilon, delta).
rates = ib.Box([0.0] * 50, [1.0] * 50)
print(ib.compare(rates, ib.L2(0.1), epsilon=1.0, delta=1e-6))
