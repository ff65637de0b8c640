"""Distributions of noise in double precision, and their twins in ball arithmetic."""
