"""Features of an observation: bags of named features for the situation and for every action."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

from gym_memory.baselines.actions import parse_action
from gym_memory.baselines.rl.shared.lexicon import Context, Lexicon, distinct_lines
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Triple
from gym_memory.core.settings import check_int
from gym_memory.core.text import compounds, stem
from gym_memory.graph.map import distances, first_steps
from gym_memory.graph.recalled import RecalledFacts
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, door_relation

__all__ = ["ActionFeatures", "FeatureRows", "Group", "RecalledScene", "describe", "names_of"]

_ROLES = ("1", "2", "3")
_DOORS = frozenset(map(door_relation, DIRECTIONS))
_NAMED = "name:"


class Group(NamedTuple):
    """Features that begin with the same words, ``start``, each with one of ``parts`` after it.

    To look up parts by their start takes a fifth of the time of composing every name.
    """

    start: str
    parts: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the features' names."""
        return tuple(f"{self.start} {part}" for part in self.parts) if self.start else self.parts


class FeatureRows:
    """Rows of features in an embedding table, in the order in which training meets them.

    Row 0 is for untrained features and stays zero, so a word that is new in a test game has no
    effect instead of a random one. Features without a free row get row 0, too.
    """

    def __init__(self, size: int, names: Iterable[str] = ()):
        self.size, self.frozen = check_int("size", size, 2), False
        self._rows = {name: row for row, name in enumerate(names, 1)}
        self._tables = defaultdict[str, dict[str, int]](dict)  # rows by a group's start and part
        if len(self._rows) >= size:
            raise InvalidArgumentError(f"expected at most {size - 1} names, got {len(self._rows)}")

    @property
    def names(self) -> list[str]:
        """Return the features with a row, those of rows 1, 2, ... in order."""
        return list(self._rows)

    def rows(self, groups: Iterable[Group]) -> list[int]:
        """Return rows of features; new ones get the next free row, or 0 if ``frozen`` or full."""
        found: list[int] = []
        tables = self._tables
        for group in groups:
            table = tables[group.start]
            try:
                found += [table[part] for part in group.parts]
            except KeyError:
                found += self._missing(group, table)
        return found

    def _missing(self, group: Group, table: dict[str, int]) -> list[int]:
        known, rows = self._rows, []
        for part, feature in zip(group.parts, group.names, strict=True):
            full = len(known) + 1 >= self.size
            if not self.frozen and not full:
                known.setdefault(feature, len(known) + 1)
            rows.append(known.get(feature, 0))
            if rows[-1] or full:
                table[part] = rows[-1]
        if len(table) > 10 * self.size:
            table.clear()
        return rows


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


def names_of(groups: Iterable[Group]) -> tuple[str, ...]:
    """Return the names of all features of some groups."""
    return tuple(name for group in groups for name in group.names)


class ActionFeatures(NamedTuple):
    """Features of the situation, and of each valid action in the observation's order."""

    state: tuple[Group, ...]
    actions: tuple[tuple[Group, ...], ...]


def describe(
    obs: Observation, lexicon: Lexicon, game: str = "", words: str = "auto", facts: str = "related"
) -> ActionFeatures:
    """Return all features of an observation; ``words`` and ``facts`` as in :class:`.BagSettings`.

    The lexicon learns the words of the training ``game``, which is empty while evaluating.
    """
    triples = () if facts == "rendered" else obs["triples"]
    scene, matched = RecalledScene(triples), facts == "related"
    texts: dict[str, str] = {}
    if words == "always" or not triples:
        texts = {"text": obs["text"], "inventory": obs["inventory"]}
    if not triples:
        texts["memory"] = obs["memory"]  # with facts, it would only repeat them
    phrases = [parse_action(action) for action in obs["valid_actions"]]
    names = dict.fromkeys(name for phrase in phrases for name in phrase.names)
    if game:
        lexicon.learn_names(game, names)
        lexicon.learn(game, (phrase.verb for phrase in phrases))
        for text in texts.values():
            lexicon.learn(game, compounds(text))
    lines = {source: distinct_lines(text) for source, text in texts.items()}
    named = {
        name: _named(name, scene, lexicon.contexts(name, lines), lexicon, matched) for name in names
    }
    actions = tuple(
        _action(phrase.verb, phrase.template, tuple([named[n] for n in phrase.names]), matched)
        for phrase in phrases
    )
    earned = obs.get("earned", 0.0)
    state = (Group("s earned", (f"{earned:+g}",)),) * bool(earned)
    return ActionFeatures((*state, *_state(scene, texts, lexicon)), actions)


def _state(scene: RecalledScene, texts: dict[str, str], lexicon: Lexicon) -> list[Group]:
    groups = [
        Group(f"s {source} word", tuple(filter(lexicon.shown, dict.fromkeys(compounds(text)))))
        for source, text in texts.items()
    ]
    found: list[str] = []
    for subject, relation, obj in scene.links:
        if relation in _DOORS:
            continue
        for end, name in (("<", subject), (">", obj)):
            link, at = f"{end}{relation}", scene.whereabouts(name)
            found.append(f"{link} {at}")
            for relations, value in scene.values(name):
                found += [f"{link} {relations}", f"{link} {at} {relations}"]
                found.append(f"{link} {at} {relations} {value}")
    found += [f"held {atom}" for name in scene.held for atom in scene.atoms(name)]
    found += [f"held {name}" for name in scene.held if lexicon.common(name)]
    found += [f"here {atom}" for atom in scene.atoms(scene.here)]
    found += ["here unexplored"] * bool(scene.unexplored(scene.here))
    return [*groups, Group("s", tuple(found))]


class _NameFeatures(NamedTuple):
    """Features of one name in an action."""

    name: str
    """Name if it is common, or empty."""
    atoms: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    contexts: tuple[Context, ...] = ()
    way: tuple[str, ...] = ()
    """Features of a direction in a known place, which has no atoms or contexts."""


def _named(
    name: str, scene: RecalledScene, contexts: tuple[Context, ...], lexicon: Lexicon, matched: bool
) -> _NameFeatures:
    common, values = name if lexicon.common(name) else "", tuple(scene.values(name))
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
) -> tuple[Group, ...]:
    verb_stem = stem(verb) if matched else None
    stems = [{stem(value) for _, value in one.values} for one in named]
    around = (context.stems for one in named for context in one.contexts)
    if any(verb_stem in own for own in itertools.chain(stems, around)):
        verb = "="
    found = [Group("", (f"{verb} {template}", template))]
    for i, (role, one) in enumerate(zip(_ROLES, named, strict=False)):
        if one.way:
            found.append(Group("", one.way))
            continue
        others = (own for j, own in enumerate(stems) if j != i)
        matching = stems[i].intersection({verb_stem}.union(*others)) if matched else ()
        said = (f"is {one.name}",) if one.name else ()
        for parts in (said, _parts(one, verb_stem, frozenset(matching))):
            found += [Group(role, parts), Group(f"{verb} {role}", parts)] if parts else []
    return tuple(found)


@lru_cache(maxsize=20_000)
def _parts(one: _NameFeatures, verb_stem: str | None, matching: frozenset[str]) -> tuple[str, ...]:
    """Return atoms, values and contexts of a name, ``=`` for a value or word that matches."""
    values = [f"{r} {'=' if stem(v) in matching else v}" for r, v in one.values]
    contexts = (text for context in one.contexts for text in context.read(verb_stem))
    return tuple(dict.fromkeys(itertools.chain(one.atoms, values, contexts)))
