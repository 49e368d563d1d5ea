"""What was done: the actions of an episode store, counted place by place and found in text.

A graph keeps what is true, not what was attempted, so an agent that recalls facts alone may try
again what led to nothing. A recall shows the attempts in the agent's place that it could repeat,
and what came of an action that a question names.
"""

from __future__ import annotations

from gym_memory.core.records import Triple
from gym_memory.graph.names import NameIndex
from gym_memory.graph.schema import PLAYER, tried_relation
from gym_memory.memory.recall.following import Follower
from gym_memory.memory.recall.render import Block, fact_block
from gym_memory.memory.stores.episodes import Episode, EpisodeStore

__all__ = ["DeedIndex"]

_MOST = 12
"""Attempts shown, the latest ones."""


class DeedIndex:
    """Counts the actions of a store by the place in which they were taken.

    Args:
        store: The store to follow; may be restored, not replaced.
    """

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._follower: Follower[Episode] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._place = ""
        self._counts: dict[str, dict[str, int]] = {}  # actions in the order of their last try
        self._actions = NameIndex()
        self._last: dict[str, int] = {}

    def _sync(self) -> None:
        cut, new = self._follower.advance(self.store)
        if cut:
            self._reset()
        for episode in new:
            action = episode.action.lower()
            if not action.isalpha():  # "look" and "wait" are words of any question
                self._actions.learn(action)
                self._last[action] = episode.t
            if self._place and action:
                counts = self._counts.setdefault(self._place, {})
                counts[action] = counts.pop(action, 0) + 1
            for subject, relation, obj in episode.triples:
                if subject == PLAYER and relation == "is in":
                    self._place = obj

    def named(self, text: str) -> list[int]:
        """The last steps of the actions, of two words or more, that a text names."""
        self._sync()
        return [self._last[action] for action in self._actions.find(text)]

    def tried(self, place: str, valid_actions: tuple[str, ...]) -> Block:
        """The latest attempts in a place as facts ``place | tried | action``, newest first.

        Args:
            place: The place.
            valid_actions: What can be done now; only this is shown, unless it is empty.
        """
        self._sync()
        counts = self._counts.get(place, {})
        valid = {action.lower() for action in valid_actions}
        again = [action for action in reversed(counts) if not valid or action in valid]
        return fact_block(
            Triple(place, tried_relation(counts[action]), action)
            for action in again[:_MOST]
            if not action.startswith("go ")
        )
