"""Policies that ask a language model."""
