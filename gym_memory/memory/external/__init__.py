"""Adapters between our memories and the interfaces of other programs, in both directions."""
