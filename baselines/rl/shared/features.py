"""Features of an observation: bags of named features for the situation and for every action.

One description serves every memory. With facts in the observation the relations do the work
(:mod:`gym_memory.baselines.rl.shared.scene`); with text only there are the words, and the words
*around* what an action names ("dice the ..." in a recipe just read). Whatever is known, the
entities of an action stand in their roles (``1``, ``2``), so that what was learnt of a carrot
holds for a papaya.

What has no relation to anything (a knife is just a knife) keeps its name, if the name is
*common*: if it stands in most of the training games (:class:`Lexicon`). Words that say the same
of an action and of a thing are taken out as well: ``chop`` matches ``needs to be chopped``, a stove
*used for frying* what *needs to be fried*; both become ``=``, so that twenty games with hardly any
chopping still teach how to chop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gym_memory.baselines.rl.shared.scene import Scene
from gym_memory.core.records import Observation
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["FACTS", "Described", "Lexicon", "Phrase", "describe", "parse_action", "stem"]

_WORDS = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_PREPOSITIONS = frozenset(
    ("about", "against", "at", "behind", "below", "by", "for", "from", "in", "into", "off", "on",
     "onto", "out", "over", "through", "to", "under", "up", "down", "with")
)  # fmt: skip
_ARTICLES = frozenset(("a", "an", "the", "some", "and"))
_ROLES = ("1", "2", "3")


class Described(NamedTuple):
    """An observation in features.

    Attributes:
        state: Features of the situation.
        actions: Features of each valid action, in the observation's order.
    """

    state: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]


class Phrase(NamedTuple):
    """An action taken apart.

    Attributes:
        verb: Its first word.
        template: The rest, with ``<>`` for what it names: ``<> from <>``.
        names: What it names, lower case, without articles.
    """

    verb: str
    template: str
    names: tuple[str, ...]


@lru_cache(maxsize=100_000)
def parse_action(action: str) -> Phrase:
    """Take an action apart at its prepositions.

    >>> parse_action("take red apple from the counter")
    Phrase(verb='take', template='<> from <>', names=('red apple', 'counter'))
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
    return Phrase(verb, " ".join(template), tuple(" ".join(name) for name in names))


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, lower case."""
    return tuple(_WORDS.findall(text.lower()))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """What the forms of a word share; good enough to compare a verb with its participles.

    >>> [stem(w) for w in ("chop", "chopped", "dice", "diced", "fry", "fried", "frying")]
    ['chop', 'chop', 'dic', 'dic', 'fri', 'fri', 'fri']
    """
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            word = word.removesuffix(ending)
            break
    word = word.removesuffix("e")
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word


class Lexicon:
    """Which words and names are common, by the number of training games that have them.

    Args:
        share: Share of the games seen in which a common name stands, in (0, 1].
        least: Games to be seen before anything is common, >= 1.
    """

    def __init__(self, share: float, least: int = 5):
        self.share, self.least = share, least
        self._games: dict[str, dict[str, None]] = {}
        self._count: dict[str, int] = {}

    def learn(self, game: str, words: Iterable[str]) -> None:
        """Note the words of a game; may be called again and again."""
        seen = self._games.setdefault(game, {})
        for word in words:
            if word not in seen:
                seen[word] = None
                self._count[word] = self._count.get(word, 0) + 1

    def common(self, word: str) -> bool:
        """Whether a word or name is common."""
        games = max(len(self._games), self.least)
        return self._count.get(word, 0) >= self.share * games

    def state(self) -> list[list[str]]:
        """The words of each game, the game first; what is to be saved."""
        return [[game, *words] for game, words in self._games.items()]

    def load_state(self, state: list[list[str]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._games, self._count = {}, {}
        for game, *words in state:
            self.learn(game, words)


FACTS = ("related", "plain", "rendered")
"""Ways to describe recalled facts, see :func:`describe`."""


def describe(
    obs: Observation,
    lexicon: Lexicon,
    game: str = "",
    *,
    words: str = "auto",
    facts: str = "related",
) -> Described:
    """All features of an observation.

    Args:
        obs: The observation.
        lexicon: Which names are common.
        game: The training game, whose words the lexicon then learns; empty while evaluating.
        words: Whether the words of texts are features: ``auto`` where no facts are recalled,
            ``always``. Words tell one training game from the next, so a learner that has both
            learns routes and recipes by heart.
        facts: What is made of recalled facts: ``related`` is all that the module tells; ``plain``
            leaves out what solves part of the game, ``=`` and the signposts; ``rendered`` reads
            the memory's text as any other text, without ``=`` either.
    """
    triples = () if facts == "rendered" else obs["triples"]
    scene, matched = Scene(triples), facts == "related"
    texts = []
    if words == "always" or not triples:
        texts = [("text", obs["text"]), ("inventory", obs["inventory"])]
    if not triples:
        # Where facts are recalled, the memory's text is their rendering.
        texts.append(("memory", obs["memory"]))
    phrases = [parse_action(action) for action in obs["valid_actions"]]
    names = dict.fromkeys(name for phrase in phrases for name in phrase.names)
    if game:
        lexicon.learn(game, names)
        lexicon.learn(game, [phrase.verb for phrase in phrases])
        for _, text in texts:
            lexicon.learn(game, words_of(text))
    contexts = {name: _contexts(name, texts) for name in names}
    signs = scene.signposts() if matched else {}
    return Described(
        _state(scene, texts, lexicon),
        tuple(
            _action(phrase, scene, signs, contexts, lexicon, matched=matched) for phrase in phrases
        ),
    )


def _state(scene: Scene, texts: list[tuple[str, str]], lexicon: Lexicon) -> tuple[str, ...]:
    found = [
        f"s {source} word {word}"
        for source, text in texts
        for word in dict.fromkeys(words_of(text))
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
    phrase: Phrase,
    scene: Scene,
    signs: dict[str, dict[str, None]],
    contexts: dict[str, tuple[tuple[str, str, str], ...]],
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
    name: str, scene: Scene, signs: dict[str, dict[str, None]], lexicon: Lexicon
) -> list[str]:
    if not scene.way(name):
        return ["way unexplored"]
    found = ["way known"]
    for atom in signs.get(name, ()):
        kind, _, what = atom.partition(":")
        if kind != "name" or lexicon.common(what):
            found.append(f"way to {atom}")
    return found


def _contexts(name: str, texts: list[tuple[str, str]]) -> tuple[tuple[str, str, str], ...]:
    """The words around every mention of a name: (which text, word, which side)."""
    words = tuple(name.split())
    found: dict[tuple[str, str, str], None] = {}
    for source, text in texts:
        tokens = _tokens(text)
        start = 0
        while True:
            try:
                start = tokens.index(words[0], start)
            except ValueError:
                break
            end = start + len(words)
            if tokens[start:end] == words:
                for word in tokens[max(start - 2, 0) : start]:
                    found[source, word, "before"] = None
                for word in tokens[end : end + 1]:
                    found[source, word, "after"] = None
                start = end
            else:
                start += 1
    return tuple(found)


@lru_cache(maxsize=20_000)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(text) if word not in _ARTICLES)
