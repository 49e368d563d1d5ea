"""Features of an observation: bags of named features for the situation and for every action."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

from gym_memory.baselines.actions import FILLERS, parse_action
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Triple
from gym_memory.core.settings import check_int
from gym_memory.core.text import clauses, compounds, stem
from gym_memory.graph.map import distances, first_steps
from gym_memory.graph.recalled import RecalledFacts
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, door_relation

__all__ = ["ActionFeatures", "FeatureRows", "Lexicon", "RecalledScene", "describe"]

_ROLES = ("1", "2", "3")
_DOORS = frozenset(map(door_relation, DIRECTIONS))
_NAMED = "name:"
_IN_NAMES = "in names:"
_NAME = "<>"  # stands for a name in a clause
_LONGEST_CLAUSE = 7  # words of a clause that is a feature as a whole


class Lexicon:
    """Counts of the training games in which each word and name occurs.

    A common one occurs in a ``share`` of the games seen, once there are at least ``least``.
    ``state`` comes from an earlier lexicon.
    """

    def __init__(self, share: float, least: int = 5, state: Iterable[list[str]] = ()):
        self.share, self.least = share, least
        self._games: dict[str, dict[str, None]] = {}
        self._count: dict[str, int] = {}
        self._enough = share * least
        self._shown: dict[tuple[str, ...], str] = {}  # until a count changes
        for game, *words in state:
            self.learn(game, words)

    def learn(self, game: str, words: Iterable[str]) -> None:
        """Count each distinct word of a game once."""
        seen = self._games.setdefault(game, {})
        self._enough = self.share * max(len(self._games), self.least)
        for word in words:
            if word not in seen:
                self._shown.clear()
                seen[word] = None
                self._count[word] = self._count.get(word, 0) + 1

    def common(self, word: str) -> bool:
        """True if a word or name is common."""
        return self._count.get(word, 0) >= self._enough

    def shown(self, *words: str) -> str:
        """Return words of a text, ``*`` for each that is rare, as are most words of names.

        A word that is in no name may be four times as rare as a common one.
        """
        if words not in self._shown:
            said = []
            for word in words:
                enough = self._enough if _IN_NAMES + word in self._count else self._enough / 4
                common = self._count.get(word, 0) >= enough and not word.isdigit()
                said.append(word if common or word == _NAME else "*")
            self._shown[words] = " ".join(said)
        return self._shown[words]

    def state(self) -> list[list[str]]:
        """Return the words of each game, the game first."""
        return [[game, *words] for game, words in self._games.items()]


class FeatureRows:
    """Rows of features in an embedding table, in the order in which training meets them.

    Row 0 is for untrained features and stays zero, so a word that is new in a test game has no
    effect instead of a random one. Features without a free row get row 0, too.
    """

    def __init__(self, size: int, names: Iterable[str] = ()):
        self.size, self.frozen = check_int("size", size, 2), False
        self._rows = {name: row for row, name in enumerate(names, 1)}
        if len(self._rows) >= size:
            raise InvalidArgumentError(f"expected at most {size - 1} names, got {len(self._rows)}")

    @property
    def names(self) -> list[str]:
        """Return the features with a row, those of rows 1, 2, ... in order."""
        return list(self._rows)

    def rows(self, features: Iterable[str]) -> list[int]:
        """Return rows of features; new ones get the next free row, or 0 if ``frozen`` or full."""
        known, wanted = self._rows, tuple(features)
        if not self.frozen:
            for feature in wanted:
                if feature not in known and len(known) + 1 < self.size:
                    known[feature] = len(known) + 1
        return [known.get(feature, 0) for feature in wanted]


class RecalledScene(RecalledFacts):
    """Descriptions of entities by the recalled facts, without their names."""

    def __init__(self, triples: Iterable[Triple]):
        super().__init__(triples)
        self._linked: dict[str, list[tuple[str, str]]] = {}
        self._bare: dict[str, tuple[str, ...]] = {}
        for subject, relation, obj in self.links:
            name = "has door" if relation in _DOORS else relation
            self._linked.setdefault(subject, []).append((f"{name}>", obj))
            self._linked.setdefault(obj, []).append((f"<{name}", subject))

    def whereabouts(self, name: str) -> str:
        """Return ``@hand``, ``@here``, ``@away`` or ``@unknown``."""
        places = {self.here: "@here", INVENTORY: "@hand", "": "@unknown"}
        return places.get(self.room_of(name), "@away")

    def bare_atoms(self, name: str) -> tuple[str, ...]:
        """Return the atoms of an entity without its attributes, its whereabouts last."""
        found = self._bare.get(name)
        if found is None:
            parts = []
            for relation, other in self._linked.get(name, ()):
                parts.append(relation)
                if relation.endswith(">"):
                    parts.append(f"{relation}{self.whereabouts(other)}")
            parts.append(self.whereabouts(name))
            found = self._bare[name] = tuple(dict.fromkeys(parts))
        return found

    def atoms(self, name: str) -> tuple[str, ...]:
        """Return all atoms of an entity, or only ``@unknown`` if no fact names it."""
        own = [f"{relations}:{value}" for relations, value in self.values(name)]
        return (*own, *self.bare_atoms(name))

    @cached_property
    def signposts(self) -> dict[str, dict[str, None]]:
        """Return, for each direction from here, the nearest atoms in that direction."""
        away = distances(self.here, self.ways)
        offers: dict[str, list[str]] = {}
        for place in list(away)[1:]:
            offers[place] = [atom for atom in self.atoms(place) if not atom.startswith("@")]
            offers[place] += ["unexplored"] * bool(self.unexplored(place))
        for name in self.holders:
            room = self.room_of(name)
            if room in offers:
                offers[room] += [a for a in self.atoms(name) if not a.startswith("@")]
                offers[room].append(f"{_NAMED}{name}")
        steps = first_steps(away, self.ways)
        nearest: dict[str, int] = {}
        signs: dict[str, dict[str, None]] = {}
        for place, offered in offers.items():  # the nearest places come first
            for atom in offered:
                if nearest.setdefault(atom, away[place]) == away[place]:
                    for step in steps[place]:
                        signs.setdefault(step, {})[atom] = None
        return signs


Texts = list[tuple[str, str]]  # name and text
Around = tuple[tuple[str, ...], str]  # words near a name, and their side


class ActionFeatures(NamedTuple):
    """Features of the situation, and of each valid action in the observation's order."""

    state: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]


def describe(
    obs: Observation, lexicon: Lexicon, game: str = "", words: str = "auto", facts: str = "related"
) -> ActionFeatures:
    """Return all features of an observation; ``words`` and ``facts`` as in :class:`.BagSettings`.

    The lexicon learns the words of the training ``game``, which is empty while evaluating.
    """
    triples = () if facts == "rendered" else obs["triples"]
    scene, matched = RecalledScene(triples), facts == "related"
    texts: Texts = []
    if words == "always" or not triples:
        texts = [("text", obs["text"]), ("inventory", obs["inventory"])]
    if not triples:
        texts.append(("memory", obs["memory"]))  # with facts, it would only repeat them
    phrases = [parse_action(action) for action in obs["valid_actions"]]
    names = dict.fromkeys(name for phrase in phrases for name in phrase.names)
    if game:
        parts = (_IN_NAMES + word for name in names for word in name.split())
        lexicon.learn(game, [*names, *parts, *(phrase.verb for phrase in phrases)])
        for _, text in texts:
            lexicon.learn(game, compounds(text))
    named = {name: _named(name, scene, texts, lexicon, matched=matched) for name in names}
    actions = tuple(
        _action(phrase.verb, phrase.template, tuple([named[n] for n in phrase.names]), matched)
        for phrase in phrases
    )
    earned = obs.get("earned", 0.0)
    state = (f"s earned {earned:+g}",) * bool(earned) + _state(scene, texts, lexicon)
    return ActionFeatures(state, actions)


def _state(scene: RecalledScene, texts: Texts, lexicon: Lexicon) -> tuple[str, ...]:
    found = [
        f"s {source} word {word}"
        for source, text in texts
        for word in dict.fromkeys(compounds(text))
        if lexicon.shown(word) == word
    ]
    for subject, relation, obj in scene.links:
        if relation in _DOORS:
            continue
        for end, name in (("<", subject), (">", obj)):
            link, at = f"s {end}{relation}", scene.whereabouts(name)
            found.append(f"{link} {at}")
            for relations, value in scene.values(name):
                found += [f"{link} {relations}", f"{link} {at} {relations}"]
                found.append(f"{link} {at} {relations} {value}")
    found += [f"s held {atom}" for name in scene.held for atom in scene.atoms(name)]
    found += [f"s held {name}" for name in scene.held if lexicon.common(name)]
    found += [f"s here {atom}" for atom in scene.atoms(scene.here)]
    found += ["s here unexplored"] * bool(scene.unexplored(scene.here))
    return tuple(found)


class _NameFeatures(NamedTuple):
    """Features of one name in an action."""

    name: str
    """Name if it is common, or empty."""
    atoms: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    contexts: tuple[tuple[str, str, str, str], ...] = ()
    """Words next to it: text, word, side, and the word or ``*``; and the clauses of its line."""
    way: tuple[str, ...] = ()
    """Features of a direction in a known place, which has no atoms or contexts."""


def _named(
    name: str, scene: RecalledScene, texts: Texts, lexicon: Lexicon, *, matched: bool
) -> _NameFeatures:
    common, values = name if lexicon.common(name) else "", tuple(scene.values(name))
    contexts = tuple(
        (source, words[0] if len(words) == 1 else "", side, shown)
        for source, text in texts
        for words, side in _around(name, text)
        for shown in (lexicon.shown(*words),)
        if "*" not in shown or side != "says"
    )
    if name not in DIRECTIONS or not scene.here:  # without a place, its ways are unknown
        return _NameFeatures(common, scene.bare_atoms(name), values, contexts)
    known = name in scene.ways(scene.here)
    atoms = scene.signposts.get(name, ()) if known and matched else ()
    signs = (a for a in atoms if not a.startswith(_NAMED) or lexicon.common(a[len(_NAMED) :]))
    way = ("way known" if known else "way unexplored", *(f"way to {atom}" for atom in signs))
    return _NameFeatures(common, (), values, contexts, way)


@lru_cache(maxsize=20_000)
def _action(
    verb: str, template: str, named: tuple[_NameFeatures, ...], matched: bool
) -> tuple[str, ...]:
    verb_stem = stem(verb) if matched else None
    stems = [{stem(value) for _, value in one.values} for one in named]
    around = [{stem(word) for _, word, *_ in one.contexts} for one in named]
    if any(verb_stem in own for own in (*stems, *around)):
        verb = "="
    found = [f"{verb} {template}", template]
    for i, (role, one) in enumerate(zip(_ROLES, named, strict=False)):
        if one.way:
            found += one.way
            continue
        if one.name:
            found += [f"{role} is {one.name}", f"{verb} {role} is {one.name}"]
        matching: set[str | None] = set()
        if matched:
            matching = {verb_stem}.union(*(own for j, own in enumerate(stems) if j != i))
        parts = [*one.atoms]
        parts += [f"{r} {'=' if stem(v) in matching else v}" for r, v in one.values]
        for source, word, side, shown in one.contexts:
            parts.append(f"{source} {'=' if stem(word) == verb_stem else shown} {side}")
        found += [f"{role} {part}" for part in parts]
        found += [f"{verb} {role} {part}" for part in parts]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=20_000)
def _around(name: str, text: str) -> tuple[Around, ...]:
    """Return the words around each mention of a name, with their side, and clauses of its line."""
    return tuple(dict.fromkeys(one for line in text.split("\n") for one in _in_line(name, line)))


@lru_cache(maxsize=200_000)
def _in_line(name: str, line: str) -> list[Around]:
    parts = [clause.replace(f" {name} ", f" {_NAME} ").split() for clause in clauses(line, FILLERS)]
    words = list(itertools.chain.from_iterable(parts))
    places = [place for place, word in enumerate(words) if word == _NAME]
    found: list[Around] = []
    for place in places:
        found += [((word,), "before") for word in words[max(place - 2, 0) : place]]
        found += [((word,), "after") for word in words[place + 1 : place + 2]]
    short = (tuple(part) for part in parts if 0 < len(part) <= _LONGEST_CLAUSE)
    return found + [(part, "says") for part in short] if places else []
