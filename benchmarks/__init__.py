"""How fast, and how right, compared with what else one could use. Run: python -m benchmarks."""
