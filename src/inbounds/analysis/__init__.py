"""Which mechanism to use, and how far its outputs are from the truth."""
