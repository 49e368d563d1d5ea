"""Parse actions into verb, template and names."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gym_memory.graph.schema import DIRECTIONS

__all__ = ["FILLERS", "ParsedAction", "parse_action"]

FILLERS = frozenset(("a", "an", "the", "some", "and"))
"""Words that are never part of a name."""
_PREPOSITIONS = frozenset(
    ("about", "against", "at", "behind", "below", "by", "for", "from", "in", "into", "off", "on",
     "onto", "out", "over", "through", "to", "under", "up", "down", "with")
)  # fmt: skip


class ParsedAction(NamedTuple):
    """A parsed action: verb, template with ``<>`` for each name, and the names."""

    verb: str
    template: str
    names: tuple[str, ...]

    @property
    def form(self) -> str:
        """Return the action with ``<>`` for each name."""
        return f"{self.verb} {self.template}".strip()


@lru_cache(maxsize=100_000)
def parse_action(action: str) -> ParsedAction:
    """Parse an action at its prepositions; names are lower case, without articles.

    >>> parse_action("take red apple from the counter")
    ParsedAction(verb='take', template='<> from <>', names=('red apple', 'counter'))
    >>> parse_action("inventory").names
    ()
    """
    verb, *rest = action.lower().split() or [""]
    names: list[list[str]] = []
    template: list[str] = []
    inside = False
    for word in rest:
        if word in _PREPOSITIONS and not (word in DIRECTIONS and verb == "go"):
            template.append(word)
            inside = False
        elif word not in FILLERS:
            if not inside:
                names.append([])
                template.append("<>")
            names[-1].append(word)
            inside = True
    return ParsedAction(verb, " ".join(template), tuple(" ".join(name) for name in names))
