"""Memories of experience over tasks, one file per paper; base, items and writers are shared."""
