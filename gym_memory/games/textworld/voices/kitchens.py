"""Cooking with voices: TextWorld's cooking games with other names, recipes and goals.

World, rules and rewards are TextWorld's. All names but the meal's come from the voice;
descriptions, recipe, goal and uses of the appliances are rewritten.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gym_memory.core.errors import BackendError
from gym_memory.core.text import enumerated
from gym_memory.games.textworld.voices import Name, Voice

__all__ = ["make_voiced_kitchen"]

_CUTS = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
_HEATS = {"fried": "fry", "roasted": "roast", "grilled": "grill"}
_USES = {
    "stove": ("fry", "fries", "frying"), "oven": ("roast", "roasts", "roasting"),
    "toaster": ("grill", "grills", "grilling"),
}  # fmt: skip
_FURNITURE_KINDS = {"s": "supporters", "c": "containers"}
_UNSTATED_SHARE = 0.3
"""Share of games that omit the uses of the appliances."""

_ATTEMPTS = 50
_SEED_STRIDE = 1_000_000


def make_voiced_kitchen(
    make: Callable[[Mapping[str, Any], int], Any],
    settings: Mapping[str, Any],
    split: str,
    seed: int,
) -> tuple[Any, dict[str, Any], dict[str, Name]]:
    """Generate the game of a seed; return it with its settings and the new names.

    ``make`` is TextWorld's generator; each of ``settings`` lists the values to draw from.
    """
    rng = random.Random(f"voices/kitchen/{split}/{seed}")
    wanted = {k: v for k, v in settings.items() if k not in ("steps", "voice")}
    for attempt in range(_ATTEMPTS):
        drawn = {name: rng.choice(values) for name, values in wanted.items()}
        drawn.update(take=rng.randint(0, drawn["recipe"]), steps=settings["steps"], split="")
        try:
            game = make(drawn, seed + _SEED_STRIDE * attempt)
            names = _revoice(game, Voice(split, rng), rng)
        except (ValueError, IndexError):  # no food for this preparation, or too few words
            continue
        return game, drawn, names
    raise BackendError(f"TextWorld made no cooking game of {wanted} in {_ATTEMPTS} attempts")


def _revoice(game: Any, voice: Voice, rng: random.Random) -> dict[str, Name]:
    """Rename the things of a game and rewrite its texts; return new names by old ones."""
    recipe = [tuple(part) for part in game.metadata["ingredients"]]
    old = {info.name: info for info in game.infos.values() if info.name and info.name != "meal"}
    names = _names(rng, voice, old, {name for name, _, _ in recipe}, game)
    for name, info in old.items():
        info.name = info.noun = names[name].name
        info.indefinite = names[name].indefinite or None
        info.definite = info.synonyms = None
        if info.type == "r" or (info.desc and name in info.desc):
            info.desc = None
    ingredients = [(names[name], heat, cut) for name, heat, cut in recipe]
    rng.shuffle(ingredients)
    kitchen, book = names["kitchen"], names["cookbook"]
    old["cookbook"].desc = _recipe(rng, voice, ingredients, kitchen)
    game.change_grammar(game.grammar)  # also describes things without a description
    game.objective = voice.say("cook goal", book=book, kitchen=kitchen)
    game.metadata = {
        "ingredients": [[names[name].name, heat, cut] for name, heat, cut in recipe],
        "max_score": game.metadata["max_score"],
        "opening": _uses(rng, voice, game),
    }
    return names


def _names(
    rng: random.Random, voice: Voice, old: Mapping[str, Any], recipe: set[str], game: Any
) -> dict[str, Name]:
    """Draw a new name for each name; ingredients of the recipe are countable."""
    data = voice.data["kitchen"]
    drinks = {f.arguments[0].name for f in game.world.facts if f.name == "drinkable"}
    foods = list(data["foods"])
    single = [Name(food) for food in foods if voice.take(food)]
    some = [Name(food, indefinite="some") for food in data["some"] if voice.take(food)]
    liquid = [Name(drink, indefinite="some") for drink in data["drinks"] if voice.take(drink)]
    rng.shuffle(single)
    names: dict[str, Name] = {}
    order = sorted(
        old, key=lambda name: (old[name].type != "r", name not in data, name not in recipe, name)
    )
    for name in order:
        info = old[name]
        if name in data:
            names[name] = Name(next(filter(voice.take, rng.sample(data[name], len(data[name])))))
        elif info.id in drinks and liquid:
            names[name] = liquid.pop()
        elif info.type == "f":
            names[name] = (some if some and name not in recipe else single or some).pop()
        elif info.type == "d":
            names[name] = Name(_door(rng, voice))
        else:
            names[name] = voice.furniture(_FURNITURE_KINDS.get(info.type, "supporters"), 1)[0]
    return names


def _door(rng: random.Random, voice: Voice) -> str:
    adjectives = voice.words["lock adjectives"]
    return next(
        name
        for name in (f"{adjective} door" for adjective in rng.sample(adjectives, len(adjectives)))
        if voice.take(name)
    )


def _recipe(
    rng: random.Random, voice: Voice, ingredients: Sequence[tuple[Name, str, str]], kitchen: Name
) -> str:
    foods = [str(name) for name, _, _ in ingredients]
    sentences = [voice.say("requires", foods=enumerated(foods))]
    for name, heat, cut in ingredients:
        for done, verbs in ((cut, _CUTS), (heat, _HEATS)):
            if done in verbs:
                sentences.append(voice.say("needs", food=name, done=done, do=verbs[done]))
    if rng.random() < 0.7:
        sentences.append(voice.say("prepared in", kitchen=kitchen))
    return rng.choice((" ", "\n")).join(sentences)


def _uses(rng: random.Random, voice: Voice, game: Any) -> str:
    if rng.random() < _UNSTATED_SHARE:
        return ""
    sentences = []
    for info in sorted(game.infos.values(), key=lambda info: info.name or ""):
        if info.type in _USES:
            do, does, doing = _USES[info.type]
            sentences.append(
                voice.say("used for", tool=Name(info.name), do=do, does=does, doing=doing)
            )
    return " ".join(sentences)
