"""Find a foreign environment's text, task and score, by well-known keys or given paths.

This includes chats as observations, lists of ``{"role": ..., "content": ...}``, and the detection
of dialects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Step, Task, check_bounded
from gym_memory.core.settings import shown
from gym_memory.core.text import letter_words, sentence_spans
from gym_memory.extract import EXTRACTORS, Extractor, get_extractor
from gym_memory.graph import TemporalGraph

__all__ = ["KEYS", "MISSING", "FixedValue", "Given", "ValueSource", "as_actions", "as_flag"]
__all__ += ["as_number", "as_text", "detect_dialect", "explained", "is_chat", "message_text"]
__all__ += ["said"]

Given = str | Callable[[Any, Mapping[str, Any]], Any] | None
"""A path (``info.valid``, ``obs.text``, ``env.actions``), a function of (obs, info), or None."""

MISSING = object()
"""Value of a source without a value."""


class FixedValue(NamedTuple):
    """A constant, given in place of a path."""

    value: Any


KEYS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "observation", "obs", "text_obs", "feedback", "description", "message"),
    "task": (
        *("task", "goal", "objective", "mission", "instruction", "task_description"),
        *("taskDescription", "taskDesc", "question"),
    ),
    "inventory": ("inventory", "inv"),
    "valid_actions": (
        *("valid_actions", "admissible_commands", "admissible_actions", "validActions", "valid"),
        *("legal_actions", "available_actions", "possible_actions"),
    ),
    "score": ("score",),
    "max_score": ("max_score",),
    "won": ("won", "success", "is_success", "task_success", "tasksuccess"),
    "lost": ("lost", "failure", "task_failure", "taskfailure"),
    "accepted": ("is_action_valid",),
}
"""Well-known keys of text environments, in the order of trying."""

_PATH_ROOTS = ("obs", "info", "env")


class ValueSource:
    """A source of one value of a foreign environment.

    Without ``given``, it tries the keys of :data:`KEYS` at every step, first in a Dict observation,
    then in the info.

    Args:
        name: A key of :data:`KEYS`.
        given: See :data:`Given`; or a constant.
        env: The foreign environment, for paths from ``env``.
    """

    def __init__(self, name: str, given: Given | FixedValue, env: Any):
        self.name, self._env = name, env
        self.given, self.fixed = given is not None, isinstance(given, FixedValue)
        self._call = given if callable(given) else None
        self._path: tuple[str, ...] = ()
        self.where = ""
        """Place of the last value; empty if none was found."""
        if self._call is not None:
            self.where = getattr(given, "__name__", type(given).__name__)
        elif isinstance(given, FixedValue):
            self._call, self.where = lambda obs, info: given.value, "given"
        elif isinstance(given, str):
            self._path = tuple(given.split("."))
            if self._path[0] not in _PATH_ROOTS or "" in self._path:
                raise InvalidArgumentError(
                    f"expected {name} as a path such as 'info.{KEYS[name][0]}', 'obs.KEY' or "
                    f"'env.METHOD', or a function of (obs, info), got {given!r}"
                )
            self.where = given
        elif given is not None:
            raise InvalidArgumentError(
                f"expected {name} as a path or a function of (obs, info), got {given!r}"
            )

    def __call__(self, obs: Any, info: Mapping[str, Any]) -> Any:
        """Return the present value, or :data:`MISSING`."""
        if self._call is not None:
            return self._call(obs, info)
        if self._path:
            return self._follow(obs, info)
        for place, holder in (("obs", obs), ("info", info)):
            if isinstance(holder, Mapping):
                for key in KEYS[self.name]:
                    if holder.get(key) is not None:
                        self.where = f"{place}.{key}"
                        return holder[key]
        return MISSING

    def _follow(self, obs: Any, info: Mapping[str, Any]) -> Any:
        value: Any = {"obs": obs, "info": info, "env": self._env}[self._path[0]]
        for part in self._path[1:]:
            if isinstance(value, Mapping):
                value = value.get(part, MISSING)
            else:
                value = getattr(value, part, MISSING)
        return value() if self._path[0] == "env" and callable(value) else value


def as_text(name: str, value: Any) -> str:
    """Convert a string, bytes, or a list of lines to text."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Sequence) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    raise InvalidArgumentError(
        f"expected {name} as text, got {type(value).__name__}: say where the text is, by "
        f"{name}='obs.KEY', {name}='info.KEY' or a function of (obs, info)"
    )


def as_actions(value: Any) -> tuple[str, ...]:
    """Convert a list of valid actions without empty ones; None becomes an empty list."""
    if value is MISSING or value is None:
        return ()
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        actions = tuple(value)
        if all(issubclass(kind, str) for kind in set(map(type, actions))):
            return tuple(str(action) for action in actions if action.strip())
    raise InvalidArgumentError(
        f"expected valid_actions as a list of texts, got {value!r:.200}: say where they are, by "
        "valid_actions='info.KEY' or a function of (obs, info)"
    )


def as_number(name: str, value: Any) -> float:
    """Convert a value to a plain number."""
    with contextlib.suppress(OverflowError, TypeError, ValueError):
        return check_bounded(name, float(value))
    return check_bounded(name, value)  # the error shows the value


def as_flag(name: str, value: Any) -> bool:
    """Convert a value equal to True or False."""
    if value not in (True, False):
        raise InvalidArgumentError(f"expected {name} as True or False, got {shown(value)}")
    return bool(value)


def is_chat(obs: Any) -> bool:
    """True if an observation is a list of messages."""
    return isinstance(obs, list | tuple) and all(
        isinstance(message, Mapping) and {"role", "content"} <= set(message) for message in obs
    )


def said(chat: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of all messages but the assistant's and, if others are left, the system's."""
    messages = [message for message in chat if message["role"] != "assistant"]
    others = [message for message in messages if message["role"] != "system"] or messages
    return "\n\n".join(filter(None, map(message_text, others)))


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message, which may have parts or, beside a tool call, none."""
    content = message["content"]
    if isinstance(content, list | tuple):
        parts = (part if isinstance(part, Mapping) else {"text": part} for part in content)
        texts = (part.get("text") for part in parts if part.get("type", "text") == "text")
        return "\n".join(text for text in texts if isinstance(text, str))
    return "" if content is None else as_text("text", content)


GENERAL = "plain"
_MIN_SHARE = 0.15
"""Least share of a text that a dialect's rules must explain."""
_MIN_SHARE_OF_GENERAL = 0.6
"""Least ratio to the share that the general rules explain, which read more words."""
_MAX_TEXT_CHARS = 20_000
_LOOK = "look"
"""Action of the texts, since the goal in a first text is plain English in any dialect."""


@lru_cache(maxsize=256)
def detect_dialect(*texts: str) -> str:
    """Detect the dialect of the first texts of an episode; ``plain`` if no other fits.

    Compare the share of words in sentences from which each dialect's rules read a fact. Rules that
    read any English (``general = True`` on their class) do not compete.

    >>> detect_dialect("The weather is fine today.")
    'plain'
    """
    scores = {name: explained(texts, rules) for name, rules in _candidates().items()}
    own = explained(texts, get_extractor(GENERAL))
    best = max(scores, key=lambda name: scores[name], default=GENERAL)
    return (
        best if scores.get(best, 0.0) >= max(_MIN_SHARE, own * _MIN_SHARE_OF_GENERAL) else GENERAL
    )


@cache
def _candidates() -> dict[str, Extractor]:
    found = {}
    for name in EXTRACTORS.names():
        try:
            rules = get_extractor(name)
        except ImportError:  # without its package, no text has this dialect
            continue
        if not getattr(rules, "general", False):
            found[name] = rules
    return found


def explained(texts: tuple[str, ...], rules: Extractor) -> float:
    """Return the share of words in sentences from which rules read a fact, in [0, 1].

    A single sentence may fit by chance and explains nothing.
    """
    from gym_memory.extract.draft import apply  # slow, so not at the top

    graph, words, hits = TemporalGraph(), 0, list[int]()
    for t, text in enumerate(text[:_MAX_TEXT_CHARS] for text in texts):
        extraction = rules.extract(Step(t, text, _LOOK), graph, Task("", ""))
        apply(extraction, graph, t)
        spans = [(m.start, m.end) for m in extraction.mentions if m.start >= 0]
        for sentence, first in sentence_spans(text):
            weight = len(letter_words(sentence, least=2))
            words += weight
            last = first + len(sentence)
            if any(start < last and end > first for start, end in spans):
                hits.append(weight)
    return sum(hits) / words if len(hits) > 1 else 0.0
