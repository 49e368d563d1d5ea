"""Words of a parser: names in a text, commands to try, and meanings of answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from gym_memory.core.text import compound_spans
from gym_memory.games.jericho.vocabulary import HELD, NOUN, WAY, Vocabulary
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["ENDING", "GENERIC", "MOVES", "PREFERRED", "filled", "fillings", "is_refused_verb"]
__all__ += ["names_in_view", "names_offered", "parts_of", "preference", "shape_of", "story_text"]
__all__ += ["templates_of", "understood"]

MOVES = (*DIRECTIONS[:8], "up", "down", "in", "out")
"""Ways to go, as commands."""

PREFERRED = (
    "take", "put", "drop", "unlock", "lock", "turn", "switch", "wear", "open", "close", "give",
    "show", "push", "pull", "eat", "drink", "enter", "climb", "attack", "throw", "tie", "cut",
    "light", "burn", "read", "move", "rub", "touch", "insert", "remove", "buy", "wave", "jump",
    "swim", "pray", "sleep", "dig", "fill", "pour", "break", "search",
)  # fmt: skip
"""Preferred verbs among the synonyms of a grammar."""

GENERIC = tuple(
    tuple(line.split())
    for line in (
        "take NOUN", "drop HELD", "open NOUN", "close NOUN", "push NOUN", "pull NOUN", "turn NOUN",
        "turn on NOUN", "turn off NOUN", "light NOUN", "enter NOUN", "climb NOUN", "eat HELD",
        "drink NOUN", "wear HELD", "remove HELD", "read NOUN", "move NOUN", "search NOUN",
        "attack NOUN", "break NOUN", "put HELD in NOUN", "put HELD on NOUN", "give HELD to NOUN",
        "unlock NOUN with HELD", "lock NOUN with HELD", "attack NOUN with HELD", "tie HELD to NOUN",
        "throw HELD at NOUN", "push NOUN WAY", "jump", "wait", "dig", "swim", "pray",
    )
)  # fmt: skip
"""Templates for a story without grammar; those with unknown words are left out."""

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
    "answer", "ask", "author", "brief", "diagnose", "die", "disable", "enable", "examine",
    "goal", "help", "hint", "i", "info", "inv", "inventory", "l", "long", "look", "normal",
    "notify", "nouns", "print_st", "prepare_st", "pronouns", "purloin", "q", "quit",
    "recording", "replay", "restart", "restore", "restrict", "save", "say", "score", "script",
    "short", "showme", "superbrie", "tell", "think", "transcrip", "tw-extra", "tw-print",
    "tw-trace", "undo", "unscript", "verbose", "verify", "version", "x", "yes", "no", "sorry",
    "gonear", "abstract", "trace", "actions", "random", "test", "wait", "z", "about", "credits",
    "walkthrou",
))  # fmt: skip
"""Verbs that change no world, or that no player may use."""
_SHOWING = ("ask", "tell", "say", "look")
"""Verbs of these that may change it in a longer form: *ask troll for axe*, *look under bed*."""


def templates_of(vocabulary: Vocabulary, known: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
    """Return the templates to try in a story.

    ``known`` are templates from elsewhere, ``put OBJ in OBJ``, instead of the story's grammar.
    """
    if known:
        lines: Iterable[tuple[str, ...]] = (
            tuple(NOUN if word == "OBJ" else word for word in line.split()) for line in known
        )
    else:
        lines = vocabulary.templates or tuple(
            line
            for line in GENERIC
            if all(_is_slot(word) or vocabulary.knows(word) for word in line)
        )
    untried = {word[: vocabulary.length] for word in (*_UNTRIED, *MOVES)}
    showing = {word[: vocabulary.length] for word in _SHOWING}
    tried = (
        line
        for line in lines
        if line[0].isalpha() and (line[0] not in untried or (line[0] in showing and len(line) > 2))
    )
    return tuple(dict.fromkeys(filter(_can_be_filled, tried)))


def _can_be_filled(line: tuple[str, ...]) -> bool:
    """True if a template has at most two slots, and a word between two things."""
    slots = [i for i, word in enumerate(line) if _is_slot(word)]
    return len(slots) < 2 or (len(slots) == 2 and (slots[1] - slots[0] > 1 or WAY in line))


def _is_slot(word: str) -> bool:
    return word in (NOUN, HELD, WAY)


def names_in_view(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return names of things in a text: runs of words that the parser takes for names.

    >>> from gym_memory.games.jericho.vocabulary import Vocabulary
    >>> words = Vocabulary(frozenset(), frozenset({"iron", "key", "box"}), 9, ())
    >>> names_in_view("You see an iron key and a box (closed).", words)
    ['iron key', 'box']
    """
    names: dict[str, None] = {}
    run: list[str] = []
    last = 0
    for word, start, end in [*compound_spans(text), ("", -1, -1)]:
        part = word not in _NO_NAMES and bool(word) and vocabulary.names(word)
        if run and not (part and text[last:start] == " "):
            names[" ".join(run[-_MAX_NAME_WORDS:])] = None
            run = []
        if part:
            run.append(word)
        last = end
    return list(names)


def fillings(
    line: Sequence[str], things: Sequence[str], held: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield names for the slots of a template, the most likely first.

    Of two things one is of ``held``, the carried ones of ``things``. Pairs come in diagonals, so
    that every thing is soon tried in either slot. Alone, a thing that is not carried may do for
    ``HELD``: the story takes it first.
    """
    names = {NOUN: things, HELD: held, WAY: MOVES}
    slots = [names[word] for word in line if _is_slot(word)]
    carried = frozenset(held)
    if len(slots) < 2:
        yield from product(*slots)
        if HELD in line:
            yield from ((name,) for name in things if name not in carried)
        return
    first, second = slots
    for shift in range(len(second)):
        for at, name in enumerate(first):
            other = second[(at + shift) % len(second)]
            if name != other and (name in carried or other in carried or WAY in line):
                yield name, other


def filled(line: Sequence[str], names: Sequence[str]) -> str:
    """Return a template with names in its slots.

    >>> filled(("put", "HELD", "in", "NOUN"), ("coin", "slot"))
    'put coin in slot'
    """
    left = iter(names)
    return " ".join(next(left) if _is_slot(word) else word for word in line)


_NOT_UNDERSTOOD = re.compile(
    r"not a verb I|don't know the word|didn't understand|only understood you|"
    r"(?:\A|[.!?]\s|\n)\W*(?:you|i) (?:can't|don't|cannot) see any\b|"
    r"doesn't (?:know|recogni[sz]e) the word|in a way that I don't|"
    r"(?:seem|appear) to have said too little|beg your pardon|not something you need to refer|"
    r"noun missing|isn't one I recogni[sz]e|isn't in the vocabulary|"
    r"can't use multiple objects|What do you want to|(?:Who|What|Which) do you (?:want|mean)|"
    r"Sorry, you can only have one|can't (?:go|see) that way|no such thing|Nothing to do!|"
    r"want to talk to someone|"
    r"You can't go|That's not something you can",
    re.IGNORECASE,
)


def understood(text: str) -> bool:
    """True if an answer is none of the complaints that parsers share."""
    return _NOT_UNDERSTOOD.search(text) is None


_REFUSED_VERB = (
    "not a verb i", "didn't understand", "only understood you", "in a way that i don't",
    "can't use multiple objects", "sentence isn't one i", "verb i recognise", "verb i recognize",
)  # fmt: skip
"""Words with which a parser refuses the form of a command."""
_WHICH = re.compile(r"\bWhich (?:\w+ )*do you mean,? (?P<names>[^?]+)\?", re.IGNORECASE)
_STATUS = re.compile(  # a run of spaces is read once, from its first one
    r"\A>[^\n]*[ ]{12}(?:Score|Time):[^\n]*\n*|\n?>?(?<! )[ ]{12}[^\n]*\Z|\n>\s*\Z|\A>\s*\Z"
)
ENDING = re.compile(r"\*\*\*+\s*(.+?)\s*\*\*\*+")
"""Words between stars with which a story ends."""


def is_refused_verb(text: str) -> bool:
    """True if a parser refused the form of a command, with any things."""
    lower = text.lower()  # ten times as fast as a pattern, for each of a thousand answers
    return any(map(lower.__contains__, _REFUSED_VERB))


def names_offered(text: str) -> list[str]:
    """Return the names in a story's question which thing is meant.

    >>> names_offered("Which button do you mean, the red button or the up button?")
    ['red button', 'up button']
    """
    question = _WHICH.search(text)
    names = re.split(r",? or |, ", question["names"].lower()) if question else []
    offered = (name.strip().removeprefix("the ") for name in names)
    return [name for name in offered if name not in _NO_NAMES]


def parts_of(name: str) -> Iterator[str]:
    """Yield a run of words and its parts, the longest first; ties go to the last.

    >>> list(parts_of("old iron key"))
    ['old iron key', 'iron key', 'old iron', 'key', 'iron', 'old']
    """
    words = name.split()
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length, -1, -1):
            yield " ".join(words[start : start + length])


def preference(command: str) -> tuple[bool, int, int, str]:
    """Return the key that sorts commands of one effect, the likeliest wording first."""
    verb = command.partition(" ")[0]
    order = PREFERRED.index(verb) if verb in PREFERRED else len(PREFERRED)
    order = -1 if command in MOVES else order
    return command.endswith(" all"), order, len(command), command


def shape_of(line: Sequence[str]) -> str:
    """Return a template without the contents of its slots."""
    return " ".join(line).replace(HELD, NOUN)


def story_text(text: str) -> str:
    """Return an answer without status line and prompt."""
    return _STATUS.sub("", text).strip()
