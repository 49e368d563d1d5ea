"""Text and tables as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gym_memory.core.records import MemoryStats, Triple

__all__ = ["cut", "json_visible", "memory_table", "table", "text", "visible"]

# Control characters but tab and newline; zero width; marks that turn the direction of writing.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def visible(value: object) -> str:
    r"""Write out what cannot be seen in a text, or turns the writing around.

    >>> visible("a\x1b[0mb")
    'a⟨U+001B⟩[0mb'
    """
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(value))


def json_visible(value: str) -> str:
    r"""Escape the same characters in a JSON text, which keeps its meaning.

    >>> json_visible('"a\x9b0m"')
    '"a\\u009b0m"'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def text(value: object, limit: int = 0) -> str:
    """Return a text as HTML that shows it; ``limit`` cuts it after so many characters.

    >>> text("<b>")
    '&lt;b&gt;'
    """
    return html.escape(visible(cut(str(value), limit) if limit else value))


def cut(value: str, limit: int = 160) -> str:
    """Return the beginning of a text.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return value if len(value) <= limit else value[: limit - 1] + "…"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    numbers: Iterable[str] = (),
) -> str:
    """Return a table of texts; columns named in ``numbers`` are set to the right."""
    right = [' class="number"' if name in set(numbers) else "" for name in header]
    head = "".join(
        f'<th scope="col"{mark}>{text(n)}</th>' for n, mark in zip(header, right, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{mark}>{text(cell)}</td>" for cell, mark in zip(row, right, strict=True))
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def observation_table(name: str, obs: Mapping[str, Any]) -> str:
    """Show the parts of an observation; empty before the first reset."""
    if not obs:
        return f"<p>{text(f'{name}: call reset() to start an episode')}</p>"
    rows = [
        (key, cut("; ".join(map(str, part)) if isinstance(part, tuple) else part, 2000))
        for key, part in obs.items()
    ]
    return table(("observation", "shown to the agent"), rows, caption=name)


def memory_table(name: str, stats: MemoryStats, facts: Sequence[Triple] | None) -> str:
    """Show the sizes of a memory and, if it keeps a graph, its first 200 live facts."""
    counts = {
        "facts": stats.facts, "live facts": stats.live_facts, "episodes": stats.episodes,
        "lessons": stats.lessons,
    }  # fmt: skip
    sizes = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    head = f"memory {name}: {sizes or 'nothing yet'}"
    if facts is None:
        return f"<p>{text(head)}</p>"
    if len(facts) > 200:
        head += f"; the first 200 of {len(facts)} live facts"
    rows = [tuple(cut(part, 200) for part in fact) for fact in facts[:200]]
    return table(("subject", "relation", "object"), rows, caption=head)
