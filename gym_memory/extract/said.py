"""Provenance: which facts of a step the game reports, and which are the words of a text in it.

A note, a sign or a speaker may state anything. Its words inform, but they neither move the agent
nor give it things, and they never replace what was seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from gym_memory.core.records import Step, Task
from gym_memory.extract.base import Extraction
from gym_memory.extract.notes import is_readable
from gym_memory.extract.notes.words import clean_name
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER, VERBATIM

__all__ = ["SPEECH", "attributed", "is_trusted", "trusted", "without_words", "written_on"]

SPEECH = "speech"
"""Source of facts in quotation marks."""
_UNTRUSTED = "(a text that the goal does not name)"
_LOOKING = re.compile(
    r"(?:(?P<read>read(?! next$))|examine|x|inspect|look (?:at|in)) (?P<name>.+)", re.I
)
_QUOTE = re.compile(
    r'"(?=[^"\w]*\w+[^"\w]+\w+[^"\w]+\w)[^"]*"'
    r"|“(?=[^“”\w]*\w+[^“”\w]+\w+[^“”\w]+\w)[^“”]*”"
)
"""Quotation of three words or more; fewer are a name."""

Extract = Callable[[Any, Step, TemporalGraph, Task], Extraction]


@lru_cache(maxsize=1024)
def written_on(action: str) -> str:
    """Return the name of the text that an action reads; empty if it reads none.

    >>> written_on("examine note 2"), written_on("read plate"), written_on("examine plate")
    ('note 2', 'plate', '')
    """
    looked = _LOOKING.fullmatch(" ".join(action.split()))
    name = clean_name(looked["name"]) if looked else ""
    return name if looked and (looked["read"] or is_readable(name)) else ""


def attributed(extract: Extract) -> Extract:
    """Decorate the method ``extract`` of rules: note in ``Extraction.said`` who says what.

    All facts that the text of a reading step states are said by what is read, except those about
    itself. Words of a text about the agent are dropped, and end no fact.
    """

    @wraps(extract)
    def extract_attributed(self: Any, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        found = extract(self, step, graph, task)
        source = written_on(step.action)
        for mention in found.mentions:
            if not source and mention.triple.relation in VERBATIM and mention.start >= 0:
                source = mention.triple.subject
        speaks = '"' in step.text or "“" in step.text
        quotes = [q.span() for q in _QUOTE.finditer(step.text)] if speaks else []
        if not (source or quotes or found.said):
            return found
        said, kept = dict(found.said), []
        for mention in found.mentions:
            (subject, relation, obj), start, end = mention
            if source and start >= 0 and (subject != source or relation in VERBATIM):
                said.setdefault(mention.triple, source)
            elif start >= 0 and any(first < end and start < stop for first, stop in quotes):
                said.setdefault(mention.triple, SPEECH)
            about_agent = subject == PLAYER or (obj == INVENTORY and relation in LOCATIONS)
            if not (about_agent and mention.triple in said):
                kept.append(mention)
        return Extraction(tuple(kept), () if source else found.outdated, said)

    return extract_attributed


def is_trusted(source: str, goal: str) -> bool:
    """True of the game itself (no source), and of a text that the goal names.

    A goal that names no text, or is a question, may depend on any.

    >>> is_trusted("cookbook", "Read the cookbook."), is_trusted("note", "Read the cookbook.")
    (True, False)
    >>> is_trusted("note", "Find the treasure.")
    True
    """
    if not source or goal.rstrip().endswith("?"):
        return True
    named = re.search(rf"\b{re.escape(source)}\b", goal, re.IGNORECASE) is not None
    return named or not any(map(is_readable, re.findall(r"\w+", goal.lower())))


def without_words(step: Step, goal: str) -> Step:
    """Return a step without the words of a text that is read, or of speakers, unless trusted.

    >>> without_words(Step(1, "Go east.", "read note"), "Read the cookbook.").text
    '(a text that the goal does not name)'
    """
    source = written_on(step.action)
    if not is_trusted(source, goal):
        return step._replace(text=_UNTRUSTED)
    if source or is_trusted(SPEECH, goal):
        return step
    return step._replace(text=_QUOTE.sub(_UNTRUSTED, step.text))


def trusted(found: Extraction, goal: str) -> Extraction:
    """Return an extraction without what untrusted sources say; see :func:`is_trusted`."""
    return found._replace(
        mentions=tuple(m for m in found.mentions if is_trusted(found.said.get(m[0], ""), goal))
    )
