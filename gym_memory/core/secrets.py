"""Removal of secrets from messages, logs and results.

A secret is the value of an environment variable with a name like ``API_KEY``, a value given to
:func:`add_secret`, or the user part of a URL.
"""

from __future__ import annotations

import os
import re
from typing import Any

__all__ = ["HIDDEN", "ScrubbedStream", "add_secret", "has_secret", "scrubbed", "without_known"]

HIDDEN = "***"
_NAMED_LIKE_ONE = re.compile(
    r"(?:^|_)(?:API_?)?(?:KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIALS?)(?:_|$)|SECRET|PASSW|APIKEY",
    re.IGNORECASE,
)
_LEAST_CHARS = 6
_PLAIN_WORD = re.compile(r"[a-z]+(?:[-_][a-z]+)*|[A-Z]+", re.ASCII)
"""A placeholder such as ``ollama`` or ``EMPTY``, which users of servers without keys set."""
_IN_URL = re.compile(r"(?<=://)[^\s/?#@'\"]+@")
_SECRET_NAME = (
    r"[\w-]*(?:key|token|secret|passw(?:or)?d|signature|credentials?|auth(?:orization)?)"
    r"(?:[_-]?(?:id|\d+))?"
)
"""Name of a parameter for a secret: ``api_key``, but not ``max_tokens`` or ``author``."""
_IN_QUERY = re.compile(rf"(?<=[?&;])({_SECRET_NAME}=)(?!value\b)[^&;\s'\"#]+", re.IGNORECASE)
_WRITTEN_OUT = re.compile(
    r"postgres\w*://[^\s?@]*:\S+@|https?://[^\s/?#@]*@|passw(?:or)?d=."
    rf"|://\S*[?&;]{_SECRET_NAME}=.",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?<=\bBearer )(?!\*)[^\s'\"\\,;}]+")
_added: set[str] = set()


def add_secret(value: str) -> str:
    """Register a secret of this process, such as a key from another variable; return it."""
    if _is_secret(value):
        _added.add(value.strip())
    return value


def scrubbed(text: Any) -> str:
    """Return a text with each secret of this process replaced by ``***``.

    >>> scrubbed("no answer from https://me:word@host/v1?api_key=12345&n=1")
    'no answer from https://***@host/v1?api_key=***&n=1'
    """
    text = without_known(str(text))
    text = _IN_URL.sub(f"{HIDDEN}@", text)
    return _BEARER.sub(HIDDEN, _IN_QUERY.sub(rf"\1{HIDDEN}", text))


def has_secret(text: str) -> bool:
    """True if a text has a URL with a user, password or key, or a database password.

    >>> has_secret("https://host/v1?api_key=12345"), has_secret("drrn?max_tokens=5&keys=2")
    (True, False)
    """
    return _WRITTEN_OUT.search(text) is not None


def without_known(text: str) -> str:
    """Return a text without the values of this process's keys."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _secrets() -> set[str]:
    found = {v for name, v in os.environ.items() if _NAMED_LIKE_ONE.search(name) and _is_secret(v)}
    whole = _added | {value.strip() for value in found}
    # A key with a line break inside may be printed in parts, or with the break escaped.
    return whole.union(*(filter(_is_secret, value.split()) for value in whole))


def _is_secret(value: str) -> bool:
    value = value.strip()
    named = value.startswith(("sk-", "hf_"))
    return len(value) >= _LEAST_CHARS and (named or not _PLAIN_WORD.fullmatch(value))


class ScrubbedStream:
    """A text stream that prints no secrets, for logs of processes."""

    def __init__(self, stream: Any):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without its secrets."""
        self._stream.write(scrubbed(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
