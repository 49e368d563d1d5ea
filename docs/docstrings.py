"""Convert docstrings to pages: doctests as code, Sphinx's roles as plain names."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":\w+:`[~.]*(?:gym_memory\.)?([\w.]+)`")
DOCTEST = re.compile(r"^([ ]*)>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


class Docstrings(griffe.Extension):
    """An extension that rewrites every docstring before parsing."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one module, class, function or attribute."""
        if not obj.is_alias and obj.docstring is not None:
            text = ROLE.sub(r"`\1`", obj.docstring.value)
            text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
            if not re.search(r"^Examples:$", text, re.MULTILINE):  # that section knows doctests
                text = DOCTEST.sub(r"\1```pycon\n\g<0>\n\1```", text)
            obj.docstring.value = text
