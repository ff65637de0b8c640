"""Exact draws of noise kept in an interval, rounded to a grid."""
