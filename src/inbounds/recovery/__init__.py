"""Estimating the distribution of the true values from many private outputs."""
