"""Whole pages: one that carries everything it needs, and one whose parts a server gives."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from gym_memory.core.html.text import text

__all__ = ["Assets", "inline_page", "linked_page", "packed"]


class Assets(NamedTuple):
    """Scripts and styles of a page, each as the package and the name of the file in it."""

    scripts: tuple[tuple[str, str], ...] = ()
    styles: tuple[tuple[str, str], ...] = (("gym_memory.core.html", "style.css"),)


def packed(value: Any) -> str:
    """Return a value as base64 of gzip of JSON; the same value gives the same text."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def inline_page(
    title: str, body: str, assets: Assets, data: Mapping[str, str] | None = None
) -> str:
    """Return a page that needs nothing else, to be opened from a disk.

    ``data`` maps names to texts of base64, for ``<script type="text/plain" id=NAME>``.
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
    """Return a page whose scripts and styles the server gives under ``/static/``."""
    head = [
        f'<link rel="stylesheet" href="/static/{name}"{_sheet_id(n)}>'
        for n, (_, name) in enumerate(assets.styles)
    ]
    return _page(
        title, head, body, [f'<script src="/static/{name}"></script>' for _, name in assets.scripts]
    )


def _sheet_id(number: int) -> str:
    # The graph library adds a style of its own unless it finds this id; ours has the rule.
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
