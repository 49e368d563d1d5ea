"""The growing extraction of one step, and which of its facts are words of a text in it.

A note, a sign or a speaker may state anything. Its words inform, but they neither move the agent
nor give it things, and they never replace what was seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from typing import Any

from gym_memory.core.records import Step, Task, Triple
from gym_memory.core.text import split_reward, words
from gym_memory.extract import Extraction, Mention, Pattern
from gym_memory.extract.notes.words import Phrase, kind_in
from gym_memory.extract.records import RECORD_LEAD, record_lines
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    RECIPE,
    VERBATIM,
    clean_name,
    is_readable,
    way_relation,
)

__all__ = ["NOWHERE", "PUTTING", "SPEECH", "Draft", "apply", "attributed", "is_trusted", "is_whole"]
__all__ += ["quoted_part", "trusted", "unrewarded", "without_words", "written_on"]


PUTTING = re.compile(r"(?:put|place|insert) ", re.IGNORECASE)
"""Actions that put a thing somewhere."""
NOWHERE = (-1, -1)
"""Evidence of a fact that no characters of the text state."""


class Draft:
    """The growing extraction of one step; the rules of a game are functions over it.

    Args:
        graph: The facts before the step; only read.
        latest: True if a fact that is stated again counts as stated last: of two places of a
            thing the one named last holds.
    """

    def __init__(self, graph: TemporalGraph, *, latest: bool = False) -> None:
        self.graph = graph
        self.mentions: dict[Triple, Mention] = {}
        self.outdated: dict[Pattern, None] = {}
        self.said: dict[Triple, str] = {}
        self.moved: dict[str, Triple] = {}
        """Thing to the place that this step states."""
        self.offset = 0
        """Start of the part of the text into which spans point."""
        self._latest = latest
        here = graph.value(PLAYER, "location")
        self.left = self.room = here.object if here else ""
        """The agent's place before the step, and its place now."""

    def extraction(self) -> Extraction:
        """Return all that the step stated and ended."""
        return Extraction(tuple(self.mentions.values()), tuple(self.outdated), self.said)

    # Stating

    def add(self, subject: str, relation: str, obj: str, start: int = -1, end: int = -1) -> None:
        """Add a fact with its evidence; none about a thing without a name."""
        self.note(Mention(Triple(subject, relation, obj), start, end))

    def note(self, mention: Mention) -> None:
        """Add a fact that was read, see :meth:`add`, which ends here."""
        triple, start, end = mention
        subject, relation, obj = triple
        if not subject or not obj:
            return
        if relation in LOCATIONS:
            self.moved[subject] = triple
        mentions = self.mentions
        if self.said:
            self.said.pop(triple, None)
        if triple not in mentions:
            if self.offset and start >= 0:
                mention = Mention(triple, start + self.offset, end + self.offset)
            mentions[triple] = mention
        elif self._latest:
            mentions[triple] = mentions.pop(triple)

    def place(self, thing: Phrase, relation: str, place: str) -> None:
        """Add where a thing is."""
        self.add(thing.name, relation, place, thing.start, thing.end)

    def describe(self, thing: Phrase) -> None:
        """Add the states beside the name of a thing."""
        for state in thing.states:
            self.add(thing.name, "is", state, thing.start, thing.end)

    def enter(self, room: str, span: tuple[int, int], direction: str | None = None) -> None:
        """Put the agent into ``room``; a move in a direction makes a way there and back."""
        self.room = room
        self.add(PLAYER, "is in", room, *span)
        if direction is not None and self.left and self.left != room:
            self.add(room, way_relation(direction), self.left, *span)
            self.add(self.left, way_relation(OPPOSITE[direction]), room, *span)

    def add_reported(self, mentions: Iterable[Mention], said_by: str = "") -> None:
        """Add the statement of a note or a goal; it does not overrule where a thing was seen."""
        for mention in mentions:
            triple = mention.triple
            known = triple in self.mentions and triple not in self.said
            if triple[1] not in LOCATIONS or self.graph.value(triple[0], "location") is None:
                self.note(mention)
                if said_by and not known:
                    self.said[triple] = said_by

    def note_placing(self, *, praised: bool) -> None:
        """Note where something was put, and whether that was praised."""
        for thing, relation, holder in tuple(self.moved.values()):
            if holder not in (INVENTORY, self.room):
                where = relation.removeprefix("is ")
                there = Triple(thing, f"belongs {where}", holder)
                if there in self.mentions or there in self.graph:
                    continue  # put back after it was taken from its place, which is no new attempt
                self.add(thing, f"was put {where}", holder)
                if praised:
                    self.add(thing, f"belongs {where}", holder)

    def note_loss(self) -> None:
        """Note that a thing taken for a negative reward belonged where it was."""
        for thing, _, holder in tuple(self.moved.values()):
            before = self.graph.value(thing, "location")
            if holder == INVENTORY and before is not None and before.object != INVENTORY:
                self.add(thing, f"belongs {before.relation.removeprefix('is ')}", before.object)

    # Ending

    def outdate(
        self, subject: str | None = None, relation: str | None = None, obj: str | None = None
    ) -> None:
        """End the facts that match; None matches anything."""
        self.outdated[Pattern(subject, relation, obj)] = None

    def keep_only(self, holder: str, names: Collection[str], *, by: str = "text") -> None:
        """End the facts that the complete contents of a holder leave out."""
        for fact in self.contents(holder):
            if fact.subject not in names:
                self.outdated[Pattern(*fact, by)] = None

    # Knowing

    def contents(self, holder: str) -> Iterator[Triple]:
        """Yield the facts that put things, not the agent, in or on a holder before the step."""
        for fact in self.graph.incoming(holder):
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                yield fact

    def kind_of(self, name: str) -> str | None:
        """Return the kind of a name, see :func:`kind_in`; None for an unknown one."""
        return kind_in(self.graph, name, self.room)


SPEECH = "speech"
"""Source of facts in quotation marks."""
_UNTRUSTED = "(a text that the goal does not name)"
_LOOKING = re.compile(
    r"(?:(?P<read>read(?! next$))|examine|x|inspect|look (?:at|in)) (?P<name>.+)", re.I
)
_QUOTE = re.compile(
    r'"(?=[^"\w]*\w+[^"\w]+\w+[^"\w]+\w)[^"]*"'
    r"|“(?=[^“”\w]*\w+[^“”\w]+\w+[^“”\w]+\w)[^“”]*”"
    r"|(?:(?<=\w )|(?<=\w[,:] ))'(?:\w[\w']*[^\w'\n]+){2}(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"
)
"""Quotation of three words or more; fewer are a name."""
_QUOTATION_MARKS = ('"', "\N{LEFT DOUBLE QUOTATION MARK}", " '")
_ESCAPED_QUOTE = re.compile(r'(?<=\\")[^"\\]*(?=\\")')
"""Quotation inside a string of JSON."""
_QUOTE_BETWEEN_TAGS = re.compile(r'(?<=>)\s*"[^"<>]*"(?=[^"<>]*</)')
_IN_RECORDS = {"{": _ESCAPED_QUOTE, "[": _ESCAPED_QUOTE, "<": _QUOTE_BETWEEN_TAGS}
_SENTENCE_ENDS = frozenset(".!?\n")

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


def attributed(extract: Extract, *, by_spans: bool = False) -> Extract:
    """Decorate the method ``extract`` of rules: note in ``Extraction.said`` who says what.

    All facts that the text of a reading step states are said by what is read, except those about
    itself; of another step those in the characters of what it *says*. Elsewhere the game reports
    what its text states without quotations; the rest is said by a speaker. Words about the agent
    are dropped, and end no fact. So is a recipe of a text that is not trusted, see
    :func:`is_trusted`: its words are kept as what the text *says*.

    Rules see a text without the line that says what the step earned, and the reward in its place.

    A step with quotations is extracted again without them; with ``by_spans``, for models, the
    spans of its facts decide instead.
    """

    @wraps(extract)
    def extract_attributed(self: Any, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        step = step if by_spans else _unrewarded(step)
        found = extract(self, step, graph, task)
        source, spoken = written_on(step.action), (0, len(step.text))
        for (subject, relation, _), start, end in found.mentions:
            if not source and relation in VERBATIM and start >= 0:
                source, spoken = subject, (start, end)
        is_all = not (step.text[: spoken[0]].strip() or step.text[spoken[1] :].strip())
        report = _without_quotations(step.text)
        if report != step.text and by_spans:
            reported = found._replace(mentions=tuple(_unquoted(found.mentions, step.text)))
        elif report != step.text:
            reported = extract(self, step._replace(text=report), graph, task)
        elif source or found.said:
            reported = found
        else:
            return found
        said = _sources(found, {m.triple for m in reported.mentions}, source, range(*spoken))
        kept = [m for m in found.mentions if not _is_claim(m.triple, said, task.goal)]
        whole = Triple(source, "says", " ".join(step.text.split()))
        if len(kept) < len(found.mentions) and not is_trusted(source, task.goal):
            said.setdefault(whole, source)
            if all(mention.triple != whole for mention in kept):
                kept.append(Mention(whole, 0, len(step.text)))
        return Extraction(tuple(kept), () if source and is_all else reported.outdated, said)

    return extract_attributed


def unrewarded(extract: Extract) -> Extract:
    """Decorate the method ``extract`` of rules: hide the line that says what the step earned.

    Rules see the reward in its place; :func:`attributed` includes this.
    """

    @wraps(extract)
    def extract_unrewarded(self: Any, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        return extract(self, _unrewarded(step), graph, task)

    return extract_unrewarded


def _unrewarded(step: Step) -> Step:
    text, reward = split_reward(step.text)
    return step._replace(text=text, reward=reward) if reward else step


def quoted_part(text: str) -> tuple[int, str] | None:
    """Return where the first quotation of a text begins, and its words; None without one."""
    found = _QUOTE.search(text) if any(map(text.__contains__, _QUOTATION_MARKS)) else None
    return None if found is None else (found.start() + 1, found[0][1:-1])


def _without_quotations(text: str) -> str:
    """Return a text of the same length in which nobody speaks."""
    if not any(map(text.__contains__, _QUOTATION_MARKS)):
        return text
    bare = RECORD_LEAD.sub("", text) if "{" in text else text
    quote = _IN_RECORDS.get(bare.lstrip()[:1], _QUOTE)
    return (quote if quote is _QUOTE or record_lines(bare) else _QUOTE).sub(_hushed, text)


def _unquoted(mentions: Iterable[Mention], text: str) -> Iterator[Mention]:
    quotes = [quotation.span() for quotation in _QUOTE.finditer(text)]
    for mention in mentions:
        if not any(first <= mention.start < last for first, last in quotes):
            yield mention


def _sources(
    found: Extraction, reported: Container[Triple], source: str, its: range
) -> dict[Triple, str]:
    """Return who says what, of facts of which some are ``reported`` outside of quotations.

    ``its`` are the characters of the words of the source; the rest of the text is the game's.
    What is read is quoted as a whole or not at all: a recipe has no part that another speaks.
    """
    said = dict(found.said)
    apart = any(m.triple.relation in RECIPE and m.triple in reported for m in found.mentions)
    for fact, start, _ in found.mentions:
        own = source and (start < 0 or start in its)
        spoken = not own or (apart and fact.relation in RECIPE)
        if spoken and fact not in reported:
            said[fact] = SPEECH
        elif own and start >= 0 and (fact.subject != source or fact.relation in VERBATIM):
            said.setdefault(fact, source)
    return said


def _hushed(quotation: re.Match[str]) -> str:
    """Return a quotation of the same length without a word, whose end still ends a sentence."""
    return "".join(c if c in _SENTENCE_ENDS else "x" if c.isalnum() else " " for c in quotation[0])


def _is_claim(fact: Triple, said: Mapping[Triple, str], goal: str) -> bool:
    """True if only words make the agent be somewhere, have a thing or need it for a recipe."""
    subject, relation, obj = fact
    if fact not in said:
        return False
    if subject == PLAYER or (obj == INVENTORY and relation in LOCATIONS):
        return True
    return relation in RECIPE and not is_trusted(said[fact], goal)


def is_trusted(source: str, goal: str) -> bool:
    """True of the game itself (no source), and of a text that the goal names.

    A goal that names no text, or is a question, may depend on any. A recipe is in a cookbook.

    >>> is_trusted("cookbook", "Read the cookbook."), is_trusted("note", "Read the cookbook.")
    (True, False)
    >>> is_trusted("cookbook", "Cook by the recipe."), is_trusted("note", "Find the treasure.")
    (True, True)
    """
    if not source or goal.rstrip().endswith("?"):
        return True
    texts = set(filter(is_readable, words(goal)))
    if "recipe" in texts:
        texts.add("cookbook")
    named = re.search(rf"\b{re.escape(source)}\b", goal, re.IGNORECASE) is not None
    return named or not texts or not texts.isdisjoint(words(source))


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
    """Return an extraction without the statements of untrusted sources; see :func:`is_trusted`."""
    return found._replace(
        mentions=tuple(m for m in found.mentions if is_trusted(found.said.get(m[0], ""), goal))
    )


def apply(
    extraction: Extraction, graph: TemporalGraph, t: int, *, episode: int = -1
) -> list[Triple]:
    """Change a graph by an extraction; return the facts stated, normalised.

    A fact that is said is left out where what was seen excludes it. ``t`` is the graph's clock,
    ``episode`` the id of the observation that states the facts; -1 for none.
    """
    for pattern in extraction.outdated:
        graph.retire_matching(*pattern[:3], t=t, by=pattern.by)
    stated, said = [], extraction.said
    for triple, start, end in extraction.mentions:
        by = said.get(triple, "")
        if is_whole(triple) and not (by and graph.was_seen_otherwise(triple)):
            fact = graph.add(triple, t, episode=episode, start=start, end=end, said_by=by)
            stated.append(fact.triple)
    return stated


def is_whole(triple: Triple) -> bool:
    """True if no part of a triple is blank, as where a text has a gap instead of a name."""
    return all(map(str.strip, triple))
