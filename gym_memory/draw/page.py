"""Build HTML by hand: tables, and pages with a strict Content-Security-Policy."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from gym_memory.core.records import MemoryStats, Triple
from gym_memory.draw.escape import cut, text

__all__ = ["Assets", "frame", "inline_page", "linked_page", "memory_table", "observation_table"]
__all__ += ["packed", "table"]


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    numbers: Iterable[str] = (),
    marked: Iterable[str] = (),
) -> str:
    """Return a table of texts; columns in ``numbers`` are right-aligned, and intervals unbroken.

    Rows whose first cell is in ``marked`` are highlighted.
    """
    own = set(marked)
    right = [' class="number"' if name in set(numbers) else "" for name in header]
    head = "".join(
        f'<th scope="col"{mark}>{text(n)}</th>' for n, mark in zip(header, right, strict=True)
    )
    body = "".join(
        f"<tr{' class=own' * (row[0] in own)}>"
        + "".join(
            f"<td{mark}>{text(cell).replace(', ', ',&nbsp;') if mark else text(cell)}</td>"
            for cell, mark in zip(row, right, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def observation_table(name: str, obs: Mapping[str, Any]) -> str:
    """Return the parts of an observation as a table; empty before the first reset."""
    if not obs:
        return f"<p>{text(f'{name}: call reset() to start an episode')}</p>"
    rows = [
        (key, cut("; ".join(map(str, part)) if isinstance(part, tuple) else part, 2000))
        for key, part in obs.items()
    ]
    return table(("observation", "shown to the agent"), rows, caption=name)


def memory_table(name: str, stats: MemoryStats, facts: Sequence[Triple] | None) -> str:
    """Return the sizes of a memory and, if it has a graph, its first 200 live facts."""
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


class Assets(NamedTuple):
    """Scripts and styles of a page, each as a package and a file name."""

    scripts: tuple[tuple[str, str], ...] = ()
    styles: tuple[tuple[str, str], ...] = (("gym_memory.draw", "style.css"),)


def packed(value: Any) -> str:
    """Encode a value as base64 of gzipped JSON, deterministically."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def frame(title: str, main: str, links: Iterable[tuple[str, str]] = ()) -> str:
    """Return the main part of a page below a bar with links to other pages."""
    anchors = "".join(f'<a href="{text(href)}">{text(name)}</a>' for name, href in links)
    nav = f'<nav aria-label="Pages">{anchors}</nav>' if anchors else ""
    return (
        f'<header class="bar"><span class="brand">gym-memory</span><h1>{text(title)}</h1>{nav}'
        '<button type="button" id="theme" class="quiet">Theme: auto</button></header>'
        f"<main>{main}</main>"
    )


def inline_page(
    title: str, body: str, assets: Assets, data: Mapping[str, str] | None = None
) -> str:
    """Return a self-contained page, to be opened from disk.

    ``data`` maps names to base64 texts, for ``<script type="text/plain" id=NAME>``.
    """
    scripts = [_static(*name) for name in assets.scripts]
    styles = [_static(*name) for name in assets.styles]
    for source in scripts:
        if "</script" in source.lower() or "<!--" in source:
            raise AssertionError("a script that would end its own element")
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    blocks = [
        f'<script type="text/plain" id="{text(name)}">{content}</script>'
        for name, content in (data or {}).items()
    ]
    head = [
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        *(f"<style{_sheet_id(n)}>{style}</style>" for n, style in enumerate(styles)),
    ]
    return _page(
        title, head, body, [*blocks, *(f"<script>{source}</script>" for source in scripts)]
    )


def linked_page(title: str, body: str, assets: Assets) -> str:
    """Return a page with scripts and styles served under ``/static/``."""
    head = [
        f'<link rel="stylesheet" href="/static/{name}"{_sheet_id(n)}>'
        for n, (_, name) in enumerate(assets.styles)
    ]
    return _page(
        title, head, body, [f'<script src="/static/{name}"></script>' for _, name in assets.scripts]
    )


def _sheet_id(number: int) -> str:
    # without this id, the graph library would add a style element of its own
    return "" if number else ' id="__________cytoscape_stylesheet"'


def _page(title: str, head: Iterable[str], body: str, end: Iterable[str]) -> str:
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            *head,
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{text(title)}</title></head><body>",
            body,
            *end,
            "</body></html>\n",
        ]
    )


def _static(package: str, name: str) -> str:
    return (files(package) / "static" / name).read_text(encoding="utf-8")


def _hashes(sources: Iterable[str]) -> str:
    digests = (hashlib.sha256(source.encode()).digest() for source in sources)
    return " ".join(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests) or "'none'"
