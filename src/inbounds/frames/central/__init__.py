"""Statistics of all rows, by group, with one joint release."""
