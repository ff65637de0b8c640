"""Exact draws from a normal law truncated to an interval, rounded to a grid."""
