"""Commands worth trying: the story's templates filled with the things that its text names.

Jericho does the same with a language model that finds the nouns. Here the story's own dictionary
does: a word of the text that the parser takes for part of a name is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gym_memory.games.jericho.vocabulary import HELD, NOUN, Vocabulary
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["GENERIC", "MOVES", "PREFERRED", "commands", "names_in_view", "templates_of"]

MOVES = (*DIRECTIONS[:8], "up", "down", "in", "out")
"""Ways to go; stories take them as commands."""

PREFERRED = (
    "take", "put", "drop", "unlock", "lock", "turn", "switch", "wear", "open", "close", "give",
    "show", "push", "pull", "eat", "drink", "enter", "climb", "attack", "throw", "tie", "cut",
    "light", "burn", "read", "move", "rub", "touch", "insert", "remove", "buy", "wave", "jump",
    "swim", "pray", "sleep", "dig", "fill", "pour", "break", "search",
)  # fmt: skip
"""Verbs by which players call what a grammar has several words for."""

GENERIC = tuple(
    tuple(line.split())
    for line in (
        "take NOUN", "drop HELD", "open NOUN", "close NOUN", "push NOUN", "pull NOUN", "turn NOUN",
        "turn on NOUN", "turn off NOUN", "light NOUN", "enter NOUN", "climb NOUN", "eat HELD",
        "drink NOUN", "wear HELD", "remove HELD", "read NOUN", "move NOUN", "search NOUN",
        "attack NOUN", "break NOUN", "put HELD in NOUN", "put HELD on NOUN", "give HELD to NOUN",
        "unlock NOUN with HELD", "lock NOUN with HELD", "attack NOUN with HELD", "tie HELD to NOUN",
        "throw HELD at NOUN", "jump", "wait", "dig", "swim", "pray",
    )
)  # fmt: skip
"""Templates for a story that tells no grammar; those with unknown words are left out."""

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_NO_NAMES = frozenset((
    *DIRECTIONS, "a", "all", "an", "and", "are", "both", "but", "each", "every", "everything",
    "except", "from", "go", "he", "her", "here", "him", "his", "i", "in", "inside", "is", "it",
    "its", "look", "me", "my", "myself", "no", "nothing", "of", "off", "on", "one", "other", "out",
    "outside", "self", "she", "sit", "some", "stand", "that", "the", "their", "them", "then",
    "these", "they", "things", "this", "those", "to", "two", "up", "walk", "with", "yes", "you",
    "your", "yourself",
))  # fmt: skip
_MAX_NAME_WORDS = 3
_UNTRIED = frozenset((
    "answer", "ask", "author", "brief", "diagnose", "disable", "enable", "examine", "goal", "help",
    "hint", "i", "info", "inv", "inventory", "l", "long", "look", "normal", "notify", "nouns",
    "print_st", "prepare_st", "pronouns", "purloin", "q", "quit", "recording", "replay", "restart",
    "restore", "restrict", "save", "say", "score", "script", "short", "showme", "superbrie", "tell",
    "think", "transcrip", "tw-extra", "tw-print", "tw-trace", "undo", "unscript", "verbose",
    "verify", "version", "x", "yes", "no", "sorry", "gonear", "abstract", "trace", "actions",
    "random", "test", "wait", "z", "about", "credits", "walkthrou",
))  # fmt: skip
"""Verbs that change no world, or that no player may use."""


def templates_of(vocabulary: Vocabulary, known: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
    """What may be tried in a story.

    Args:
        vocabulary: The story's own words and grammar.
        known: Templates from elsewhere, ``put OBJ in OBJ``; they come before the story's grammar.
    """
    if known:
        lines: Iterable[tuple[str, ...]] = (
            tuple(NOUN if word == "OBJ" else word for word in line.split()) for line in known
        )
    else:
        lines = vocabulary.templates or tuple(
            line
            for line in GENERIC
            if all(word in (NOUN, HELD) or vocabulary.knows(word) for word in line)
        )
    tried = (line for line in lines if line[0] not in _UNTRIED and line[0] not in MOVES)
    return tuple(dict.fromkeys(filter(_can_be_filled, tried)))


def _can_be_filled(line: tuple[str, ...]) -> bool:
    """Whether a template has at most two slots, and a word between them."""
    slots = [i for i, word in enumerate(line) if _is_slot(word)]
    return len(slots) < 2 or (len(slots) == 2 and slots[1] - slots[0] > 1)


def _is_slot(word: str) -> bool:
    return word in (NOUN, HELD)


def names_in_view(text: str, vocabulary: Vocabulary) -> list[str]:
    """Names of things in a text: runs of words that the parser takes for names, each once.

    >>> from gym_memory.games.jericho.vocabulary import Vocabulary
    >>> words = Vocabulary(frozenset(), frozenset({"iron", "key", "box"}), 9, ())
    >>> names_in_view("You see an iron key and a box (closed).", words)
    ['iron key', 'box']
    """
    names: dict[str, None] = {}
    run: list[str] = []
    end = 0
    for found in [*_WORD.finditer(text), None]:
        word = found.group().lower() if found else ""
        part = word not in _NO_NAMES and bool(word) and vocabulary.names(word)
        joined = found is not None and text[end : found.start()] == " "
        if run and not (part and joined):
            names[" ".join(run[-_MAX_NAME_WORDS:])] = None
            run = []
        if part:
            run.append(word)
        end = found.end() if found else 0
    return list(names)


def commands(
    templates: Sequence[tuple[str, ...]], things: Sequence[str], held: Sequence[str]
) -> Iterator[str]:
    """Every template with every thing in its slots, those with two slots last.

    Of two slots one takes what is carried.

    Args:
        templates: As from :func:`templates_of`.
        things: Names of things in view, the carried ones included.
        held: Names of the carried ones.
    """
    pairs: list[tuple[tuple[str, ...], int, int]] = []
    for line in templates:
        slots = [i for i, word in enumerate(line) if _is_slot(word)]
        if not slots:
            yield " ".join(line)
        elif len(slots) == 1:
            for name in held if line[slots[0]] == HELD else things:
                yield _filled(line, {slots[0]: name})
        else:
            pairs.append((line, slots[0], slots[1]))
    for line, first, second in pairs:
        for one in held if line[first] == HELD else things:
            for other in held if line[second] == HELD else things:
                if one != other and (one in held or other in held):
                    yield _filled(line, {first: one, second: other})


def _filled(line: Sequence[str], names: dict[int, str]) -> str:
    return " ".join(names.get(i, word) for i, word in enumerate(line))
