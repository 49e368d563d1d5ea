"""ALFWorld: household tasks in words, official games or generated ones."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Oracle
from gym_memory.core.settings import checked
from gym_memory.games.alfworld.facts import triples_of, visible_now
from gym_memory.games.alfworld.household import SPLITS
from gym_memory.games.alfworld.source import find_source
from gym_memory.games.alfworld.world import NOTHING_HAPPENS, HouseholdPlay, PlayState
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.registry import ENVIRONMENTS

__all__ = ["ALFWorld"]


@ENVIRONMENTS.register("ALFWorld")
class ALFWorld(TextEnv):
    """Play one of six types of tasks in a room full of furniture and things.

    The score is 1 when the task is done, which ends the episode; nothing ends it badly. A
    command that the game answers with "Nothing happens." is counted as invalid.

    Args:
        split: ``train``, ``valid_seen`` or ``valid_unseen``.
        task_type: ``pick_and_place_simple``, ``look_at_obj_in_light``,
            ``pick_clean_then_place_in_recep``, ``pick_heat_then_place_in_recep``,
            ``pick_cool_then_place_in_recep`` or ``pick_two_obj_and_place``; None for all.
        path: Folder of the official games (the one that holds ``json_2.1.1``); ``"generated"``
            for our own households; None for the folder that ``$ALFWORLD_DATA`` names, and where
            that is not set our own.
        max_steps: Step limit; the papers play 50.
        inventory: True to show the inventory text in the observation.
    """

    dialect = "alfworld"
    splits = SPLITS

    @checked
    def __init__(
        self,
        split: str = "valid_seen",
        *,
        task_type: str | None = None,
        path: str | os.PathLike[str] | None = None,
        max_steps: int = 50,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        self._show_inventory = inventory
        self._source = find_source(path, split, task_type)
        self._play: HouseholdPlay | None = None

    @property
    def play(self) -> HouseholdPlay:
        """Return the game in play."""
        if self._play is None:
            raise InvalidArgumentError("no game is open: call reset() first")
        return self._play

    def _task_ids(self) -> Sequence[str]:
        return self._source.task_ids

    def _open(self, task_id: str) -> Feedback:
        self._play = HouseholdPlay(self._source.game(task_id))
        return self._feedback_of(self.play.game.intro)

    def _send(self, action: str) -> Feedback:
        return self._feedback_of(self.play.send(action))

    def _feedback_of(self, text: str | None) -> Feedback:
        won = self.play.won()
        return Feedback(
            text=NOTHING_HAPPENS if text is None else text,
            score=float(won),
            max_score=1.0,
            won=won,
            inventory=self.play.inventory() if self._show_inventory else "",
            accepted=text is not None,
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        return self.play.commands()

    def _save(self) -> PlayState:
        return self.play.save()

    def _load(self, native: PlayState) -> None:
        self._play = HouseholdPlay(native.game)
        self._play.load(native)

    def goal(self) -> str:
        """Return the task in words, e.g. ``put a clean mug in shelf``."""
        return self._play.game.goal_text if self._play else ""

    def oracle(self) -> Oracle:
        """Return the engine's facts; ``objects["visible"]`` are those of the last answer."""
        action = " ".join(self._actions[-1].split()) if self._actions else ""
        if not self._feedback.accepted:
            action = "inventory"  # a refused command shows no more than that
        return Oracle(
            facts=triples_of(self.play),
            walkthrough=self.play.game.walkthrough,
            objects={"visible": visible_now(self.play, action)},
        )

    def versions(self) -> dict[str, str]:
        """Return the versions that decide the text and the rules of the games."""
        return self._source.versions()
