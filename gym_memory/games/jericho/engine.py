"""Any story of the Z-machine: score, endings and valid actions.

If jericho knows the game, it gives score, best score, win, loss and the parser's templates. Else
``score`` is typed and undone, endings are read between stars, and dictionary and grammar come from
the file. Commands are tried: they count if they change the objects.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from gym_memory.core.records import Triple
from gym_memory.games.jericho.copies import COMMAND_CPU_S, Attempt, in_copy
from gym_memory.games.jericho.facts import (
    Tree,
    find_player,
    holders_of,
    is_circular,
    object_names,
    true_facts,
)
from gym_memory.games.jericho.listing import Listing
from gym_memory.games.jericho.trials import StateTrials
from gym_memory.games.jericho.vocabulary import (
    Bytes,
    Region,
    Vocabulary,
    object_region,
    read_vocabulary,
)
from gym_memory.games.jericho.words import (
    ENDING,
    MOVES,
    PREFERRED,
    shape_of,
    story_text,
    templates_of,
    understood,
)
from gym_memory.games.textworld.engine import Answer
from gym_memory.games.textworld.story_engine import StoryEngine
from gym_memory.games.textworld.zmachine import Interpreter, check_story

__all__ = ["ParserEngine", "StoryFacts"]

_DEBUGGING = frozenset((
    "abstract", "actions", "changes", "events", "gonear", "goto", "messages", "predictable",
    "purloin", "random", "relations", "responses", "routines", "rules", "scenes", "scope",
    "showdict", "showheap", "showme", "showobj", "showverb", "test", "timers", "trace", "tree",
))  # fmt: skip
"""Inform's verbs for authors, which change or show the world beyond the player's means."""
_SCORE = re.compile(
    r"(?:scored|(?:score|potential) (?:is|of|was)|have)\s+(?:so far\s+)?(?:scored\s+)?(-?\d+)"
)
_MOST = re.compile(r"\bof (?:a |the )?(?:(?:possible|maximum|total) )*(?:of )?(\d+)")
_LAST_PROMPT = re.compile(r"\brestart\b[^.]*\b(?:restore|quit)\b[^.]*\Z", re.IGNORECASE)
_WON = re.compile(r"\b(?:won|win|victory|victorious|congratulations|triumph)", re.IGNORECASE)
_LOST = re.compile(r"\b(?:died|dead|drowned|killed|lost|failed|over)\b", re.IGNORECASE)
_BROKEN = "The story cannot continue: this command breaks it."
_CIRCULAR = "That would put a thing into itself."
_MOST_KEPT = 4096


class StoryFacts(NamedTuple):
    """Words, objects and templates of a story file."""

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
    """An engine that plays a story and finds the commands that change it.

    Args:
        seed: As of :class:`~gym_memory.games.textworld.story_engine.StoryEngine`.
        verbose: Whether to type ``verbose`` first, so that known rooms are described again.
    """

    def __init__(self, seed: int | None = None, *, verbose: bool = False) -> None:
        super().__init__(seed)
        self._verbose = verbose
        self._known: StoryFacts | None = None
        self._player: int | None = None
        self._kept: dict[str, tuple[str, ...]] = {}
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
        """Return verbs for the story's author that were left in it."""
        meta = self.facts_of_story.vocabulary.meta
        length = self.facts_of_story.vocabulary.length
        return frozenset(verb for verb in _DEBUGGING if verb[:length] in meta)

    @property
    def _scored_by_engine(self) -> bool:
        """True if jericho or TextWorld gives score and endings."""
        return self._traced or self._machine.supported

    def _present_score(self) -> float:
        """Return the score: an old story's variable, else the answer to ``score``, undone."""
        begun = self._machine.save()
        if self.facts_of_story.old:
            return float(self.facts_of_story.variable(begun, 1))
        answer = self._machine.send("score")
        self._machine.load(begun)
        return _number(_SCORE, answer, self._score)

    def send(self, command: str) -> Answer:
        """Play one command; take back one that puts a thing into itself: the story would hang."""
        before, begun = self._score, super().save()
        answer = super().send(self.facts_of_story.vocabulary.spelled(command))
        if self._is_circular(self._machine.save()[0]) and not self._is_circular(begun.machine[0]):
            self.load(begun)
            return Answer(_CIRCULAR, before, accepted=False)
        if self._machine.halted and not story_text(answer.text):
            answer = answer._replace(text=_BROKEN)
        text = answer.text
        ending = ENDING.search(text)
        if self._scored_by_engine:
            if answer.lost and ending is not None and _WON.search(ending[1]):
                answer = answer._replace(won=True, lost=False)
            return self._read(answer)
        over = ending is not None or answer.lost or _LAST_PROMPT.search(text) is not None
        if over and not self.facts_of_story.old:
            score = _number(_SCORE, text, before)
        else:
            score = self._present_score()
        most = self.game.max_score
        won = over and (score >= most > 0 or (ending is not None and _says_won(ending[1], most)))
        self._score, self._over = score, over
        answer = answer._replace(score=score, won=won, lost=over and not won)
        return self._read(answer._replace(accepted=understood(text)))

    def _is_circular(self, memory: Bytes) -> bool:
        return is_circular(holders_of(self.facts_of_story.story, memory))

    def _read(self, answer: Answer) -> Answer:
        return answer._replace(text=story_text(answer.text))

    def inventory(self) -> str:
        """Return the story's answer to ``inventory``; empty while it waits for a key."""
        return "" if self._machine.awaits_key else story_text(super().inventory())

    def walkthrough(self) -> tuple[str, ...]:
        """Return jericho's solution of a game that it knows, else empty."""
        return tuple(self._machine.frotz.get_walkthrough()) if self._machine.supported else ()

    def truth(self) -> frozenset[Triple]:
        """Return the facts of the present state; every direction is walked in a copy."""
        facts, self._player = in_copy(self._truth, COMMAND_CPU_S)
        return frozenset(Triple(*fact) for fact in facts)

    def _truth(self, attempt: Attempt) -> tuple[list[Triple], int]:
        trials, walked = StateTrials(self._machine, self.facts_of_story.vocabulary, attempt), {}
        here = self._tree(attempt)
        for move in MOVES:
            if not trials.result(move).ends:
                walked[move] = self._tree(attempt)
        player = self._player
        if self._machine.supported:
            player = self._machine.frotz.get_player_object().num
        player = player or find_player({**walked, "": here})
        return sorted(true_facts(here, walked, player)), player

    def _tree(self, attempt: Attempt) -> Tree:
        state, known = self._machine.save(), self.facts_of_story
        room = known.variable(state, 0) if known.old else 0
        title = story_text(self._machine.send("look") if attempt("look") else "").partition("\n")[0]
        return Tree(known.story, state[0], room, title)

    @property
    def machine(self) -> Interpreter:
        """Return the interpreter of the story in play."""
        return self._machine

    @property
    def facts_of_story(self) -> StoryFacts:
        """Return what the file of the story in play says about it."""
        if self._known is None:
            story = check_story(self._story)
            vocabulary = read_vocabulary(story, PREFERRED)
            generator = self._machine.frotz.act_gen
            known = generator.templates if generator and not vocabulary.templates else ()
            templates = templates_of(vocabulary, tuple(known))
            shapes = set(map(shape_of, templates))  # jericho's lists lack some, such as `unlock`
            common = templates_of(vocabulary._replace(templates=()))
            templates += tuple(line for line in common if shape_of(line) not in shapes)
            object_names(story)  # kept for every copy of this process
            self._known = StoryFacts(vocabulary, object_region(story), templates, story)
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
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = tuple(found)
        return self._kept[key]

    def _listing(self, attempt: Attempt) -> Listing:
        known = self.facts_of_story
        trials = StateTrials(self._machine, known.vocabulary, attempt)
        return Listing(trials, known.vocabulary, known.region, known.templates, known.story)

    def list_here(self) -> tuple[str, ...]:
        """Search the present state in this process, for measurements of the search."""
        return self._listing(lambda command: True).commands()

    def _listed(self, attempt: Attempt) -> tuple[str, tuple[str, ...] | None]:
        """Return the key of the present state, and its list unless that is known."""
        listing = self._listing(attempt)
        key = listing.key
        return key, None if key in self._kept else listing.commands()


def _says_won(ending: str, most: float) -> bool:
    return bool(_WON.search(ending) or (most <= 0 and not _LOST.search(ending)))


def _number(pattern: re.Pattern[str], text: str, otherwise: float) -> float:
    found = pattern.search(text)
    return float(found[1]) if found else otherwise
