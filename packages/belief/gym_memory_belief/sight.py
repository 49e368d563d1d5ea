"""One step as arrays: its words, the nodes that they name, and the nodes that occur together.

Nodes are numbered; number 0 is ``you``. The same arrays feed the updater in numpy and the
training in torch, so both see the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.records import Step
from gym_memory.graph.schema import PLAYER
from gym_memory_belief.reading import (
    Mention,
    Words,
    find_names,
    mentions,
    names_in_action,
    read,
)

__all__ = ["FLAGS", "PAIRS", "SEGMENTS", "Sight", "look", "new_names", "segments"]

Ints = NDArray[np.int32]

SEGMENTS = (("text", 192), ("inventory", 48), ("action", 12))
"""Fields of a step that are read, with the most words kept of each."""
FLAGS = ("text", "inventory", "action", "heading", "valid")
"""Places in which a node is named."""
PAIRS = (
    *("near after", "far after", "near before", "far before"),
    *("action after", "action before", "valid after", "valid before", "same"),
)
"""Relations of two nodes in a step; *after*: the second one comes later."""
_NEAR = 3
"""Most words between two mentions that are near each other."""
_AHEAD = 8
"""Mentions after one that it is linked to, at most, in its sentence."""
_VALID = 120
"""Most valid actions to read."""


class Sight(NamedTuple):
    """A step as arrays.

    Attributes:
        words: The words of each segment.
        named: Segment, word in it, node: of every word of every mention; shape (m, 3).
        flags: 1 where a node is named, shape (nodes, len(FLAGS)), float32.
        links: First node, second node, segment, first word between them, one past the last;
            shape (l, 5).
        pairs: First node, second node, kind out of ``PAIRS``; shape (p, 3), each row once.
    """

    words: tuple[tuple[str, ...], ...]
    named: Ints
    flags: NDArray[np.float32]
    links: Ints
    pairs: Ints


def segments(step: Step) -> tuple[Words, ...]:
    """Return the texts of a step, split."""
    return tuple(read(getattr(step, field), most) for field, most in SEGMENTS)


def new_names(step: Step, known: Mapping[str, object]) -> list[str]:
    """Return the names in a step that are not known yet, each once."""
    found: dict[str, None] = {}
    for action in (*step.valid_actions[:_VALID], step.action):
        for name in names_in_action(action):
            if name not in known:
                found[name] = None
    text, inventory, _ = segments(step)
    for words in (text, inventory):
        both = {**known, **found} if found else known
        for name in find_names(words, both, phrases=not (step.valid_actions or step.done)):
            if name not in known:
                found[name] = None
    return list(found)


@lru_cache(maxsize=4096)
def _named_together(valid_actions: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of each valid action, each once."""
    return tuple(dict.fromkeys(names_in_action(action) for action in valid_actions[:_VALID]))


def look(step: Step, index: Mapping[str, int]) -> Sight:
    """Return the arrays of a step.

    Args:
        step: The step.
        index: Number of every known name, ``you`` with 0 among them.
    """
    texts = segments(step)
    flags = np.zeros((len(index), len(FLAGS)), dtype=np.float32)
    flags[0, 0] = 1.0
    named: list[tuple[int, int, int]] = []
    links: dict[tuple[int, int], tuple[int, int, int]] = {}
    pairs: dict[tuple[int, int, int], None] = {}
    for number, text in enumerate(texts):
        found = [m for m in mentions(text, index) if m.name in index]
        for at, mention in enumerate(found):
            node = index[mention.name]
            flags[node, number] = 1.0
            named += [(number, word, node) for word in range(mention.start, mention.end)]
            _link(text, number, found[at : at + 1 + _AHEAD], index, links, pairs)
    if texts[0].heading in index:
        flags[index[texts[0].heading], 3] = 1.0
    _pair(names_in_action(step.action), index, 4, pairs)
    for names in _named_together(step.valid_actions):
        _pair(names, index, 6, pairs)
        for name in names:
            if name in index:
                flags[index[name], 4] = 1.0
    return Sight(
        tuple(text.words for text in texts),
        _table(named, 3),
        flags,
        _table([(*pair, *between) for pair, between in links.items()], 5),
        _table(pairs, 3),
    )


def _table(rows: object, columns: int) -> Ints:
    return np.array(list(rows), dtype=np.int32).reshape(-1, columns)  # type: ignore[call-overload]


def _link(
    text: Words,
    number: int,
    found: list[Mention],
    index: Mapping[str, int],
    links: dict[tuple[int, int], tuple[int, int, int]],
    pairs: dict[tuple[int, int, int], None],
) -> None:
    """Link a mention to those that follow in its sentence."""
    first, *rest = found
    one = index[first.name]
    for other in rest:
        two = index[other.name]
        if text.sentences[other.start] != text.sentences[first.start]:
            break
        if one != two and (one, two) not in links:
            links[one, two] = (number, first.end, other.start)
            far = int(other.start - first.end > _NEAR)
            pairs[one, two, far] = pairs[two, one, 2 + far] = None


def _pair(
    names: tuple[str, ...],
    index: Mapping[str, int],
    kind: int,
    pairs: dict[tuple[int, int, int], None],
) -> None:
    """Pair the two names of an action; a single one with ``you``."""
    known = [index[name] for name in names[:2] if name in index]
    if len(known) == 1:
        known.insert(0, index[PLAYER])
    if len(known) == 2 and known[0] != known[1]:
        pairs[known[0], known[1], kind] = pairs[known[1], known[0], kind + 1] = None
