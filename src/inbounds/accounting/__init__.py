"""What many releases cost together, and a ledger that remembers."""
