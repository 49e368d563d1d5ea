"""Cooking: find the recipe, gather the ingredients, prepare them as it says, eat the meal.

TextWorld's cooking games (First TextWorld Problems) at the levels of three papers:

=====================  =============================================================  =========
levels                 from                                                           max score
=====================  =============================================================  =========
``rl-1`` .. ``rl-4``   the RL comparison of AriGraph (levels 1-4 of GATA)             4 5 3 11
``medium hard``        AriGraph, "Cooking" and "Cooking Hard"                         11 14
``hardest``            AriGraph, "Cooking Hardest": closed doors, limited inventory   17
``stma-1`` .. ``-4``   STMA                                                           4 7 10 13
=====================  =============================================================  =========

Each point is one ingredient taken, cut or cooked, the meal prepared, the meal eaten. Spoiling or
eating an ingredient loses the game. The splits use disjoint games; foods and ways to prepare them
differ between them as in TextWorld's ``--split``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gym_memory.checks import check_flag
from gym_memory.envs.textworld.adapter import TextWorldFamily
from gym_memory.envs.textworld.cooking_plan import Kitchen, plan_cooking, recipe_of
from gym_memory.envs.textworld.games import no_trial_run
from gym_memory.optional import require

__all__ = ["Cooking"]

_RULES = (
    "How to cook here: the stove fries, the oven roasts, and the BBQ grills. Prepare the meal in "
    "the kitchen once everything is ready and in your hands, then eat it."
)
_CAPACITY = 10
"""Things that the player can carry unless the level limits it."""


def _level(recipe: int, take: int, go: int, skills: str, steps: int) -> dict[str, int | bool]:
    used = {skill: skill in skills.split() for skill in ("open", "cook", "cut", "drop")}
    return {"recipe": recipe, "take": take, "go": go, **used, "steps": steps}


class Cooking(TextWorldFamily):
    """Cook a meal by the recipe.

    Settings of a level: ``recipe`` ingredients, of which ``take`` must be fetched, in ``go``
    rooms; whether doors and containers start closed (``open``), ingredients must be cooked
    (``cook``) and cut (``cut``), and the inventory holds no more than the ingredients
    (``drop``); ``steps``, the paper's step limit.

    Args:
        level: One of ``levels``.
        split: ``train``, ``valid`` or ``test``.
        gata_actions: Leave ``look`` and every ``examine`` but the cookbook's out of the valid
            actions, the protocol of GATA. Typing them stays possible.
        max_steps: Step limit; None takes the paper's (RL 50, to be evaluated with 100; STMA 50;
            AriGraph 60).
        valid_actions: Whether the observation lists the valid actions.
        inventory: Whether the observation holds the inventory text.
        render_mode: None or ``"ansi"``.
    """

    family = "cooking"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rl-1": _level(1, 1, 1, "cut", 50),
        "rl-2": _level(1, 1, 1, "cut cook", 50),
        "rl-3": _level(1, 1, 9, "", 50),
        "rl-4": _level(3, 3, 6, "cut cook", 50),
        "medium": _level(3, 3, 9, "cut cook", 60),
        "hard": _level(4, 4, 12, "cut cook", 60),
        "hardest": _level(5, 5, 12, "cut cook open drop", 60),
        "stma-1": _level(1, 0, 6, "cut cook open", 50),
        "stma-2": _level(2, 1, 9, "cut cook open", 50),
        "stma-3": _level(3, 2, 9, "cut cook open", 50),
        "stma-4": _level(4, 3, 12, "cut cook open", 50),
    }

    def __init__(
        self,
        level: str | None = None,
        split: str = "test",
        *,
        gata_actions: bool = False,
        max_steps: int | None = None,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        check_flag("gata_actions", gata_actions)
        super().__init__(
            level,
            split,
            max_steps=max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            render_mode=render_mode,
        )
        self._gata_actions = gata_actions

    @classmethod
    def default_steps(cls, level: str) -> int:
        """The paper's step limit for a level."""
        return int(cls.levels[level]["steps"])

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate the game that ``tw-make tw-cooking`` makes of these settings and this seed.

        Only the walkthrough is ours (:mod:`gym_memory.envs.textworld.cooking_plan`).
        """
        textworld = require("textworld", "textworld", "TextWorld games")
        cooking = require("textworld.challenges.tw_cooking.cooking", "textworld")
        options = textworld.GameOptions()
        options.seeds = seed
        asked = {**settings, "split": split, "recipe_seed": 0}
        asked.pop("steps")
        with no_trial_run():
            game = cooking.make(asked, options)
        game.metadata["walkthrough"] = _walkthrough(game, settings)
        return game

    def opening(self) -> str:
        """The appliance rules, which no text of the game tells."""
        return _RULES

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = super()._list_valid_actions()
        if not self._gata_actions:
            return actions
        return tuple(
            a
            for a in actions
            if a == "examine cookbook" or not (a == "look" or a.startswith("examine "))
        )


def _walkthrough(game: Any, settings: Mapping[str, Any]) -> list[str]:
    name = {key: info.name or key for key, info in game.infos.items()}
    types = {name[key]: info.type for key, info in game.infos.items()}
    facts = [(f.name, *(name[v.name] for v in f.arguments)) for f in game.world.facts]
    kitchen = Kitchen(facts, types, settings["recipe"] if settings["drop"] else _CAPACITY)
    return plan_cooking(kitchen, recipe_of(game.metadata, settings), "knife")
