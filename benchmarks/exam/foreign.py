"""A third-party game for the exam: ``Foreign?entry=foreign:cooking``."""

from __future__ import annotations

from typing import Any

from textworld_express import TextWorldExpressEnv


def cooking() -> Any:
    """Make the test games of TextWorldExpress' CookingWorld, five rooms and three ingredients."""
    games = TextWorldExpressEnv(envStepLimit=1000)
    games.load("cookingworld", "numLocations=5, numIngredients=3")
    games.gameFold = "test"
    return games
