"""Staircase noise on an interval for many doubles, compiled without branches.

The loops take the steps of the plain code, bit by bit. A draw of noise that tables alone do not
settle, about one in 10⁷, is reported; the plain code then draws the block's noise again, from the
same words.

Proof: docs/proofs/staircase.md, theorem 3.
"""

import numpy as np

from inbounds.sampling.compiled import DIGEST, compiled, inlined, keyed
from inbounds.sampling.outcome import PLACE_SHIFT

_SHIFT = np.uint32(PLACE_SHIFT)
_POSITIVE = np.int64(2**63 - 1)  # all bits of a word but the highest


@inlined
def _place(random, limits, table):
    """Return the index into the outcomes of a table, as `OutcomeTable.places` does."""
    place = np.int64(random >> _SHIFT)
    return 2 * place + np.int64(random < limits[table, place])


def _make(digest):
    @compiled
    def find_cells(values, lower, upper, shift, per_unit, cells):
        """Write the cell of each value, as `Lattice.cells` does."""
        for i in range(keyed(values.size, digest)):
            offset = min(max(values[i], lower), upper) - lower + shift
            cells[i] = np.int64(offset * per_unit)

    @compiled
    def draw_noise(free, random, limits, parts, masks, turns, noise):
        """Write noise in cells, as `StaircaseNoise.draw` does; return whether all of it is settled.

        `limits` and `parts` have a row for the blocks of a period and one for each digit. `masks`
        and `turns` choose a cell of a block and a side.
        """
        size, unsettled = keyed(free.size, digest), 0
        for i in range(size):
            noise[i] = 0
        for table in range(1, limits.shape[0]):
            digits = random[table * size : (table + 1) * size]
            for i in range(size):
                part = parts[table, _place(digits[i], limits, table)]
                unsettled |= part
                noise[i] += part
        for i in range(size):
            place = _place(random[i], limits, 0)
            part = parts[0, place]
            unsettled |= part
            chosen = masks[place] & free[i]
            cell = noise[i] + part + (chosen & _POSITIVE)
            noise[i] = cell ^ ((turns[place] | chosen) >> 63)
        return unsettled >= 0

    @compiled
    def add_noise(cells, noise, count):
        """Add one and the noise to each cell, and move the sum into 0..count, in place."""
        for i in range(keyed(cells.size, digest)):
            cells[i] = min(max(cells[i] + noise[i] + 1, 0), count)

    @compiled
    def write_numbers(indices, spacing, lower, upper, outputs):
        """Write the number at each index."""
        for i in range(keyed(indices.size, digest)):
            outputs[i] = min(np.float64(indices[i]) * spacing + lower, upper)

    return find_cells, draw_noise, add_noise, write_numbers


find_cells, draw_noise, add_noise, write_numbers = _make(DIGEST)
