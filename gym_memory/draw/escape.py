"""Escape foreign text for HTML, JSON and terminals."""

from __future__ import annotations

import html
import re

__all__ = ["cut", "json_visible", "text", "visible"]

# Control characters but tab and newline; zero width; marks that turn the direction of writing.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def visible(value: object) -> str:
    r"""Replace invisible characters, and those that reverse the text direction, by their codes.

    >>> visible("a\x1b[0mb")
    'a⟨U+001B⟩[0mb'
    """
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(value))


def json_visible(value: str) -> str:
    r"""Escape the same characters in a JSON text, without changing its value.

    >>> json_visible('"a\x9b0m"')
    '"a\\u009b0m"'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def without_tags(document: str) -> str:
    """Escape HTML tags in a Markdown document.

    >>> without_tags("a < b, <b>c</b>")
    'a < b, &lt;b>c&lt;/b>'
    """
    return _TAG.sub("&lt;", document)


def text(value: object, limit: int = 0) -> str:
    """Escape a text for HTML; ``limit`` cuts it after a number of characters.

    >>> text("<b>")
    '&lt;b&gt;'
    """
    return html.escape(visible(cut(str(value), limit) if limit else value))


def cut(value: str, limit: int = 160) -> str:
    """Truncate a text.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return value if len(value) <= limit else value[: limit - 1] + "…"
