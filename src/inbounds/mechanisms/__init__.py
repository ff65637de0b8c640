"""Mechanisms: frozen data with a release method."""
