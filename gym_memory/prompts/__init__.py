"""Prompts: one text file each, in our own words, with the slots and answer formats of the papers.

A file holds the system message, a line ``---`` and the user message. ``$name`` is a slot; it
stands alone between ``<name>`` and ``</name>``, so that a reader, a model and the scripted server
see where text from the game begins and ends. What never changes comes first, so that a server's
prefix cache can keep it.
"""

from __future__ import annotations

import functools
import re
from importlib import resources
from string import Template

from gym_memory.errors import InvalidArgumentError
from gym_memory.llm.base import Message

__all__ = ["Prompt", "load_prompt", "prompt_names", "read_slots"]

_SLOT = re.compile(r"^<(\w+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"^<(?=/?\w+>$)", re.MULTILINE)


class Prompt:
    """A system message and a user message with slots.

    Args:
        name: The name of its file without ``.txt``.
        source: The text of the file.

    Raises:
        InvalidArgumentError: The text has no line ``---``.
    """

    def __init__(self, name: str, source: str):
        system, found, user = source.partition("\n---\n")
        if not found:
            raise InvalidArgumentError(f"expected a line '---' in the prompt {name!r}")
        self.name = name
        self.system = system.strip()
        self._user = Template(user.strip())
        self.slots = tuple(self._user.get_identifiers())

    def messages(self, **slots: str) -> list[Message]:
        """The chat with the slots filled.

        A line of a value that looks like the tag of a slot is disarmed, so text of a game cannot
        close its slot and go on as part of the prompt.

        Raises:
            KeyError: A slot of the prompt is not given.
        """
        filled = {name: _clean(value) for name, value in slots.items()}
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self._user.substitute(filled)},
        ]


def _clean(value: str) -> str:
    """Text that can be sent: no lone surrogates, no control characters, no tag lines."""
    value = value.encode("utf-8", "replace").decode()
    value = "".join(c if c >= " " or c in "\n\t" else " " for c in value.replace("\r\n", "\n"))
    return _TAG.sub("&lt;", value).strip()


def read_slots(user: str) -> dict[str, str]:
    r"""The slots of a filled user message: the inverse of :meth:`Prompt.messages`.

    >>> read_slots("<plan>\nfind the key\n</plan>")
    {'plan': 'find the key'}
    """
    return {found[1]: found[2] for found in _SLOT.finditer(user)}


@functools.cache
def load_prompt(name: str) -> Prompt:
    """The prompt of that name.

    Raises:
        InvalidArgumentError: There is no such prompt.
    """
    path = resources.files(__name__).joinpath(f"{name}.txt")
    if not path.is_file():
        raise InvalidArgumentError(
            f"expected a prompt, one of {', '.join(prompt_names())}, got {name!r}"
        )
    return Prompt(name, path.read_text(encoding="utf-8"))


def prompt_names() -> tuple[str, ...]:
    """Names of all prompts, sorted."""
    files = (path.name for path in resources.files(__name__).iterdir())
    return tuple(sorted(name[:-4] for name in files if name.endswith(".txt")))
