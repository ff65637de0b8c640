"""Rows and outputs of level tables for many doubles, compiled without branches.

Each loop takes the steps of its plain counterpart, bit by bit, and says whether it met a case that
words and doubles alone do not decide. There is such a case in fewer than one of 10⁹ blocks; the
plain code then does the block again, from the same words.

Proof: docs/proofs/optimal.md, theorems 8 and 9.
"""

import numpy as np

from inbounds.sampling.compiled import DIGEST, U64, compiled, inlined, keyed


@inlined
def _cell(value, lower, upper, buckets):
    """Return a double moved into the box, and the number of boundaries that are not above it."""
    nudge, factor, before, boundary = buckets
    inside = min(max(value, lower), upper)
    bucket = np.int64((inside - lower + nudge) * factor)
    bucket = min(max(bucket, 0), before.size - 1)
    return inside, before[bucket] + np.int64(inside >= boundary[bucket])


def _make(digest):
    @compiled
    def find_cells(values, lower, upper, buckets, rows):
        """Write the cell of each value, as `Places.of_doubles` does."""
        for i in range(keyed(values.size, digest)):
            rows[i] = _cell(values[i], lower, upper, buckets)[1]

    @compiled
    def find_knots(words, values, lower, upper, buckets, knots, rows):
        """Write the knot to which each value is rounded; return whether all are certain.

        `knots` are the knots, one over the distances between them, the nudge and the margin.
        """
        start, per_gap, nudge, margin = knots
        close = 0
        for i in range(keyed(values.size, digest)):
            inside, cell = _cell(values[i], lower, upper, buckets)
            fraction = (inside - start[cell] + nudge) * per_gap[cell]
            distance = np.float64(np.int64(words[i] >> U64(11))) * 2.0**-53 - fraction
            rows[i] = cell + np.int64(distance < 0.0)
            close += np.int64(abs(distance) < margin)
        return close == 0

    @compiled
    def draw_outputs(words, rows, bits, thresholds, pairs, outputs):
        """Write an output of each row; return whether no word is equal to a threshold."""
        ties = 0
        for i in range(keyed(words.size, digest)):
            word = words[i]
            place = np.int64(word >> U64(64 - bits)) + (rows[i] << bits)
            threshold = thresholds[place]
            ties += np.int64(word == threshold)
            outputs[i] = pairs[2 * place + np.int64(word < threshold)]
        return ties == 0

    return find_cells, find_knots, draw_outputs


find_cells, find_knots, draw_outputs = _make(DIGEST)
