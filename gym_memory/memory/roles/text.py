"""Records as text of a prompt, and the text of an answer as records.

Readers take any text of a model in linear time; they raise :class:`ModelError` for nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from gym_memory.core.errors import ModelError
from gym_memory.core.records import Outcome, Step, Triple
from gym_memory.core.text import split_reward
from gym_memory.core.tokens import CHARS_PER_TOKEN, fitting_chars, size_of
from gym_memory.llm.base import json_values

__all__ = ["clip", "clip_start", "fact_lines", "numbered", "prose", "read_flag", "read_items"]
__all__ += ["read_number", "read_replacements", "read_triple_lists", "read_triples"]
__all__ += ["score_in_words", "some", "trace_text", "triples_json", "unmarked"]

F = TypeVar("F")

_MAX_PART_CHARS = 400
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):]|\[\d{1,3}\]:?)\s+")
_CLOSES = {'"': '"', "“": "”"}
_PAIRS = {**_CLOSES, "'": "'", "`": "`", "‘": "’"}


def clip(text: str, tokens: int) -> str:
    """Return the beginning of ``text`` within ``tokens``, with a mark where it is cut."""
    end = fitting_chars(text, tokens)
    return text if end == len(text) else text[:end] + " [...]"


def clip_start(text: str, tokens: int) -> str:
    """Return the end of ``text`` within ``tokens``, with a mark where it is cut."""
    kept = fitting_chars(text[::-1], tokens)
    return text if kept == len(text) else "[...] " + text[len(text) - kept :]


def trace_text(trace: Sequence[Step], tokens: int, *, first: bool = False) -> str:
    """Return steps as numbered thoughts, actions and observations.

    A longer text than ``tokens`` keeps its latest steps, or with ``first`` its earliest.
    """
    room = tokens * CHARS_PER_TOKEN
    pieces: list[str] = []
    for index in range(len(trace)) if first else reversed(range(len(trace))):
        step = trace[index]
        thought = f"Thought: {' '.join(step.thought.split())}\n" if step.thought else ""
        action = f"{thought}Action: {step.action}\n" if step.action else ""
        reward = f" (reward {step.reward:+g})" if step.reward else ""
        text = split_reward(step.text)[0].strip()
        piece = f"Step {index}\n{action}Observation: {text}{reward}"
        if not pieces:
            piece = clip(piece, tokens)
        room -= size_of(piece) + 1
        if room < 0 and pieces:
            pieces.append(f"[{'later' if first else 'earlier'} steps are left out]")
            break
        pieces.append(piece)
    return "\n".join(pieces if first else reversed(pieces))


def fact_lines(triples: Iterable[Triple]) -> str:
    """Return one fact per line, its parts separated by commas; a part with a comma is quoted."""
    return "\n".join(", ".join(_quoted(part) for part in triple) for triple in triples)


def _quoted(part: str) -> str:
    part = " ".join(part.split())
    return f'"{part.replace(chr(34), chr(39))}"' if re.search("[,;]", part) else part


def numbered(items: Iterable[object]) -> str:
    """Return a numbered list, one item per line."""
    return "\n".join(f"{n}. {' '.join(str(item).split())}" for n, item in enumerate(items, 1))


def score_in_words(outcome: Outcome) -> str:
    """Describe the score of a trial for a model: CLIN's seven rules in our own words."""
    if outcome.normalized_score is None:
        return f"Final score: {outcome.score:g} points; the best score is unknown."
    score = round(100 * outcome.normalized_score)
    if outcome.lost:
        words = "The agent made a critical mistake that ended the task."
    elif outcome.score < 0:
        words = "The agent did worse than doing nothing: its actions cost points."
    elif score < 20:
        words = "The agent made next to no progress."
    elif score < 50:
        words = "The agent made some progress and was far from done."
    elif score < 90:
        words = "The agent did a good part of the task and left it unfinished."
    elif score < 100:
        words = "The agent nearly completed the task: only a little was missing."
    else:
        words = "The agent completed the task."
    return f"Final score: {score} of 100. {words}"


def unmarked(line: str) -> str:
    """Return a line without its bullet or number."""
    return _BULLET.sub("", line, count=1).strip()


def _split(text: str, separators: str) -> Iterator[str]:
    start, closing = 0, ""
    for index, char in enumerate(text):
        if closing:
            if char == closing or char == "\n":
                closing = ""
        elif char in _CLOSES and text.find(_CLOSES[char], index + 1, index + 2000) > 0:
            closing = _CLOSES[char]
        if not closing and char in separators:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def _bare(part: str) -> str:
    part = " ".join(part.split())
    for _ in range(3):
        part = part.strip(" *.")
        if len(part) < 2 or _PAIRS.get(part[0]) != part[-1]:
            break
        part = part[1:-1]
    return part


def _triple(text: str) -> Triple | None:
    """Read one fact; what follows the second comma is the object, commas and all."""
    text = unmarked(text).strip(" \t.()[]{}<>|")
    parts = list(_split(text, ","))
    if len(parts) == 1:
        text = _bare(text)
        parts = text.split("|" if text.count("|") == 2 else ",")
    if len(parts) < 3:
        return None
    triple = Triple(_bare(parts[0]), _bare(parts[1]), _bare(",".join(parts[2:])))
    if not all(0 < len(part) <= _MAX_PART_CHARS for part in triple):
        return None
    return None if "none" in (triple.subject.lower(), triple.object.lower()) else triple


def some(found: F, what: str, text: str) -> F:
    """Return the items found in an answer; raises ModelError if there are none."""
    if not found:
        raise ModelError("answer", f"expected {what}, got {text[:200]!r}")
    return found


def read_triples(text: str) -> list[Triple]:
    """Read facts written as ``subject, relation, object; subject, relation, object``, or ``none``.

    >>> read_triples("1. apple, is in, fridge; note, says, go east, then north")[1].object
    'go east, then north'
    """
    facts = [fact for piece in _split(text, ";\n") if (fact := _triple(piece))]
    if not re.match(r"\W*(none|no (new )?(facts?|triples?))\b", text, re.IGNORECASE):
        some(facts, "facts", text)
    return list(dict.fromkeys(facts))


def read_replacements(text: str) -> list[tuple[Triple, Triple | None]]:
    """Read pairs (outdated, new or None) written as ``[[old -> new], [old -> new]]``."""
    pairs = []
    for piece in _split(text, "];\n"):
        old, arrow, new = piece.partition("->")
        fact = _triple(old.replace("[", "").lstrip(" ,")) if arrow else None
        if fact is not None:
            pairs.append((fact, _triple(new)))
    if not re.search(r"\[\s*\]|\bnone\b|\bnothing\b", text, re.IGNORECASE):
        some(pairs, "replacements", text)
    return pairs


def read_triple_lists(text: str) -> list[Triple]:
    """Read facts written as a JSON list of lists of three strings."""
    for value in json_values(text):
        if isinstance(value, list) and all(isinstance(row, list) for row in value):
            rows = [row for row in value if len(row) == 3 and all(isinstance(p, str) for p in row)]
            if rows or not value:
                triples = [Triple(*(" ".join(part.split()) for part in row)) for row in rows]
                kept = [t for t in triples if all(0 < len(p) <= _MAX_PART_CHARS for p in t)]
                return list(dict.fromkeys(kept))
    raise ModelError("answer", f"expected a JSON list of triples, got {text[:200]!r}")


def prose(text: str) -> str:
    """Read an answer in free text."""
    if not text.strip():
        raise ModelError("answer", "expected text, got an empty answer")
    return text.strip()


def read_items(text: str, limit: int = 50) -> list[str]:
    """Read the items of a numbered or bulleted list, at most ``limit`` of them."""
    lines = (unmarked(line) for line in text.split("\n") if _BULLET.match(line))
    items = [line[:2000] for line in islice(filter(None, lines), limit)]
    return some(items, "a numbered list", text)


def read_flag(text: str) -> bool:
    """Read True or False, the first of the two words in the answer."""
    found = re.findall(r"\b(?:true|false|yes|no)\b", text, re.IGNORECASE)
    return some(found, "True or False", text)[0].lower() in ("true", "yes")


def read_number(text: str, low: int, high: int) -> int:
    """Read the first whole number of the answer, in [low, high]."""
    found = re.search(r"-?\b\d{1,9}\b", text)
    if found is None or not low <= int(found[0]) <= high:
        raise ModelError("answer", f"expected a number from {low} to {high}, got {text[:200]!r}")
    return int(found[0])


def triples_json(triples: Iterable[Triple]) -> str:
    """Return facts as a JSON list of lists, one per line."""
    rows = [json.dumps(list(triple), ensure_ascii=False) for triple in triples]
    return "[\n" + ",\n".join(rows) + "\n]" if rows else "[]"
