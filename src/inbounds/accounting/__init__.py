"""The privacy cost of several releases together, and a ledger that records it."""
