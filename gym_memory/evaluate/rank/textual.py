"""A policy that gets only the rendered text of a recall, as a control for typed facts.

A player of facts gets ``triples``, which no language model gets. This one gets the text alone. It
reads statements by a grammar of its own, which no memory uses; transcripts of the game's own words
are left to the player's reader of observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.records import Observation, Transition, Triple
from gym_memory.core.text import split_sentences
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, PLAYER

__all__ = ["TextOnly", "read_text"]

_WAY = "|".join(DIRECTIONS)
_RELATION = (
    rf"is (?:{_WAY}) of|is prepared in|is (?:in|on|under|at)|has (?:unexplored )?exit"
    rf"|has (?:{_WAY}) door|needs to be|requires|used for|opens|does not open|contains|mentions"
    r"|was put (?:in|on)|belongs (?:in|on)|is"
)
_TRANSCRIPT = re.compile(r"^(?:\[step \d|>)", re.MULTILINE)
_SAYS = re.compile(r"^(.+?):? says:? (.+)$")
_STATED = re.compile(rf"^(?:the |an? )?(.+?) ({_RELATION}) (?:the |an? )?(.+)$", re.IGNORECASE)
_CLAUSE = re.compile(rf"^({_RELATION}) (.+)$", re.IGNORECASE)
_LEADS = re.compile(rf"\b({_WAY}) leads (?:back )?to ([^;,.]+?)(?: with .*)?$")


def read_text(text: str) -> tuple[Triple, ...]:
    """Return the facts that a recall states before its first transcript entry, in its order."""
    transcript = _TRANSCRIPT.search(text)
    lines = text[: transcript.start() if transcript else None].splitlines()
    return tuple(dict.fromkeys(fact for line in lines for fact in _line(line.strip("-* \t"))))


def _line(line: str) -> Iterator[Triple]:
    said = _SAYS.match(line)
    if said:
        yield Triple(said[1], "says", said[2])
    elif line.startswith("[") and line.count(",") >= 2:
        subject, relation, obj = line.strip("[]").split(",", 2)
        yield Triple(subject.strip(), relation.strip(), obj.strip())
    else:
        for sentence in split_sentences(line, ".", before="A-Z"):
            yield from _facts_of(sentence.removesuffix("."))


def _facts_of(sentence: str) -> Iterator[Triple]:
    head, colon, rest = sentence.partition(": ")
    place = head.lower()
    if place.startswith("from "):
        head, _, rest = sentence[5:].partition(", ")
        for found in filter(None, (_LEADS.search(part) for part in rest.split(";"))):
            yield Triple(found[2], f"is {found[1]} of", head)
    elif place.startswith(("you are in ", "you hold ", "you carry ")):
        for name in sentence.split(" ", 2 if " hold" in place or " carry" in place else 3)[-1:]:
            own = "are in" in place
            for thing in [name] if own else name.split(", "):
                yield Triple(PLAYER, "is in", thing) if own else Triple(thing, "is in", INVENTORY)
    elif colon and place.startswith(("in ", "on ")):
        relation, holder = place.split(" ", 1)
        yield from (Triple(thing, f"is {relation}", holder) for thing in rest.split(", "))
    elif colon:
        for part in rest.split("; "):
            clause = _CLAUSE.match(part)
            if clause:
                yield Triple(head, clause[1].lower(), clause[2])
    elif stated := _STATED.match(sentence):
        yield Triple(stated[1].lower(), stated[2].lower(), stated[3])


class TextOnly(Policy):
    """A policy that plays like another one, given only the text of a recall.

    Args:
        of: The policy, given the facts that :func:`read_text` finds.
    """

    name: ClassVar[str] = "text-only"

    def __init__(self, of: str = "planner"):
        self._player = make_policy(of)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._player.reset(info, seed)

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the other policy's action, given the facts of the text."""
        facts = read_text(obs["memory"])
        seen: Observation = {**obs, "triples": facts, "episodes": (), "lessons": ()}
        action = self._player.act(seen, info)
        self.focus = self._player.focus
        return action

    def update(self, transition: Transition) -> None:
        """Pass on a step."""
        self._player.update(transition)
