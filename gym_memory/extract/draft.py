"""Drafts of one step's extraction, and the sources of their facts.

A note, a sign or a speaker may state anything. Such statements are facts with a source: they
never move the agent, give it things or replace what was seen.
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
"""Beginning of an action that puts a thing somewhere."""
NOWHERE = (-1, -1)
"""Span of a fact that no part of the text states."""


class Draft:
    """A draft of the extraction of one step, filled by the rules of a game.

    Args:
        graph: Facts before the step, which are only read.
        latest: True if a repeated fact moves to the end, so that the place named last holds.
    """

    def __init__(self, graph: TemporalGraph, *, latest: bool = False) -> None:
        self.graph = graph
        self.mentions: dict[Triple, Mention] = {}
        self.outdated: dict[Pattern, None] = {}
        self.said: dict[Triple, str] = {}
        self.moved: dict[str, Triple] = {}
        """Place that this step states for each thing."""
        self.offset = 0
        """Start of the part of the text that spans are relative to."""
        self._latest = latest
        here = graph.value(PLAYER, "location")
        self.left = self.room = here.object if here else ""
        """Place of the agent before the step, and now."""

    def extraction(self) -> Extraction:
        """Return the facts that the step stated and ended."""
        return Extraction(tuple(self.mentions.values()), tuple(self.outdated), self.said)

    # Stating

    def add(self, subject: str, relation: str, obj: str, start: int = -1, end: int = -1) -> None:
        """Add a fact with its evidence, unless its subject or object has no name."""
        self.note(Mention(Triple(subject, relation, obj), start, end))

    def note(self, mention: Mention) -> None:
        """Add a fact with its evidence; :meth:`add` calls this, and subclasses extend it."""
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
        """Add the states that precede the name of a thing."""
        for state in thing.states:
            self.add(thing.name, "is", state, thing.start, thing.end)

    def enter(self, room: str, span: tuple[int, int], direction: str | None = None) -> None:
        """Put the agent into ``room``; a move in a direction adds the ways there and back."""
        self.room = room
        self.add(PLAYER, "is in", room, *span)
        if direction is not None and self.left and self.left != room:
            self.add(room, way_relation(direction), self.left, *span)
            self.add(self.left, way_relation(OPPOSITE[direction]), room, *span)

    def add_reported(self, mentions: Iterable[Mention], said_by: str = "") -> None:
        """Add statements of a note or a goal, except a place for a thing that was seen."""
        for mention in mentions:
            triple = mention.triple
            known = triple in self.mentions and triple not in self.said
            if triple[1] not in LOCATIONS or self.graph.value(triple[0], "location") is None:
                self.add(*triple, mention.start, mention.end)
                if said_by and not known:
                    self.said[triple] = said_by

    def note_placing(self, *, praised: bool) -> None:
        """Note where a thing was put, and that it belongs there if the step was rewarded."""
        for thing, relation, holder in tuple(self.moved.values()):
            if holder not in (INVENTORY, self.room):
                where = relation.removeprefix("is ")
                there = Triple(thing, f"belongs {where}", holder)
                if there in self.mentions or there in self.graph:
                    continue  # the thing only returns to its known place
                self.add(thing, f"was put {where}", holder)
                if praised:
                    self.add(thing, f"belongs {where}", holder)

    def note_loss(self) -> None:
        """Note that a thing belongs where it was, since taking it cost reward."""
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
        """End the facts about things that the complete contents of a holder leave out."""
        for fact in self.contents(holder):
            if fact.subject not in names:
                self.outdated[Pattern(*fact, by)] = None

    # Knowing

    def contents(self, holder: str) -> Iterator[Triple]:
        """Yield the facts before the step that put things, not the agent, in or on a holder."""
        for fact in self.graph.incoming(holder):
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                yield fact

    def kind_of(self, name: str) -> str | None:
        """Return the kind of a name by :func:`kind_in`; None for an unknown name."""
        return kind_in(self.graph, name, self.room)


SPEECH = "speech"
"""Source of facts in quotation marks."""
_UNTRUSTED = "(a text that the goal does not name)"
_READING = re.compile(
    r"(?:(?P<read>read(?! next$))|examine|x|inspect|look (?:at|in)) (?P<name>.+)", re.I
)
_QUOTE = re.compile(
    r'(?<![\w=])"(?=[^\s/>])(?=[^"\w]*\w+[^"\w]+\w+[^"\w]+\w)[^"]*"'
    r"|“(?=[^“”\w]*\w+[^“”\w]+\w+[^“”\w]+\w)[^“”]*”"
    r"|'(?:(?<=\w ')|(?<=\w[,:] '))(?:\w[\w']*[^\w'\n]+){2}(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"
)
"""Quotation of at least three words; a shorter one is a name.

No quotation begins at its end, or at a mark of an attribute in a tag: *href="#n">*.
"""
_QUOTATION_MARKS = ('"', "\N{LEFT DOUBLE QUOTATION MARK}", " '")
_ESCAPED_QUOTE = re.compile(r'(?<=\\")[^"\\]*(?=\\")')
"""Quotation inside a JSON string."""
_QUOTE_BETWEEN_TAGS = re.compile(r'(?<=>)\s*"[^"<>]*"(?=[^"<>]*</)')
_IN_RECORDS = {"{": _ESCAPED_QUOTE, "[": _ESCAPED_QUOTE, "<": _QUOTE_BETWEEN_TAGS}
_BLANKS = {
    code: "x" if chr(code).isalnum() else " " for code in range(128) if chr(code) not in ".!?\n"
}
"""Table for :meth:`str.translate`: no words, but the ends of sentences."""
_BLANKS |= dict.fromkeys(map(ord, "“”‘’"), " ")

Extract = Callable[[Any, Step, TemporalGraph, Task], Extraction]


@lru_cache(maxsize=1024)
def written_on(action: str) -> str:
    """Return the name of the text that an action reads; empty for another action.

    >>> written_on("examine note 2"), written_on("read plate"), written_on("examine plate")
    ('note 2', 'plate', '')
    """
    looked = _READING.fullmatch(" ".join(action.split()))
    name = clean_name(looked["name"]) if looked else ""
    return name if looked and (looked["read"] or is_readable(name)) else ""


def attributed(
    extract: Extract,
    *,
    by_spans: bool = False,
    reads_alike: Callable[[str, str], bool] | None = None,
) -> Extract:
    """Decorate the method ``extract`` of rules, so that ``Extraction.said`` names the sources.

    - If the action reads a thing, the thing is the source of all facts in the text, except those
      about itself. In any other step, it is the source within the span of what it *says*.
    - Elsewhere, facts that hold without the quotations come from the game, others from a speaker.
    - Claims of a source about the agent are dropped, and they end no fact. So are the recipes of a
      source that :func:`is_trusted` rejects; its words are kept as what it *says*.

    The rules see a text without its line about earned reward, which goes into ``Step.reward``.

    A step with quotations is extracted a second time without them, unless ``reads_alike`` says that
    the two texts give the same facts. With ``by_spans``, which models use, the spans of the facts
    decide instead.
    """

    @wraps(extract)
    def extract_attributed(self: Any, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        step = step if by_spans else _unrewarded(step)
        found = extract(self, step, graph, task)
        source, its = _source_of(step, found)
        report = _without_quotations(step.text)
        reported = found
        if report != step.text:
            if by_spans:
                reported = found._replace(mentions=tuple(_unquoted(found.mentions, step.text)))
            elif _states(found) and (
                source or reads_alike is None or not reads_alike(step.text, report)
            ):
                reported = extract(self, step._replace(text=report), graph, task)
        elif not (source or found.said):
            return found
        said = _sources(found, {m.triple for m in reported.mentions}, source, its)
        kept = [m for m in found.mentions if not _is_claim(m.triple, said, task.goal)]
        whole = Triple(source, "says", " ".join(step.text.split()))
        if len(kept) < len(found.mentions) and not is_trusted(source, task.goal):
            said.setdefault(whole, source)
            if all(mention.triple != whole for mention in kept):
                kept.append(Mention(whole, 0, len(step.text)))
        is_all = not (step.text[: its.start].strip() or step.text[its.stop :].strip())
        return Extraction(tuple(kept), () if source and is_all else reported.outdated, said)

    return extract_attributed


def _source_of(step: Step, found: Extraction) -> tuple[str, range]:
    """Return the text that a step reads or quotes, and the characters of its words."""
    source, whole = written_on(step.action), range(len(step.text))
    its = whole
    for (subject, relation, _), start, end in found.mentions:
        if source or relation not in VERBATIM or start < 0:
            continue
        if range(start, end) != whole or is_readable(subject):
            source, its = subject, range(start, end)
    return source, its


def unrewarded(extract: Extract) -> Extract:
    """Decorate the method ``extract`` of rules to move a line about reward into ``Step.reward``.

    The decorator :func:`attributed` does this too.
    """

    @wraps(extract)
    def extract_unrewarded(self: Any, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        return extract(self, _unrewarded(step), graph, task)

    return extract_unrewarded


def _states(found: Extraction) -> bool:
    """True if an extraction has facts or ends some of a certain thing."""
    return bool(found.mentions) or any(pattern.subject for pattern in found.outdated)


def _unrewarded(step: Step) -> Step:
    text, reward = split_reward(step.text)
    return step._replace(text=text, reward=reward) if reward else step


def quoted_part(text: str) -> tuple[int, str] | None:
    """Return the start and the words of the first quotation in a text; None without one."""
    found = _QUOTE.search(text) if any(map(text.__contains__, _QUOTATION_MARKS)) else None
    return None if found is None else (found.start() + 1, found[0][1:-1])


def _without_quotations(text: str) -> str:
    """Return a text of the same length with its quotations blanked."""
    if not any(map(text.__contains__, _QUOTATION_MARKS)):
        return text
    bare = RECORD_LEAD.sub("", text) if "{" in text else text
    quote = _IN_RECORDS.get(bare.lstrip()[:1], _QUOTE)
    return (quote if quote is _QUOTE or record_lines(bare) else _QUOTE).sub(_blanked, text)


def _unquoted(mentions: Iterable[Mention], text: str) -> Iterator[Mention]:
    quotes = [quotation.span() for quotation in _QUOTE.finditer(text)]
    for mention in mentions:
        if not any(first <= mention.start < last for first, last in quotes):
            yield mention


def _sources(
    found: Extraction, reported: Container[Triple], source: str, its: range
) -> dict[Triple, str]:
    """Return the source of each fact that does not come from the game.

    A recipe is quoted as a whole or not at all, so no part of it has another source.

    Args:
        found: Extraction from the whole text.
        reported: Facts that hold without the quotations.
        source: Thing that is read or quoted; empty for none.
        its: Characters of the words of the source.
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


def _blanked(quotation: re.Match[str]) -> str:
    """Return a quotation of the same length without words, which keeps the ends of sentences."""
    return quotation[0].translate(_BLANKS)


def _is_claim(fact: Triple, said: Mapping[Triple, str], goal: str) -> bool:
    """True if a source claims that the agent is somewhere, has a thing or needs it to cook."""
    subject, relation, obj = fact
    if fact not in said:
        return False
    if subject == PLAYER or (obj == INVENTORY and relation in LOCATIONS):
        return True
    return relation in RECIPE and not is_trusted(said[fact], goal)


def is_trusted(source: str, goal: str) -> bool:
    """True if the source is the game itself (empty) or a text that the goal names.

    A goal that names no text, or is a question, trusts any text. A recipe is in a cookbook.

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
    """Return a step without the words of untrusted sources: a text that is read, or speakers.

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
    """Return an extraction without facts of untrusted sources; see :func:`is_trusted`."""
    return found._replace(
        mentions=tuple(m for m in found.mentions if is_trusted(found.said.get(m[0], ""), goal))
    )


def apply(
    extraction: Extraction, graph: TemporalGraph, t: int, *, episode: int = -1
) -> list[Triple]:
    """Apply an extraction to a graph; return the facts added, normalised.

    A fact with a source is left out if an observed fact excludes it.

    Args:
        extraction: Facts to add and to end.
        graph: Graph to change.
        t: Time in the clock of the graph.
        episode: Id of the observation that states the facts; -1 for none.
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
    """True if no part of a triple is blank."""
    return all(map(str.strip, triple))
