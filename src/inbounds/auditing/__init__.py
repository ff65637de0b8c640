"""Audits: what counted releases prove about a mechanism of this library or of another one."""
