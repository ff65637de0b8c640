"""From a guarantee to a noise scale, and back."""
