"""Figures: drawn on a canvas of their own, so that no display and no global state is needed."""
