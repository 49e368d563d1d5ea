"""What is written on things: notes, and what a goal explains.

A note is kept whole (``note | says | ...``), with the things that it names (``note | mentions |
red locker``) and the facts that it tells: which key opens what, where something stands, which
appliance does what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.named import KindOf
from gym_memory.extract.notes.phrases import head_noun
from gym_memory.extract.notes.preparing import is_tool
from gym_memory.extract.notes.recipes import (
    calls_itself_recipe,
    is_about_cooking,
    read_recipe,
    speaks_of_preparing,
    tells_how,
    told_of_cooking,
)
from gym_memory.extract.notes.telling import Told
from gym_memory.extract.reader import Reader, RulesReader
from gym_memory.graph.schema import LOCATIONS

__all__ = ["RULES", "is_readable", "read_writing", "told"]

RULES = RulesReader()

# Notes

_READABLE = re.compile(
    r"(?:foot)?notes?|letters?|messages?|memo(?:randum)?s?|papers?|pages?|signs?|posters?|scrolls?"
    r"|diary|journal|maps?|labels?|plaques?|tablets?|leaflets?|flyers?|newspaper|inscription|riddle"
    r"|clues?|hints?|(?:note|text|guide|log|cook|hand|hymn)?books?|novel|manuscript|poem|parchment"
    r"|pamphlet|brochure|postcard|telegram|receipt|ledger|missive|epistle|notice|placard|document"
    r"|instructions?|script|folder|recipes?|binder|guide|manual|slip|ticket|tag|chart|dispatch|bulletin|reminder|almanac|booklet|notepad"
    r"|cards?|envelopes?|sheets?|scraps?|stickers?|menus?|tomes?|(?:black|white|chalk|clip)board"
)
_REFUSED = re.compile(
    r"You (?:can't|cannot) (?:see|read|go|do|examine|look|make|reach|talk|use)\b|You see nothing"
    r"|That's not|I didn't|I only|What do you want|Which do you mean|There is nothing"
)


def is_readable(name: str) -> bool:
    """Whether a thing is called like something that has text on it.

    >>> is_readable("note 2"), is_readable("cookbook"), is_readable("notepad holder")
    (True, True, False)
    """
    return _READABLE.fullmatch(head_noun(name)) is not None


def _is_described(name: str, text: str) -> bool:
    """Whether ``text``, the answer to examining ``name``, says how it looks."""
    text = text.strip().lower()
    return text.startswith((f"the {name}", "it's a", "that's a", "it is what it is"))


def read_writing(
    name: str,
    text: str,
    kind_of: KindOf,
    *,
    recipe: bool = False,
    reader: Reader = RULES,
) -> tuple[Mention, ...]:
    """What the answer to examining a thing tells, if it is something that is written on it.

    Args:
        name: The thing; empty for one that is not known.
        text: The answer.
        kind_of: What is known of a name.
        recipe: Whether it is known to be a recipe, whatever it is called.
        reader: Who reads what no list says.

    Returns:
        The facts of a recipe, of a note, or of both; nothing where there is no writing.
    """
    listed = read_recipe(text, kind_of)
    if listed:
        return listed
    facts = _read_recipe(name, text, kind_of, reader, asked=recipe)
    if name and _may_be_written(name, text):
        note = told(text, kind_of, note=True, reader=reader)
        if is_readable(name) or _tells_of_others(name, note):
            note = note._replace(facts=_apart_from(facts, note))
            return (*facts, *_read_note(name, text, note, kind_of))
    return facts


def _apart_from(recipe: tuple[Mention, ...], note: Told) -> tuple[Mention, ...]:
    """What a note tells beside a recipe: ingredients hold and open nothing."""
    foods = {m.triple.object for m in recipe if m.triple.relation == "requires"}
    places = {m.triple.object for m in recipe if m.triple.relation == "is prepared in"}

    def is_meant(fact: Triple) -> bool:
        used = fact.relation == "opens" or fact.object in places or is_tool(fact.object)
        return fact.object not in foods and not (used and fact.subject in foods)

    return tuple(mention for mention in note.facts if is_meant(mention.triple))


def _read_recipe(
    name: str, text: str, kind_of: KindOf, reader: Reader, *, asked: bool
) -> tuple[Mention, ...]:
    """What a recipe in sentences tells; nothing where the text is none.

    It is one by what it says of food, whatever it is written on, or by what it is called. That a
    place for cooking is named makes no recipe.
    """
    instructs = calls_itself_recipe(text)
    called = is_readable(name) and (instructs or is_about_cooking(name))
    if _is_described(name, text) or not (asked or called or instructs or speaks_of_preparing(text)):
        return ()
    facts = reader.recipe(text, kind_of)
    if asked or tells_how(facts, text, name):
        return facts
    return facts if called and not _tells_of_locks(text, kind_of, reader) else ()


def _may_be_written(name: str, text: str) -> bool:
    """Whether ``text``, the answer to examining ``name``, may be something written on it."""
    text = text.strip()
    return bool(text) and not (_is_described(name, text) or _REFUSED.match(text))


def _tells_of_others(name: str, note: Told) -> bool:
    """Whether a text says what opens something, or where something else is."""
    return any(
        fact.relation == "opens" or name not in (fact.subject, fact.object)
        for fact, _, _ in note.facts
        if fact.relation == "opens" or fact.relation in LOCATIONS
    )


def _tells_of_locks(text: str, kind_of: KindOf, reader: Reader) -> bool:
    """Whether a text says what opens something."""
    return any(
        mention.triple.relation == "opens" for mention in told(text, kind_of, reader=reader).facts
    )


def _read_note(name: str, text: str, note: Told, kind_of: KindOf) -> tuple[Mention, ...]:
    """A note: its text, the facts that it tells and the things that it mentions.

    Args:
        name: The note.
        text: What it says.
        note: The same as it was understood.
        kind_of: What is known of a name; None for that of nothing seen before.
    """
    named = dict(note.names)
    for phrase, *span in _phrases(text, lambda word: kind_of(word) is not None):
        named.setdefault(phrase, (span[0], span[1]))
    named.pop(name, None)
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    whole = Mention(Triple(name, "says", " ".join(text.split())), start, end)
    mentions = (Mention(Triple(name, "mentions", word), *at) for word, at in named.items())
    return (whole, *mentions, *note.facts)


def _phrases(text: str, known: Callable[[str], bool]) -> Iterator[tuple[str, int, int]]:
    """Known names of up to four words in a text, the longest where several begin."""
    words = [(word.group().lower(), *word.span()) for word in _WORD.finditer(text)][:_MOST_WORDS]
    i = 0
    while i < len(words):
        for length in (4, 3, 2, 1) if words[i][0] not in _ARTICLES else ():
            phrase = " ".join(word for word, _, _ in words[i : i + length])
            if i + length <= len(words) and known(phrase):
                yield phrase, words[i][1], words[i + length - 1][2]
                i += length - 1
                break
        i += 1


# Facts told in words

_MOST_WORDS = 300
_MAX_TOLD_CHARS = 10_000
_WORD = re.compile(r"[\w'-]+")
_ARTICLES = ("a", "an", "the", "some")


def told(
    text: str,
    kind_of: KindOf = lambda name: None,
    *,
    note: bool = False,
    reader: Reader = RULES,
) -> Told:
    """Lasting facts that a goal or a note states in words.

    Args:
        text: The text.
        kind_of: What is known of a name.
        note: Whether it is a note, which is of one matter.
        reader: Who reads it.
    """
    text = text[:_MAX_TOLD_CHARS]
    facts, names = reader.statements(text, kind_of, note=note)
    facts = tuple(m for m in facts if m.triple.subject != "meal")
    return Told((*facts, *told_of_cooking(text)), names)
