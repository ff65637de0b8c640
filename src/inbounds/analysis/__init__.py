"""Which mechanism to use, and whether one keeps its promise."""
