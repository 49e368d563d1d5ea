"""TextWorld environments: the base of all generated families, and single game files.

A family of generated games subclasses :class:`TextWorldFamily` and says which levels there are
and how a game is made; caching, compiling, playing, cleaning the text, valid actions, snapshots
and engine facts are here once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from gym_memory.envs.base import Feedback, TextEnv
from gym_memory.types import Triple

__all__ = ["TextWorldFamily"]


class TextWorldFamily(TextEnv):
    """Base of the families of generated TextWorld games.

    A subclass sets the class attributes and :meth:`make_game`; the other hooks have defaults.
    Task ids are ``<family>/<level>/<split>/<number>``; their seeds stand in the family's manifest
    (``envs/manifests/<family>.json``, written by ``python -m gym_memory.envs.manifest <Name>``).

    Args:
        level: One of ``levels``.
        split: ``train``, ``valid`` or ``test``.
        max_steps: Step limit; None takes the paper's, ``default_max_steps``.
        valid_actions: Whether the observation lists the valid actions.
        inventory: Whether the observation holds the inventory text.
        render_mode: None or ``"ansi"``.

    Raises:
        UnknownNameError: Unknown level or split.
    """

    dialect = "textworld"
    family: ClassVar[str]
    """First part of the task ids, e.g. ``cooking``."""
    generator: ClassVar[int] = 1
    """Version of the generator; raise it whenever the games of a seed change."""
    levels: ClassVar[Mapping[str, Mapping[str, Any]]]
    """Name of a level to its settings (JSON-able; they are part of the cache key)."""
    default_max_steps: ClassVar[int] = 150

    # ------------------------------------------------------------ hooks of a family

    @classmethod
    @abstractmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate one game.

        Use only ``numpy.random.RandomState(seed)``; no global random state. Set
        ``game.objective`` (the goal text), ``game.metadata["walkthrough"]`` (list of commands that
        wins with the maximum score) and, where the quests do not add up to it,
        ``game.metadata["max_score"]``. The metadata must be JSON-able: whatever else the family
        needs while playing goes there too.

        Returns:
            A ``textworld.Game``.
        """

    def opening(self) -> str:
        """Text that is appended to the first observation; the paper's extra rules."""
        return ""

    def rescore(
        self, feedback: Feedback, added: frozenset[Triple], removed: frozenset[Triple]
    ) -> Feedback:
        """Score a command by the engine facts that it changed; default: the engine's own score.

        Called after every command, and once after the start with empty sets. A family that
        counts keeps its count in ``self.tally``, an immutable value that starts as None in every
        episode and is part of snapshots. ``self.metadata`` is the game's metadata.
        """
        return feedback
