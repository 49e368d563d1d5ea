"""Memories of experience over tasks, one paper a file; base, items and writers are shared."""
