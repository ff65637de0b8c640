"""Local privacy: every person's value in a table replaced by a private one."""
