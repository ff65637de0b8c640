"""Data frames: every person's values replaced by private ones, or statistics of them all."""
