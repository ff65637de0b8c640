"""Statistics of all rows, or of groups of rows, in one joint release."""
