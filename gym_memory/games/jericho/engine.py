"""Any story of the Z-machine: score, endings and valid actions.

If jericho knows the game, it gives score, best score, win, loss and the parser's templates. Else
``score`` is typed and undone, endings are read between stars, and dictionary and grammar come from
the file. Commands are tried: they count if they change the objects.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.records import Triple
from gym_memory.games.jericho.copies import Attempt, in_copy
from gym_memory.games.jericho.facts import Tree, find_player, holders_of, is_circular, true_facts
from gym_memory.games.jericho.vocabulary import (
    HELD,
    NOUN,
    Bytes,
    Region,
    Vocabulary,
    object_region,
    read_vocabulary,
    steady,
)
from gym_memory.games.textworld.engine import Answer
from gym_memory.games.textworld.story_engine import StoryEngine
from gym_memory.games.textworld.zmachine import check_story
from gym_memory.graph.schema import DIRECTIONS

__all__ = [
    "COMMAND_CPU_S",
    "GENERIC",
    "MOVES",
    "PREFERRED",
    "ParserEngine",
    "commands",
    "names_in_view",
]
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
        "throw HELD at NOUN", "jump", "wait", "dig", "swim", "pray",
    )
)  # fmt: skip
"""Templates for a story without grammar; those with unknown words are left out."""

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


_DEBUGGING = frozenset((
    "abstract", "actions", "changes", "events", "gonear", "goto", "messages", "predictable",
    "purloin", "random", "relations", "responses", "routines", "rules", "scenes", "scope",
    "showdict", "showheap", "showme", "showobj", "showverb", "test", "timers", "trace", "tree",
))  # fmt: skip
"""Inform's verbs for authors: they change or show the world behind the player's back."""
_NO_CHOICE = frozenset(("or", "restore", "quit", "restart", "undo"))
"""Words of a choice that no player may use."""


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
            if all(word in (NOUN, HELD) or vocabulary.knows(word) for word in line)
        )
    untried = {word[: vocabulary.length] for word in (*_UNTRIED, *MOVES)}
    tried = (line for line in lines if line[0].isalpha() and line[0] not in untried)
    return tuple(dict.fromkeys(filter(_can_be_filled, tried)))


def _can_be_filled(line: tuple[str, ...]) -> bool:
    """True if a template has at most two slots, and a word between them."""
    slots = [i for i, word in enumerate(line) if _is_slot(word)]
    return len(slots) < 2 or (len(slots) == 2 and slots[1] - slots[0] > 1)


def _is_slot(word: str) -> bool:
    return word in (NOUN, HELD)


def names_in_view(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return names of things in a text: runs of words that the parser takes for names.

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
    """Yield every template with every thing in its slots, those with two slots last.

    Of two slots one takes a name of ``held``, the carried ones of ``things``.
    """
    choices = {NOUN: things, HELD: held}
    for line in sorted(templates, key=lambda line: sum(map(_is_slot, line)) == 2):
        for filled in product(*(choices.get(word, (word,)) for word in line)):
            names = [name for name, word in zip(filled, line, strict=True) if _is_slot(word)]
            if len(names) < 2 or (len(set(names)) == 2 and not set(names).isdisjoint(held)):
                yield " ".join(filled)


_STATUS = re.compile(
    r"\A>[^\n]*[ ]{12,}(?:Score|Time):[^\n]*\n*|\n?>?[ ]{12,}[^\n]*\Z|\n>\s*\Z|\A>\s*\Z"
)
_SCORE = re.compile(
    r"(?:scored|(?:score|potential) (?:is|of|was)|have)\s+(?:so far\s+)?(?:scored\s+)?(-?\d+)"
)
_MOST = re.compile(r"\bof (?:a |the )?(?:(?:possible|maximum|total) )*(?:of )?(\d+)")
_ENDING = re.compile(r"\*\*\*+\s*(.+?)\s*\*\*\*+")
_CHOICE = re.compile(r"\b(?:type|answer) ((?:\w+,? ){1,6}or \w+)\b", re.IGNORECASE)
"""Answers that a story waits for: *Please type YES or NO*."""
_LAST_PROMPT = re.compile(r"\brestart\b[^.]*\b(?:restore|quit)\b[^.]*\Z", re.IGNORECASE)
_WON = re.compile(r"\b(?:won|win|victory|victorious|congratulations|triumph)", re.IGNORECASE)
_LOST = re.compile(r"\b(?:died|dead|drowned|killed|lost|failed|over)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\((?:first |putting |Taken|with the|having )", re.IGNORECASE)
_NOT_UNDERSTOOD = re.compile(
    r"not a verb I|don't know the word|didn't understand|only understood you|can't see any|"
    r"don't see any|doesn't (?:know|recogni[sz]e) the word|in a way that I don't|"
    r"(?:seem|appear) to have said too little|beg your pardon|not something you need to refer|"
    r"noun missing|isn't one I recogni[sz]e|isn't in the vocabulary|"
    r"can't use multiple objects|What do you want to|(?:Who|What|Which) do you (?:want|mean)|"
    r"Sorry, you can only have one|can't (?:go|see) that way|no such thing|Nothing to do!|"
    r"want to talk to someone|"
    r"You can't go|That's not something you can",
    re.IGNORECASE,
)
COMMAND_CPU_S = 5.0
"""CPU seconds that a story may take for a command; the slowest known one takes 1."""
_QUIET = ("look", "inventory", "wait")
"""Commands that every story takes and that change nothing."""
_CIRCULAR = "That would put a thing into itself."
_MOST_THINGS = 20
_MOST_TRIED = 1000
"""Commands tried in one state; of more, those of ``GENERIC`` first, and one thing before two."""
_KEPT = 4096


def understood(text: str) -> bool:
    """True if an answer is none of the complaints that parsers share."""
    return _NOT_UNDERSTOOD.search(text) is None


class _KnownStory(NamedTuple):
    vocabulary: Vocabulary
    region: Region
    templates: tuple[tuple[str, ...], ...]
    story: bytes

    @property
    def old(self) -> bool:
        """True if the first two variables are the room and the score."""
        return self.story[0] <= 3

    def variable(self, state: Any, number: int) -> int:
        """Return a variable of the story in a state of the machine."""
        at = int.from_bytes(self.story[0x0C:0x0E], "big") + 2 * number
        return int.from_bytes(state[0][at : at + 2].tobytes(), "big", signed=True)


class ParserEngine(StoryEngine):
    """Plays a story and finds the commands that change it.

    Args:
        seed: As of :class:`~gym_memory.games.textworld.story_engine.StoryEngine`.
        verbose: Whether to type ``verbose`` first, so that known rooms are described again.
    """

    def __init__(self, seed: int | None = None, *, verbose: bool = False) -> None:
        super().__init__(seed)
        self._verbose = verbose
        self._known: _KnownStory | None = None
        self._player: int | None = None
        self._kept: dict[str, tuple[str, ...]] = {}
        self._attempt: Attempt = lambda command: True
        self.searches = 0

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Begin a story."""
        if self._story != os.fspath(story):
            self._known = self._player = None
        self._kept.clear()
        answer = super().start(story)
        if self._verbose:
            self._machine.send("verbose")
        if not self._scored_by_engine:
            begun = self._machine.save()
            most = _number(_MOST, self._machine.send("score"), self.game.max_score)
            self._machine.load(begun)
            self.game = self.game._replace(max_score=most)
            self._score = self._present_score()
        return self._read(answer)._replace(accepted=True, score=self._score)

    @property
    def debugging_verbs(self) -> frozenset[str]:
        """Verbs for the story's author that were left in it."""
        meta = self._story_facts.vocabulary.meta
        length = self._story_facts.vocabulary.length
        return frozenset(verb for verb in _DEBUGGING if verb[:length] in meta)

    @property
    def _scored_by_engine(self) -> bool:
        """True if jericho or TextWorld gives score and endings."""
        return self._traced or self._machine.supported

    def _present_score(self) -> float:
        """Return the score: an old story's variable, else the answer to ``score``, undone."""
        begun = self._machine.save()
        if self._story_facts.old:
            return float(self._story_facts.variable(begun, 1))
        answer = self._machine.send("score")
        self._machine.load(begun)
        return _number(_SCORE, answer, self._score)

    def send(self, command: str) -> Answer:
        """Play one command; take back one that puts a thing into itself: the story would hang."""
        before, begun = self._score, super().save()
        answer = super().send(self._story_facts.vocabulary.spelled(command))
        if self._is_circular(self._machine.save()[0]) and not self._is_circular(begun.machine[0]):
            self.load(begun)
            return Answer(_CIRCULAR, before, accepted=False)
        text = answer.text
        ending = _ENDING.search(text)
        if self._scored_by_engine:
            if answer.lost and ending is not None and _WON.search(ending[1]):
                answer = answer._replace(won=True, lost=False)
            return self._read(answer)
        over = ending is not None or answer.lost or _LAST_PROMPT.search(text) is not None
        if over and not self._story_facts.old:
            score = _number(_SCORE, text, before)
        else:
            score = self._present_score()
        most = self.game.max_score
        won = over and (score >= most > 0 or (ending is not None and _says_won(ending[1], most)))
        self._score, self._over = score, over
        answer = answer._replace(score=score, won=won, lost=over and not won)
        return self._read(answer._replace(accepted=understood(text)))

    def _is_circular(self, memory: Bytes) -> bool:
        return is_circular(holders_of(self._story_facts.story, memory))

    def _read(self, answer: Answer) -> Answer:
        return answer._replace(text=_cleaned(answer.text))

    def inventory(self) -> str:
        """Return the story's answer to ``inventory``."""
        return _cleaned(super().inventory())

    def walkthrough(self) -> tuple[str, ...]:
        """Return jericho's solution of a game that it knows, else empty."""
        return tuple(self._machine.frotz.get_walkthrough()) if self._machine.supported else ()

    def truth(self) -> frozenset[Triple]:
        """Return what is true in the present state; every direction is walked in a copy."""
        facts, self._player = in_copy(self._truth, COMMAND_CPU_S)
        return frozenset(Triple(*fact) for fact in facts)

    def _truth(self, attempt: Attempt) -> tuple[list[Triple], int]:
        self._attempt = attempt
        begun, walked = self._machine.save(), {}
        here = self._tree(begun)
        for move in MOVES:
            if not self._ends(self._after(begun, move)[0]):
                walked[move] = self._tree(self._machine.save())
        player = self._player
        if self._machine.supported:
            self._machine.load(begun)
            player = self._machine.frotz.get_player_object().num
        player = player or find_player({**walked, "": here})
        return sorted(true_facts(here, walked, player)), player

    def _tree(self, state: Any) -> Tree:
        known = self._story_facts
        room = known.variable(state, 0) if known.old else 0
        title = _cleaned(self._after(state, "look")[0]).partition("\n")[0]
        return Tree(known.story, state[0], room, title)

    # ------------------------------------------------------------ valid actions

    @property
    def _story_facts(self) -> _KnownStory:
        if self._known is None:
            story = check_story(self._story)
            vocabulary = read_vocabulary(story, PREFERRED)
            generator = self._machine.frotz.act_gen
            known = generator.templates if generator else ()
            templates = templates_of(vocabulary, tuple(known))
            self._known = _KnownStory(vocabulary, object_region(story), templates, story)
        return self._known

    def admissible_commands(self) -> tuple[str, ...]:
        """Find commands that change the world by trying them; kept by state of the world.

        The state is the object tree, the properties, and the answers to ``look`` and ``inventory``.
        Bytes that differ between commands that change nothing are left out. Of several commands
        with the same effect, return the preferred one.
        """
        key, found = in_copy(self._listed, COMMAND_CPU_S)
        if found is not None:
            self.searches += 1
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = tuple(found)
        return self._kept[key]

    def _listed(self, attempt: Attempt) -> tuple[str, tuple[str, ...] | None]:
        """Return the key of the present state, and its list unless that is known."""
        self._attempt = attempt
        begun = self._machine.save()
        quiet = [self._after(begun, command) for command in _QUIET]
        region = self._story_facts.region
        same = steady([region.of(memory) for _, memory in quiet])
        world = region.of(quiet[0][1])[same].tobytes()
        seen = "\0".join(_cleaned(text) for text, _ in quiet[:2])
        key = hashlib.sha256(world + seen.encode()).hexdigest()
        found = None if key in self._kept else self._search(begun, quiet)
        return key, found

    def _after(self, begun: Any, command: str) -> tuple[str, Bytes]:
        self._machine.load(begun)
        if not self._attempt(command):
            return "", begun[0]
        text = self._machine.send(self._story_facts.vocabulary.spelled(command))
        memory = np.empty_like(begun[0])
        self._machine.frotz.frotz_lib.getRAM(ctypes.c_void_p(memory.ctypes.data))
        return text, memory

    def _search(self, begun: Any, quiet: list[tuple[str, Bytes]]) -> tuple[str, ...]:
        choice = _CHOICE.search(quiet[0][0])
        if choice is not None:
            offered = re.findall(r"\w+", choice[1].lower())
            return tuple(word for word in offered if word not in _NO_CHOICE)
        vocabulary, region, templates, _ = self._story_facts
        memories = [memory for _, memory in quiet]
        things = self._things(begun, quiet[0][0] + quiet[1][0], memories)
        inside = set(names_in_view(quiet[1][0], vocabulary))
        held = [name for name in things if name in inside]
        same = steady([region.of(memory) for memory in memories])
        # A command that takes no time leaves the world as it was, others as waiting does.
        still = [region.of(memory)[same] for memory in (memories[0], begun[0])]
        found: dict[bytes, str] = {}
        doomed = self._ends(self._after(begun, _QUIET[-1])[0])  # whatever one does
        moves = tuple(move for move in MOVES if vocabulary.knows(vocabulary.spelled(move)))
        for command in (*moves, *_to_try(templates, things, held)):
            text, memory = self._after(begun, command)
            now = region.of(memory)[same]
            if self._ends(text):
                effect = b"" if doomed else command.encode()
            elif any(np.array_equal(now, world) for world in still) or _ASIDE.search(text):
                effect = b""
            else:
                effect = b"" if self._is_circular(memory) else now.tobytes()
            if effect:
                found[effect] = min(found.get(effect, command), command, key=_preference)
        return (*found.values(), *filter(self._attempt, _QUIET))

    def _things(self, begun: Any, text: str, quiet: list[Bytes]) -> list[str]:
        """Return names in a text that can be examined.

        Of two with the same description keep the longer, ``door`` and ``mill door``, if they have a
        word in common or the description has one of the first: then it names the thing.
        """
        kept: list[tuple[str, str]] = []
        for name in names_in_view(text, self._story_facts.vocabulary):
            answer, memory = self._after(begun, f"examine {name}")
            if not understood(answer):
                continue
            quiet.append(memory)
            look, words = _cleaned(answer), set(name.split())
            same = [
                i
                for i, (old, seen) in enumerate(kept)
                if seen == look and set(old.split()) & (words | set(_WORD.findall(look.lower())))
            ]
            if not same:
                kept.append((name, look))
            elif len(name) > len(kept[same[0]][0]):
                kept[same[0]] = name, look
            if len(kept) == _MOST_THINGS:
                break
        return [name for name, _ in kept]

    def _ends(self, text: str) -> bool:
        if self._machine.supported:
            frotz = self._machine.frotz
            return bool(frotz.victory() or frotz.game_over())
        return _ENDING.search(text) is not None


def _says_won(ending: str, most: float) -> bool:
    return bool(_WON.search(ending) or (most <= 0 and not _LOST.search(ending)))


def _to_try(
    templates: Sequence[tuple[str, ...]], things: Sequence[str], held: Sequence[str]
) -> list[str]:
    listed = list(commands(templates, things, held))
    if len(listed) > _MOST_TRIED:
        common = [line for line in templates if _shape(line) in _COMMON]
        first = dict.fromkeys(commands(common, things, held))
        listed = [*first, *(command for command in listed if command not in first)]
    return listed[:_MOST_TRIED]


def _shape(line: Sequence[str]) -> str:
    return " ".join(line).replace(HELD, NOUN)


_COMMON = frozenset(map(_shape, GENERIC))


def _preference(command: str) -> tuple[int, int, str]:
    verb = command.partition(" ")[0]
    order = PREFERRED.index(verb) if verb in PREFERRED else len(PREFERRED)
    return (-1 if command in MOVES else order), len(command), command


def _number(pattern: re.Pattern[str], text: str, otherwise: float) -> float:
    found = pattern.search(text)
    return float(found[1]) if found else otherwise


def _cleaned(text: str) -> str:
    return _STATUS.sub("", text).strip()
