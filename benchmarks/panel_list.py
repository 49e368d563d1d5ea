"""List the panels of the package, with the sources of their tasks and data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.names import Spec

__all__ = ["PANELS", "PlannedPanel", "PlannedWorld"]


class PlannedWorld(NamedTuple):
    """An environment with all of its settings, and its tasks.

    ``first`` is the number of its own tasks, None for all. ``known`` names tasks, with their
    content, whose data may be missing when the panel is written. ``solved`` keeps the walkthroughs.
    """

    env: str
    first: int | None = None
    known: Mapping[str, str] = {}
    solved: bool = False


class PlannedPanel(NamedTuple):
    """A panel before its texts are read, with the fields of a panel."""

    name: str
    about: str
    worlds: tuple[PlannedWorld, ...]
    source: str = ""
    get: str = ""
    protocol: str = "single_episode"
    unplayed: str = ""


_SHOWN = {"valid_actions": True, "inventory": True}
_OURS = "Games of our generators, which nothing was tuned on (split held_out)."


def _world(
    env: str,
    settings: Mapping[str, Any],
    first: int | None = None,
    known: Mapping[str, str] = {},
) -> PlannedWorld:
    return PlannedWorld(Spec.of(env, {**_SHOWN, **settings}), first, known)


def _generated(
    name: str, about: str, env: str, level: str, max_steps: int, **more: Any
) -> PlannedPanel:
    settings = {"level": level, "split": "held_out", "max_steps": max_steps, **more}
    return PlannedPanel(name, about, (_world(env, settings, 20),), _OURS)


_ALFWORLD = "run alfworld-download (json_2.1.1 of ALFWorld, MIT)"


def _alfworld(name: str, split: str, size: int, about: str) -> PlannedPanel:
    settings = {"path": "$ALFWORLD_DATA", "split": split, "max_steps": 50}
    source = f"The {size} official games of {split}, by their folders' names."
    return PlannedPanel(name, about, (_world("ALFWorld", settings),), source, _ALFWORLD)


_STORIES = json.loads((Path(__file__).parent / "jericho" / "stories.json").read_text("utf-8"))
"""Story file to MD5: those of the TALES suite that jericho knows."""
_MINIHACK = (
    *("Boxoban-Hard-v0", "Boxoban-Medium-v0", "MazeWalk-9x9-v0", "MazeWalk-15x15-v0"),
    *("Corridor-R3-v0", "CorridorBattle-Dark-v0", "Quest-Easy-v0", "Quest-Medium-v0"),
)
"""MiniHack tasks of BALROG, of which it plays five games each."""


def _minihack(name: str) -> PlannedWorld:
    task = f"MiniHack-{name}"
    settings = {
        **{"task": task, "character": "@", "score": "progression"},
        **{"split": "test", "max_steps": 100},
    }
    return _world("NetHack", settings, 5, {f"{task.lower()}/test/{n}": "" for n in range(5)})


PANELS = (
    _generated("cooking-medium", "Cooking, AriGraph's level.", "Cooking", "medium", 60),
    _generated("cooking-hard", "Cooking Hard, AriGraph's level.", "Cooking", "hard", 60),
    _generated("cooking-hardest", "Cooking Hardest, AriGraph's level.", "Cooking", "hardest", 60),
    *(
        _generated(
            f"gata-{level}",
            f"Cooking, level {level} of GATA, with its list of actions and 100 steps.",
            *("Cooking", f"rl-{level}", 100),
            gata_actions=True,
        )
        for level in (1, 2, 3, 4)
    ),
    *(
        _generated(f"treasure-hunt-{level}", f"Treasure Hunt, {level}.", "TreasureHunt", level, 150)
        for level in ("easy", "hard", "hardest")
    ),
    _generated("cleaning", "Cleaning, AriGraph's house.", "Cleaning", "standard", 150),
    _generated("errands-short", "Errands in a house of 12 rooms.", "Errands", "short", 150),
    _generated("errands-long", "Errands in a house of 64 rooms.", "Errands", "long", 1000),
    _alfworld("alfworld-unseen", "valid_unseen", 134, "ALFWorld, rooms that training lacks."),
    _alfworld("alfworld-seen", "valid_seen", 140, "ALFWorld, rooms of the training games."),
    PlannedPanel(
        "scienceworld-test",
        "ScienceWorld, the first test variation of each of the 30 tasks.",
        (_world("ScienceWorld", {"split": "test", "max_steps": 100}, 30)._replace(solved=True),),
        "Official variations, in their order; all 1,819 of the test split take a day.",
        "pip install scienceworld, and Java",
    ),
    PlannedPanel(
        "webshop",
        "WebShop, the synthetic catalogue of this package.",
        (
            PlannedWorld(
                Spec.of("WebShop", {"split": "test", "max_steps": 100, "valid_actions": True})
            ),
        ),
        "Our catalogue and requests, since the official ones are not shipped.",
    ),
    PlannedPanel(
        "webshop-official",
        "WebShop, the 500 official test instructions.",
        (
            PlannedWorld(
                Spec.of(
                    "WebShop",
                    {
                        **{"path": "$WEBSHOP_DATA", "split": "test", "max_steps": 100},
                        **{"goals": "human", "valid_actions": True},
                    },
                ),
                known={f"webshop/items_shuffle-human/test/{n}": "" for n in range(500)},
            ),
        ),
        "The official files and order.",
        "get items_shuffle.json and its companions as WebShop's setup.sh does",
        unplayed="not played here: the official files are not shipped",
    ),
    PlannedPanel(
        "jericho-tales",
        "Jericho by the protocol of TALES: 100 steps, restarts of a lost game, no valid actions.",
        (
            _world(
                "Jericho",
                {"path": "$JERICHO_STORIES", "max_steps": 100, "valid_actions": False},
                known={story: f"md5:{md5}" for story, md5 in _STORIES.items()},
            ),
        ),
        "The stories of microsoft/tale-suite that jericho knows, by their MD5 sums.",
        "get the stories as TALES does (its games.json links each); none is shipped",
        "tales?actions=false&steps=100",
        "not played here: none of the stories is shipped",
    ),
    PlannedPanel(
        "nethack-balrog",
        "NetHack with any character, five games, as many as BALROG plays.",
        (
            _world(
                "NetHack",
                {"character": "@", "score": "progression", "split": "test", "max_steps": 500},
                5,
            ),
        ),
        "BALROG's task and progression. It draws its seeds, these are ours; 500 skills as actions.",
    ),
    PlannedPanel(
        "minihack-balrog",
        "BALROG's eight MiniHack tasks, five games each; its progression is the share won.",
        tuple(_minihack(name) for name in _MINIHACK),
        "BALROG's tasks, progression and number of games, with our seeds; 100 skills as actions.",
        "pip install minihack 'setuptools<81'; python -m minihack.scripts.download_boxoban_levels",
    ),
    PlannedPanel(
        "agentodyssey",
        "AgentOdyssey, the three worlds of the 2026 workshop challenge.",
        (
            PlannedWorld(
                Spec.of(
                    "AgentOdyssey", {"world": "challenge", "max_steps": 500, "valid_actions": True}
                ),
                3,
            ),
        ),
        "The preset of the challenge: 500 steps, main quest.",
        "pip install --no-deps agentodyssey==0.1.0 termcolor",
    ),
    PlannedPanel(
        "multihop-qa",
        "MultiHopQA, the 48 questions about isles of this package.",
        (
            PlannedWorld(
                Spec.of(
                    "MultiHopQA",
                    {
                        **{"dataset": "isles", "split": "dev", "max_steps": 40},
                        **{"candidates": True, "metric": "f1", "valid_actions": True},
                    },
                )
            ),
        ),
        "Questions of this package; they ship with it.",
    ),
)
"""All panels, in the order of the documents."""
