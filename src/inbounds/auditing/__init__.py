"""Audits: what counted releases prove about a mechanism, its own or another library's."""
