"""A game that others wrote, for the exam: ``Foreign?id=foreign:cooking``."""

from __future__ import annotations

from typing import Any

from textworld_express import TextWorldExpressEnv


def cooking() -> Any:
    """TextWorldExpress' CookingWorld with five rooms and three ingredients, its test games."""
    games = TextWorldExpressEnv(envStepLimit=1000)
    games.load("cookingworld", "numLocations=5, numIngredients=3")
    games.gameFold = "test"
    return games
