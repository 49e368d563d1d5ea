"""Roles: the parts of a memory that the papers give to a language model."""
