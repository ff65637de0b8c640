"""Exact draws of truncated or clamped noise, rounded to a grid."""
