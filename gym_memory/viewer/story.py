"""Turn recorded rows into the content of an episode's page, step by step.

A page loads the light part of an episode at once (actions, scores, when each fact was held true)
and the heavy part (texts, prompts, recalled facts) when it is viewed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.errors import ResultsError
from gym_memory.core.records import Triple, value_of
from gym_memory.core.trajectory import Row
from gym_memory.graph.map import Square, lay_out
from gym_memory.graph.schema import (
    EXIT,
    LOCATIONS,
    PLAYER,
    UNEXPLORED,
    VERBATIM,
    direction_of,
    door_relation,
    is_contents,
)

__all__ = ["CHUNK", "Beat", "Story", "build_story"]

CHUNK = 20
"""Number of steps whose heavy part a page loads together."""
_LISTS = ("why", "episodes", "why_episodes", "lessons", "why_lessons", "valid_actions")


class Beat(NamedTuple):
    """An addition of one row to a story, as plain values.

    ``light`` is for the timeline, ``heavy`` the texts, prompts and recalls. ``facts`` are new ones,
    whose numbers continue from the last; ``came`` has numbers of facts that began, ``went`` pairs
    of a number and what ended the fact.
    """

    light: dict[str, Any]
    heavy: dict[str, Any]
    facts: list[dict[str, str]]
    came: list[int]
    went: list[list[Any]]


class Story:
    """An episode that grows row by row, one beat per step.

    Each of its ``facts`` has ``when``: intervals ``[from, to or None, by]``; ``squares`` are those
    of the places. Unless the rows have the changes of a graph, a fact is held true while it is
    recalled.
    """

    def __init__(self) -> None:
        self.beats: list[Beat] = []
        self.facts: list[dict[str, Any]] = []
        self.squares: dict[str, Square] = {}
        self.keeps_graph = False
        self._number: dict[Triple, int] = {}  # numbers of the story, each fact once
        self._numbers: list[int] = []  # number of a fact in the rows to its number here
        self._live: dict[int, None] = {}

    def name(self, triples: Iterable[Sequence[str]]) -> list[dict[str, Any]]:
        """Number the facts that a row names first; return the new ones."""
        new = []
        for parts in triples:
            triple = Triple(*parts)
            number = self._number.setdefault(triple, len(self.facts))
            self._numbers.append(number)
            if number == len(self.facts):
                fact: dict[str, Any] = {**_fact(triple), "when": []}
                self.facts.append(fact)
                new.append(fact)
        return new

    def add(self, row: Row) -> Beat:
        """Add a row whose facts were named."""
        return self.take(row, self.name(row.get("facts", ())))

    def take(self, row: Row, named: list[dict[str, Any]]) -> Beat:
        """Add a row; ``named`` are the facts that are new in it."""
        t = len(self.beats)
        recalled = [self._numbers[number] for number in row.get("recalled", ())]
        self.keeps_graph = self.keeps_graph or bool(row.get("came") or row.get("went"))
        if self.keeps_graph:
            came = [self._numbers[number] for number in row.get("came", ())]
            went = [[self._numbers[number], by] for number, by in row.get("went", ())]
        else:
            seen = dict.fromkeys(recalled)
            came = [number for number in seen if number not in self._live]
            went = [[number, "no longer recalled"] for number in self._live if number not in seen]
        for number, by in went:
            if number in self._live:
                del self._live[number]
                self.facts[number]["when"][-1][1:] = [t, by]
        for number in came:
            if number not in self._live:
                self._live[number] = None
                self.facts[number]["when"].append([t, None, ""])
        calls = row.get("calls", [])
        stats = row.get("stats", {})
        beat = Beat(_light(row, stats, calls), _heavy(row, stats, recalled, calls), [], came, went)
        beat.facts.extend({k: v for k, v in fact.items() if k != "when"} for fact in named)
        self.beats.append(beat)
        return beat

    def map(self) -> dict[str, Square]:
        """Return squares of the places known so far; those that were given stay."""
        known = (Triple(fact["s"], fact["r"], fact["o"]) for fact in self.facts)
        self.squares = lay_out(known, self.squares)
        return self.squares

    def light(self) -> dict[str, Any]:
        """Return the part of an episode that a page loads at once."""
        return {
            "steps": [beat.light for beat in self.beats],
            "facts": self.facts,
            "places": self.map(),
            "keeps_graph": self.keeps_graph,
            "chunk": CHUNK,
        }

    def chunk(self, number: int) -> list[dict[str, Any]]:
        """Return the heavy part of the steps from ``number * CHUNK`` on; empty after the end."""
        return [beat.heavy for beat in self.beats[number * CHUNK : (number + 1) * CHUNK]]

    @property
    def n_chunks(self) -> int:
        """Return the number of chunks."""
        return -(-len(self.beats) // CHUNK)


def build_story(rows: Iterable[Row]) -> Story:
    """Build the story of the rows of one episode, without steps that were taken back."""
    story = Story()
    kept: list[tuple[Row, list[dict[str, Any]]]] = []
    try:
        for row in rows:
            while kept and kept[-1][0]["t"] >= row["t"]:
                kept.pop()
            # Facts keep their numbers where the row that named them was taken back.
            kept.append((row, story.name(row.get("facts", ()))))
        for row, named in kept:
            story.take(row, named)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ResultsError(
            f"expected the rows of a recorded episode: {type(error).__name__}: {error}"
        ) from error
    if not kept:
        raise ResultsError("expected the rows of a recorded episode, got none")
    return story


def _light(row: Row, stats: Mapping[str, Any], calls: Sequence[Any]) -> dict[str, Any]:
    return {
        "t": row["t"],
        "action": row["action"],
        "reward": row["reward"],
        "score": value_of(row),
        "points": [row["score"], row["max_score"]],
        "ok": bool(row["is_action_valid"]),
        "end": _end(row),
        "tokens": stats.get("tokens", 0),
        "ms": stats.get("ms"),
        "cost": sum(call["cost_usd"] or 0.0 for call in calls),
        "unpriced": any(call["cost_usd"] is None for call in calls),
        "substitute": row.get("substitute"),
        "prompt": sum(call["tokens"]["prompt"] for call in calls),
        "completion": sum(call["tokens"]["completion"] for call in calls),
    }


def _end(row: Row) -> str:
    if row["success"]:
        return "won"
    if row["lost"]:
        return "lost"
    return "out of steps" if row["truncated"] or row["terminated"] else ""


def _heavy(
    row: Row, stats: Mapping[str, Any], recalled: list[int], calls: Sequence[Any]
) -> dict[str, Any]:
    return {
        "text": row["text"],
        "inventory": row["inventory"],
        "recalled": recalled,
        **{name: row.get(name, "") for name in ("memory", "focus")},
        **{name: row.get(name, []) for name in _LISTS},
        "plan": {str(name): str(note) for name, note in (row.get("plan") or {}).items()},
        "stats": dict(stats),
        "calls": list(calls),
    }


def _fact(triple: Triple) -> dict[str, str]:
    kind, direction = _kind(triple)
    return {
        "s": triple.subject,
        "r": triple.relation,
        "o": triple.object,
        "kind": kind,
        "d": direction,
    }


def _kind(triple: Triple) -> tuple[str, str]:
    """Return the kind of a fact on a map, and its direction."""
    subject, relation, obj = triple
    direction = direction_of(relation)
    if direction is not None:
        return "way", direction
    if relation in LOCATIONS:
        return ("here" if subject == PLAYER else "in"), ""
    if is_contents(relation):
        return "holds", ""
    if relation in (EXIT, UNEXPLORED):
        return "exit", obj
    if relation.startswith("has ") and relation.endswith(" door"):
        direction = relation[len("has ") : -len(" door")]
        if relation == door_relation(direction):
            return "door", direction
    if relation == "is":
        return "is", ""
    return ("text" if relation in VERBATIM else "other"), ""
