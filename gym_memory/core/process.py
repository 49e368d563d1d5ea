"""Python processes that import from the same folders, but never from the working folder.

Python puts the working folder first on the path of ``python -c`` and ``python -m``, where a
``json.py`` beside a downloaded game would run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator

__all__ = ["child_environment", "python_command", "without_secrets"]

_START = (
    "import sys, os, json, importlib; os.environ['PYTHONSAFEPATH'] = '1'; "
    "sys.path[:] = json.loads(sys.argv.pop(1)); "
    "module, _, name = sys.argv.pop(1).partition(':'); "
    "getattr(importlib.import_module(module), name)(*sys.argv[1:])"
)
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|_URL$|_DSN$", re.I)


def python_command(entry: str, *words: str) -> list[str]:
    """Return the command that calls ``module:function`` with words in a new interpreter.

    It imports from the folders of this process, in order. Its own child processes do not import
    from the working folder either.
    """
    path = [folder or os.getcwd() for folder in sys.path]
    return [sys.executable, "-P", "-c", _START, json.dumps(path), entry, *words]


def without_secrets() -> dict[str, str]:
    """Return the environment variables for a process that plays an untrusted game.

    They exclude keys, tokens, passwords, and URLs, which may contain one.
    """
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}


@contextlib.contextmanager
def child_environment(**values: str) -> Iterator[None]:
    """Set variables for processes that a library starts inside, and keep their path safe."""
    values = {"PYTHONSAFEPATH": "1", **values}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
