"""Fixtures of the doors' tests."""

from twenty import games  # noqa: F401
