"""The response cache: an exact repeat of a call is answered from disk.

One SQLite file that threads and processes may share. The first answer to a call is the one that
is kept, so whoever asks the same at the same time goes on with the same answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from typing import Any

from gym_memory.core.errors import StoreError
from gym_memory.llm.base import Completion, Tokens

__all__ = ["ResponseCache", "call_key"]

_TABLE = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, answer TEXT NOT NULL, finish TEXT NOT NULL,
    prompt INTEGER NOT NULL, cached INTEGER NOT NULL, completion INTEGER NOT NULL
) WITHOUT ROWID
"""


def call_key(call: Mapping[str, Any]) -> str:
    """The identity of a call: a hash of its canonical JSON (endpoint, model, messages, parameters).

    >>> call_key({"a": 1, "b": 2}) == call_key({"b": 2, "a": 1})
    True
    """
    text = json.dumps(call, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class ResponseCache:
    """Answers by call.

    Args:
        path: The SQLite file; made with its folders when absent.

    Raises:
        StoreError: The file cannot be opened or is something else.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            # Prompts and answers are the user's alone; SQLite gives its log the same permissions.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(
                self.path, timeout=60, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"expected a response cache at {self.path!r}: {error}") from error

    def get(self, key: str) -> Completion | None:
        """The answer kept for a call, as a hit."""
        with self._lock:
            row = self._db.execute(
                "SELECT answer, finish, prompt, cached, completion FROM responses WHERE key = ?",
                (key,),
            ).fetchone()
        if row is None:
            return None
        return Completion(row[0], Tokens(*row[2:]), row[1], hit=True)

    def put(self, key: str, completion: Completion) -> Completion:
        """Keep an answer unless the call has one already; gives the answer to use."""
        with self._lock:
            kept = self._db.execute(
                "INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?)",
                (key, completion.text, completion.finish, *completion.tokens),
            ).rowcount
        if kept:
            return completion
        first = self.get(key)
        assert first is not None
        return first._replace(hit=False)

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM responses").fetchone()[0])

    def close(self) -> None:
        """Close the file; the cache must not be used any more."""
        with self._lock:
            self._db.close()
