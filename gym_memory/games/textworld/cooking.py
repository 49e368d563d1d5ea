"""Cooking: find the recipe, gather the ingredients, prepare them as it says, eat the meal.

TextWorld's cooking games (First TextWorld Problems) at the levels of three papers:

=====================  =============================================================  =========
levels                 from                                                           max score
=====================  =============================================================  =========
``rl-1`` .. ``rl-4``   the RL comparison of AriGraph (levels 1-4 of GATA)             4 5 3 11
``medium hard``        AriGraph, "Cooking" and "Cooking Hard"                         11 14
``hardest``            AriGraph, "Cooking Hardest": closed doors, limited inventory   17
``stma-1`` .. ``-4``   STMA                                                           4 7 10 13
``voices``             ours, in names and wordings that differ between the splits     2 to 12
=====================  =============================================================  =========

Each point is one ingredient taken, cut or cooked, the meal prepared, the meal eaten. Spoiling or
eating an ingredient loses the game. The splits use disjoint games; foods and ways to prepare them
differ between them as in TextWorld's ``--split``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gym_memory.core.optional import require
from gym_memory.core.settings import check_flag
from gym_memory.games.registry import ENVIRONMENTS
from gym_memory.games.textworld.cooking_plan import cooking_walkthrough
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.games import no_trial_run
from gym_memory.games.textworld.voices.kitchens import make_voiced_kitchen

__all__ = ["Cooking"]

_RULES = (
    "How to cook here: the stove fries, the oven roasts, and the BBQ grills. Prepare the meal in "
    "the kitchen once everything is ready and in your hands, then eat it."
)


def _level(recipe: int, take: int, go: int, skills: str, steps: int) -> dict[str, int | bool]:
    used = {skill: skill in skills.split() for skill in ("open", "cook", "cut", "drop")}
    return {"recipe": recipe, "take": take, "go": go, **used, "steps": steps}


@ENVIRONMENTS.register("Cooking")
class Cooking(TextWorldFamily):
    """Cook a meal by the recipe.

    Settings of a level: ``recipe`` ingredients, of which ``take`` must be fetched, in ``go``
    rooms; whether doors and containers start closed (``open``), ingredients must be cooked
    (``cook``) and cut (``cut``), and the inventory holds no more than the ingredients
    (``drop``); ``steps``, the paper's step limit.

    Args:
        level: One of ``levels``.
        split: ``train``, ``valid``, ``test`` or ``held_out``.
        gata_actions: Leave ``look`` and every ``examine`` but the cookbook's out of the valid
            actions, the protocol of GATA. Typing them stays possible.
        hints: Whether the first text ends with what the appliances do and where a meal is made,
            which no text of the game tells; the score is the game's either way.
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
        "voices": {
            "voice": 2, "recipe": [1, 2, 3], "go": [1, 6, 9, 12], "open": [True, False],
            "cook": [True, False], "cut": [True, False], "drop": [False], "steps": 100,
        },
    }  # fmt: skip

    def __init__(
        self,
        level: str | None = None,
        split: str = "test",
        *,
        gata_actions: bool = False,
        hints: bool = True,
        max_steps: int | None = None,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        check_flag("gata_actions", gata_actions)
        check_flag("hints", hints)
        super().__init__(
            level,
            split,
            max_steps=max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            render_mode=render_mode,
        )
        self._gata_actions = gata_actions
        self._hints = hints

    @classmethod
    def default_steps(cls, level: str) -> int:
        """The paper's step limit for a level."""
        return int(cls.levels[level]["steps"])

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate the game that ``tw-make tw-cooking`` makes of these settings and this seed.

        Only the walkthrough is ours (:mod:`gym_memory.games.textworld.cooking_plan`).
        """
        if "voice" in settings:
            return make_voiced_kitchen(_made, settings, split, seed)
        game = _made({**settings, "split": split}, seed)
        game.metadata["walkthrough"] = cooking_walkthrough(game, settings)
        return game

    def opening(self) -> str:
        """The appliance rules, which no text of the game tells; nothing without hints."""
        if not self._hints:
            return ""
        return str(self.game.metadata.get("opening", _RULES))

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = super()._list_valid_actions()
        if not self._gata_actions:
            return actions
        return tuple(
            a
            for a in actions
            if a == "examine cookbook" or not (a == "look" or a.startswith("examine "))
        )


def _made(settings: Mapping[str, Any], seed: int) -> Any:
    """The game that TextWorld's own generator makes."""
    textworld = require("textworld", "textworld", "TextWorld games")
    cooking = require("textworld.challenges.tw_cooking.cooking", "textworld")
    options = textworld.GameOptions()
    options.seeds = seed
    asked = {**settings, "recipe_seed": 0}
    asked.pop("steps")
    with no_trial_run():
        return cooking.make(asked, options)
