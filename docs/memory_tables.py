"""Tables of memories, generated from their classes: name and summary, layers, settings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from gym_memory.core.settings import list_settings
from gym_memory.memory import MEMORIES, make_memory

__all__ = ["fill", "layers", "overview", "page", "settings"]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines)


def _code(text: str) -> str:
    return text.replace("``", "`")


def overview() -> str:
    """Return a row for each memory: its page and the summary of its class."""
    rows = [
        (f"[`{name}`](memories/{name}.md)", _code(MEMORIES.about(name)))
        for name in MEMORIES.builtin()
    ]
    return _table(("name", "summary"), rows)


def layers() -> str:
    """Return a row for each memory that has layers: the lifetime of each by default."""
    lived = {name: make_memory(name).lifetimes for name in MEMORIES.builtin()}
    rows = [
        (f"`{name}`", ", ".join(f"{layer}: {lifetime}" for layer, lifetime in kept.items()))
        for name, kept in lived.items()
        if kept
    ]
    return _table(("name", "layers"), rows)


def settings(name: str) -> str:
    """Return a row for each setting of a memory; a sentence if it has none."""
    rows = [
        (
            f"`{setting.name}`",
            "" if setting.required else f"`{setting.default!r}`",
            ", ".join(f"`{choice}`" for choice in setting.choices) or setting.bounds,
            _code(setting.help.text),
        )
        for setting in list_settings(MEMORIES.get(name))
    ]
    return _table(("setting", "default", "values", "meaning"), rows) if rows else "None."


def page(name: str) -> str:
    """Return a page for a memory without one in docs/memories."""
    return f"# {name}\n\n{_code(inspect.cleandoc(MEMORIES.get(name).__doc__ or ''))}\n"


def fill(markdown: str) -> str:
    """Replace the marks in docs/memories.md by their tables."""
    for mark, table in (("<!-- overview -->", overview), ("<!-- layers -->", layers)):
        if mark in markdown:
            markdown = markdown.replace(mark, table())
    return markdown
