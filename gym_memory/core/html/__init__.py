"""HTML by hand: text that stays text, tables, and pages with a strict Content-Security-Policy."""

from gym_memory.core.html.pages import Assets, inline_page, linked_page, packed
from gym_memory.core.html.text import (
    cut,
    json_visible,
    memory_table,
    observation_table,
    table,
    text,
    visible,
)

__all__ = ["Assets", "cut", "inline_page", "json_visible", "linked_page", "memory_table", "packed"]
__all__ += ["observation_table", "table", "text", "visible"]
