"""Reading of notes, recipes and goals in free English.

``words.py`` has the meanings of nouns and verbs, ``clause.py`` tags a clause, and ``statements.py``
and ``recipes.py`` interpret the tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from gym_memory.core.records import Triple
from gym_memory.core.text import word_spans
from gym_memory.extract import Mention
from gym_memory.extract.notes.kept import kept
from gym_memory.extract.notes.recipes import (
    calls_itself_recipe,
    read_kitchen,
    read_prose_recipe,
    read_recipe,
    speaks_of_preparing,
)
from gym_memory.extract.notes.statements import Report, read_statements
from gym_memory.extract.notes.words import KindOf
from gym_memory.graph.schema import LOCATIONS, is_readable

__all__ = ["read_report", "read_writing"]

_MAX_TEXT_CHARS = 10_000
_MAX_WORDS = 300
_REFUSED = re.compile(
    r"You (?:can't|cannot) (?:see|read|go|do|examine|look|make|reach|talk|use)\b|You see nothing"
    r"|That's not|I didn't|I only|What do you want|Which do you mean|There is nothing"
)


@kept
def read_writing(
    name: str,
    text: str,
    kind_of: KindOf,
    *,
    recipe: bool = False,
) -> tuple[Mention, ...]:
    """Read the answer to examining a thing as a recipe, a note or both.

    A note yields its text (``note | says | ...``), the things that it names (``note | mentions |
    red locker``) and the facts that it states. An answer that describes the thing or refuses the
    command yields nothing.

    Args:
        name: The thing; empty if unknown.
        text: The answer.
        kind_of: Kinds of names.
        recipe: True if the text is known to be a recipe.
    """
    listed = read_recipe(text, kind_of)
    if listed:
        return listed
    answer = text.strip()
    if answer.lower().startswith((f"the {name}", "it's a", "that's a", "it is what it is")):
        return ()
    facts = _read_recipe(name, text, kind_of, sure=recipe)
    if not name or not answer or _REFUSED.match(answer):
        return facts
    note = read_report(text, kind_of, note=True)
    if not (is_readable(name) or _informs(name, note)):
        return facts
    foods = {m.triple.object for m in facts if m.triple.relation == "requires"}
    stated = (m for m in note.facts if m.triple.subject not in foods)  # food opens nothing
    return (*facts, *_quotation(name, text, note, kind_of), *stated)


def _read_recipe(name: str, text: str, kind_of: KindOf, *, sure: bool) -> tuple[Mention, ...]:
    """Read a recipe in sentences; an unsure one must state something about food."""
    instructs = calls_itself_recipe(text)
    if not (sure or instructs or speaks_of_preparing(text)):
        return ()
    facts = read_prose_recipe(text, kind_of)
    wanted = "requires" if instructs else "needs to be"
    of_others = any(m.triple.relation == wanted and name not in m.triple for m in facts)
    return facts if sure or of_others else ()


def _informs(name: str, note: Report) -> bool:
    """True if a text says what opens a thing or where another thing is."""
    return any(
        fact.relation == "opens" or (fact.relation in LOCATIONS and name not in fact)
        for fact, _, _ in note.facts
    )


def _quotation(name: str, text: str, note: Report, kind_of: KindOf) -> Iterator[Mention]:
    """Yield the text of a note and the things that it mentions."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    yield Mention(Triple(name, "says", " ".join(text.split())), start, end)
    named = dict(note.names)
    for phrase, *span in _known_phrases(text, lambda word: kind_of(word) is not None):
        named.setdefault(phrase, (span[0], span[1]))
    named.pop(name, None)
    yield from (Mention(Triple(name, "mentions", word), *at) for word, at in named.items())


def _known_phrases(text: str, known: Callable[[str], bool]) -> Iterator[tuple[str, int, int]]:
    """Yield known names of up to four words, and only the longest of overlapping ones."""
    words = list(islice(word_spans(text, "'-"), _MAX_WORDS))
    i = 0
    while i < len(words):
        for length in (4, 3, 2, 1) if words[i][0] not in ("a", "an", "the", "some") else ():
            phrase = " ".join(word for word, _, _ in words[i : i + length])
            if i + length <= len(words) and known(phrase):
                yield phrase, words[i][1], words[i + length - 1][2]
                i += length - 1
                break
        i += 1


def read_report(
    text: str,
    kind_of: KindOf = lambda name: None,
    *,
    note: bool = False,
) -> Report:
    """Read the lasting facts of a goal, or of a ``note``, which has one topic."""
    text = text[:_MAX_TEXT_CHARS]
    facts, names = read_statements(text, kind_of, note=note)
    kitchen = read_kitchen(text, kind_of)
    named = {"meal", *(m.triple.subject for m in kitchen)}  # whose facts come from the kitchen
    return Report((*(m for m in facts if m.triple.subject not in named), *kitchen), names)
