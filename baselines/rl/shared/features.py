"""Features of an observation: bags of named features for the situation and for every action."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Triple
from gym_memory.core.settings import check_int
from gym_memory.core.text import compounds, stem
from gym_memory.graph.map import distances
from gym_memory.graph.schema import (
    DIRECTIONS,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    UNEXPLORED,
    VERBATIM,
    direction_of,
    door_relation,
)

__all__ = ["ATTRIBUTES", "ActionFeatures", "FeatureRows", "Lexicon", "ParsedAction"]
__all__ += ["RecalledScene", "describe", "parse_action"]

_PREPOSITIONS = frozenset(
    ("about", "against", "at", "behind", "below", "by", "for", "from", "in", "into", "off", "on",
     "onto", "out", "over", "through", "to", "under", "up", "down", "with")
)  # fmt: skip
_ARTICLES = frozenset(("a", "an", "the", "some", "and"))
_ROLES = ("1", "2", "3")

ATTRIBUTES = frozenset({"is", "needs to be", "used for"})
"""Relations whose object is a value out of a closed list, the same in every game."""
_HAND = "@hand"
_EXITS = frozenset({UNEXPLORED, "has exit"})
_DOORS = {door_relation(direction): direction for direction in DIRECTIONS}
_MAX_DEPTH = 8
"""Things in things that are followed to a room; a guard against facts that go in a circle."""


# ------------------------------------------------------------ words and names


class ParsedAction(NamedTuple):
    """An action taken apart: verb, template with ``<>`` for each name, and the names."""

    verb: str
    template: str
    names: tuple[str, ...]


@lru_cache(maxsize=100_000)
def parse_action(action: str) -> ParsedAction:
    """Take an action apart at its prepositions; names are lower case, without articles.

    >>> parse_action("take red apple from the counter")
    ParsedAction(verb='take', template='<> from <>', names=('red apple', 'counter'))
    >>> parse_action("inventory").names
    ()
    """
    verb, *rest = action.lower().split() or [""]
    names: list[list[str]] = []
    template: list[str] = []
    inside = False
    for word in rest:
        if word in _PREPOSITIONS and not (word in DIRECTIONS and verb == "go"):
            template.append(word)
            inside = False
        elif word not in _ARTICLES:
            if not inside:
                names.append([])
                template.append("<>")
            names[-1].append(word)
            inside = True
    return ParsedAction(verb, " ".join(template), tuple(" ".join(name) for name in names))


@lru_cache(maxsize=20_000)
def _words_but_articles(text: str) -> tuple[str, ...]:
    return tuple(word for word in compounds(text) if word not in _ARTICLES)


class Lexicon:
    """Counts of the training games in which each word and name occurs.

    A common one occurs in a ``share`` of the games seen, of which there must be the ``least``.
    """

    def __init__(self, share: float, least: int = 5):
        self.share, self.least = share, least
        self._games: dict[str, dict[str, None]] = {}
        self._count: dict[str, int] = {}
        self._enough = share * least
        self.kept: dict[Any, tuple[str, ...]] = {}
        """Features that follow from which words are common; emptied when that changes."""

    def learn(self, game: str, words: Iterable[str]) -> None:
        """Note the words of a game; each counts once a game."""
        if game not in self._games:
            self._games[game] = {}
            self._enough = self.share * max(len(self._games), self.least)
            self.kept.clear()
        seen = self._games[game]
        for word in words:
            if word not in seen:
                seen[word] = None
                self._count[word] = self._count.get(word, 0) + 1
                if self.common(word):
                    self.kept.clear()

    def common(self, word: str) -> bool:
        """True if a word or name is common."""
        return self._count.get(word, 0) >= self._enough

    def state(self) -> list[list[str]]:
        """Return the words of each game, the game first."""
        return [[game, *words] for game, words in self._games.items()]

    def load_state(self, state: list[list[str]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._games, self._count, self._enough = {}, {}, self.share * self.least
        self.kept.clear()
        for game, *words in state:
            self.learn(game, words)


class FeatureRows:
    """Features to rows of an embedding table, in the order in which training meets them.

    Row 0 is for features never trained, and stays zero: a word that is new in a test game says
    nothing instead of something arbitrary. Features that find no free row get row 0, too.
    """

    def __init__(self, size: int, names: Iterable[str] = ()):
        check_int("size", size, 2)
        self.size = size
        self.frozen = False
        self._rows = {name: row for row, name in enumerate(names, 1)}
        if len(self._rows) >= size:
            raise InvalidArgumentError(f"expected at most {size - 1} names, got {len(self._rows)}")

    @property
    def names(self) -> list[str]:
        """Return the features with a row, those of rows 1, 2, ... in order."""
        return list(self._rows)

    def rows(self, features: Iterable[str]) -> list[int]:
        """Return rows of features; new ones get the next free row, or 0 if ``frozen`` or full."""
        known = self._rows
        found = []
        for feature in features:
            row = known.get(feature)
            if row is None:
                if self.frozen or len(known) + 1 >= self.size:
                    row = 0
                else:
                    row = known[feature] = len(known) + 1
            found.append(row)
        return found


# ------------------------------------------------------------ relations


class RecalledScene:
    """Descriptions of entities by the recalled facts, without their names.

    Attributes:
        here: The agent's place, empty if unknown.
        links: Facts that are neither place, way, exit nor attribute, in their order.
    """

    def __init__(self, triples: Iterable[Triple]):
        self.here = ""
        self.links: list[Triple] = []
        self._holder: dict[str, str] = {}
        self._values: dict[str, dict[str, dict[str, None]]] = {}
        self._linked: dict[str, list[tuple[str, str]]] = {}
        self._ways: dict[str, dict[str, str]] = {}
        self._exits: dict[str, dict[str, None]] = {}
        self._bare: dict[str, tuple[str, ...]] = {}
        for triple in triples:
            self._add(*triple)

    def _add(self, subject: str, relation: str, obj: str) -> None:
        direction = direction_of(relation)
        if direction is not None:
            # A recall gives one of the two directions of a way and leaves out the other.
            self._ways.setdefault(obj, {})[direction] = subject
            self._ways.setdefault(subject, {}).setdefault(OPPOSITE[direction], obj)
        elif relation in _EXITS:
            self._exits.setdefault(subject, {})[obj] = None
        elif relation in LOCATIONS:
            if subject == PLAYER:
                self.here = obj
            else:
                self._holder[subject] = obj
        elif relation in ATTRIBUTES:
            self._values.setdefault(subject, {}).setdefault(obj, {})[relation] = None
        elif relation not in VERBATIM:
            name = "has door" if relation in _DOORS else relation
            self._linked.setdefault(subject, []).append((f"{name}>", obj))
            self._linked.setdefault(obj, []).append((f"<{name}", subject))
            if relation not in _DOORS:
                self.links.append(Triple(subject, relation, obj))

    @property
    def held(self) -> list[str]:
        """Return the things that the agent carries."""
        return [name for name, holder in self._holder.items() if holder == INVENTORY]

    def room_of(self, name: str) -> str:
        """Return the place that holds an entity, directly or not; empty if unknown."""
        for _ in range(_MAX_DEPTH):
            if name in self._ways or name in self._exits or name == self.here:
                return name
            if name == INVENTORY:
                return INVENTORY
            if name not in self._holder:
                return ""
            name = self._holder[name]
        return ""

    def whereabouts(self, name: str) -> str:
        """Return ``@hand``, ``@here``, ``@away`` or ``@unknown``."""
        room = self.room_of(name)
        if room == INVENTORY:
            return _HAND
        if not room:
            return "@unknown"
        return "@here" if room == self.here else "@away"

    def values(self, name: str) -> list[tuple[str, str]]:
        """Return the attributes of an entity, each ``(relations, value)``."""
        return [
            ("+".join(sorted(relations)), value)
            for value, relations in self._values.get(name, {}).items()
        ]

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
        """Return all atoms of an entity; of one that no fact names only ``@unknown``."""
        own = [f"{relations}:{value}" for relations, value in self.values(name)]
        return (*own, *self.bare_atoms(name))

    def ways(self, place: str) -> dict[str, str]:
        """Return the known ways out of a place: direction to the next place."""
        return self._ways.get(place, {})

    def unexplored(self, place: str) -> list[str]:
        """Return the exits of a place that no known way takes."""
        return [exit_ for exit_ in self._exits.get(place, ()) if exit_ not in self.ways(place)]

    def signposts(self) -> dict[str, dict[str, None]]:
        """Return, for each direction from here, the atoms that are nearest that way."""
        away = distances(self.here, self.ways)
        offers: dict[str, list[str]] = {}
        for place in list(away)[1:]:
            offers[place] = [atom for atom in self.atoms(place) if not atom.startswith("@")]
            offers[place] += ["unexplored"] * bool(self.unexplored(place))
        for name in self._holder:
            room = self.room_of(name)
            if room in offers:
                offers[room] += [a for a in self.atoms(name) if not a.startswith("@")]
                offers[room].append(f"name:{name}")
        first_steps = self._first_steps(away)
        nearest: dict[str, int] = {}
        signs: dict[str, dict[str, None]] = {}
        for place, offered in offers.items():  # the nearest places come first
            for atom in offered:
                if nearest.setdefault(atom, away[place]) == away[place]:
                    for step in first_steps[place]:
                        signs.setdefault(step, {})[atom] = None
        return signs

    def _first_steps(self, away: dict[str, int]) -> dict[str, dict[str, None]]:
        """Return the directions that begin a shortest path to each place."""
        steps: dict[str, dict[str, None]] = {place: {} for place in away}
        for place in away:
            for direction, other in self.ways(place).items():
                if away[other] == away[place] + 1:
                    steps[other] |= steps[place] or {direction: None}
        return steps


# ------------------------------------------------------------ the description


Contexts = tuple[tuple[str, str, str], ...]
"""Words beside a name: the text, the word, and its side."""
_MOST_KEPT = 50_000


class ActionFeatures(NamedTuple):
    """Features of the situation, and of each valid action in the observation's order."""

    state: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]


def describe(
    obs: Observation,
    lexicon: Lexicon,
    game: str = "",
    *,
    words: str = "auto",
    facts: str = "related",
) -> ActionFeatures:
    """Return all features of an observation.

    Args:
        obs: The observation.
        lexicon: Names that are common.
        game: The training game, whose words the lexicon learns; empty while evaluating.
        words: Use of words as features: ``auto`` where no facts are recalled, or ``always``.
        facts: Use of recalled facts: ``related`` for all; ``plain`` without ``=`` and signposts;
            ``rendered`` reads the memory's text instead.
    """
    triples = () if facts == "rendered" else obs["triples"]
    scene, matched = RecalledScene(triples), facts == "related"
    texts: list[tuple[str, str]] = []
    if words == "always" or not triples:
        texts = [("text", obs["text"]), ("inventory", obs["inventory"])]
    if not triples:
        texts.append(("memory", obs["memory"]))  # of facts it is their rendering
    phrases = [parse_action(action) for action in obs["valid_actions"]]
    names = dict.fromkeys(name for phrase in phrases for name in phrase.names)
    if game:
        lexicon.learn(game, names)
        lexicon.learn(game, [phrase.verb for phrase in phrases])
        for _, text in texts:
            lexicon.learn(game, compounds(text))
    contexts = {name: _contexts(name, texts) for name in names}
    signs = scene.signposts() if matched and triples else {}

    def features(phrase: ParsedAction) -> tuple[str, ...]:
        if triples:
            return _action(phrase, scene, signs, contexts, lexicon, matched=matched)
        key = (phrase, matched, *[contexts[name] for name in phrase.names])  # nothing else counts
        found = lexicon.kept.get(key)
        if found is None:
            if len(lexicon.kept) >= _MOST_KEPT:
                lexicon.kept.clear()
            found = _action(phrase, scene, {}, contexts, lexicon, matched=matched)
            lexicon.kept[key] = found
        return found

    earned = obs.get("earned", 0.0)
    state = (f"s earned {earned:+g}",) * bool(earned) + _state(scene, texts, lexicon)
    return ActionFeatures(state, tuple(map(features, phrases)))


def _state(scene: RecalledScene, texts: list[tuple[str, str]], lexicon: Lexicon) -> tuple[str, ...]:
    found = [
        f"s {source} word {word}"
        for source, text in texts
        for word in dict.fromkeys(compounds(text))
        if lexicon.common(word)
    ]
    for subject, relation, obj in scene.links:
        for end, name in (("<", subject), (">", obj)):
            at = scene.whereabouts(name)
            found.append(f"s {end}{relation} {at}")
            for relations, value in scene.values(name):
                found += [
                    f"s {end}{relation} {relations}",
                    f"s {end}{relation} {at} {relations}",
                    f"s {end}{relation} {at} {relations} {value}",
                ]
    found += [f"s held {atom}" for name in scene.held for atom in scene.atoms(name)]
    found += [f"s held {name}" for name in scene.held if lexicon.common(name)]
    found += [f"s here {atom}" for atom in scene.atoms(scene.here)]
    found += ["s here unexplored"] * bool(scene.unexplored(scene.here))
    return tuple(found)


def _action(
    phrase: ParsedAction,
    scene: RecalledScene,
    signs: dict[str, dict[str, None]],
    contexts: dict[str, Contexts],
    lexicon: Lexicon,
    *,
    matched: bool,
) -> tuple[str, ...]:
    said = stem(phrase.verb) if matched else None
    values = [scene.values(name) for name in phrase.names]
    stems = [{stem(value) for _, value in own} for own in values]
    around = [{stem(word) for _, word, _ in contexts[name]} for name in phrase.names]
    verb = "=" if any(said in own for own in (*stems, *around)) else phrase.verb
    found = [f"{verb} {phrase.template}", phrase.template]
    for i, (role, name) in enumerate(zip(_ROLES, phrase.names, strict=False)):
        if name in DIRECTIONS:
            found += _direction(name, scene, signs, lexicon)
            continue
        if lexicon.common(name):
            found += [f"{role} is {name}", f"{verb} {role} is {name}"]
        matching: set[str | None] = set()
        if matched:
            matching = {said}.union(*(own for j, own in enumerate(stems) if j != i))
        parts = [*scene.bare_atoms(name)]
        parts += [f"{r} {'=' if stem(v) in matching else v}" for r, v in values[i]]
        for source, word, place in contexts[name]:
            if stem(word) == said:
                word = "="
            elif not lexicon.common(word):
                word = "*"
            parts.append(f"{source} {word} {place}")
        found += [f"{role} {part}" for part in parts]
        found += [f"{verb} {role} {part}" for part in parts]
    return tuple(dict.fromkeys(found))


def _direction(
    name: str, scene: RecalledScene, signs: dict[str, dict[str, None]], lexicon: Lexicon
) -> list[str]:
    if name not in scene.ways(scene.here):
        return ["way unexplored"]
    found = ["way known"]
    for atom in signs.get(name, ()):
        kind, _, what = atom.partition(":")
        if kind != "name" or lexicon.common(what):
            found.append(f"way to {atom}")
    return found


def _contexts(name: str, texts: list[tuple[str, str]]) -> Contexts:
    """Return the words around every mention of a name, as (text, word, side)."""
    return tuple(
        (source, word, side) for source, text in texts for word, side in _beside(name, text)
    )


@lru_cache(maxsize=100_000)
def _beside(name: str, text: str) -> tuple[tuple[str, str], ...]:
    words, tokens = tuple(name.split()), _words_but_articles(text)
    found: dict[tuple[str, str], None] = {}
    end = 0
    for start, token in enumerate(tokens):
        if start >= end and token == words[0] and tokens[start : start + len(words)] == words:
            end = start + len(words)
            found |= dict.fromkeys((word, "before") for word in tokens[max(start - 2, 0) : start])
            found |= dict.fromkeys((word, "after") for word in tokens[end : end + 1])
    return tuple(found)
