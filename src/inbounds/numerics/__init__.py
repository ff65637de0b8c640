"""The truncated normal law in double precision, and its twins in ball arithmetic."""
