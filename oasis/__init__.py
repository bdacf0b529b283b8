"""Oasis: a terminal agent for people who program and commission machines."""

__version__ = "0.1.0"
