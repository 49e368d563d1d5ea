"""What learners share that see bags of features: how they look, a network, its optimizer.

Such a learner sees the situation and every valid action as a *bag*: the number of a text and the
rows of named features (:mod:`gym_memory.baselines.rl.shared.features`). It brings the network that
scores them and says how that is trained; all else that playing and saving need is here.
"""

from __future__ import annotations

import dataclasses
import zlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gym_memory.baselines.rl.shared.encoders import ENCODERS, Encoder, Texts
from gym_memory.baselines.rl.shared.interning import Batch, Ints, Ragged, Vocabulary

from gym_memory.baselines.rl.shared.checkpoints import load_moments, moments
from gym_memory.baselines.rl.shared.features import FACTS, Lexicon, describe, words_of
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int, check_name, check_number, check_share

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["BagLearner", "BagNetwork", "BagSettings", "Scenes", "Seen", "scenes_of"]


@dataclasses.dataclass(frozen=True)
class BagSettings:
    """Settings of every learner by bags.

    Attributes:
        encoder: ``bag`` (features only); ``gru``, ``minilm`` (frozen) or ``minilm-tuned`` (which
            also read the text).
        dim: Size of an encoding.
        hidden: Width of the layers over situation and action.
        vocabulary: Rows of the embedding table.
        words: ``auto``: words are features only where no facts are recalled; ``always``.
        facts: What is made of recalled facts, see :func:`.describe`: ``related``; ``plain`` leaves
            out what solves part of the game; ``rendered`` reads them as text.
        common: Share of the training games in which a name must stand to be told by name.
        gamma: Discount a step.
        lr: Learning rate of Adam.
        tuned_lr: The same for MiniLM itself where it is tuned: what it knows washes out at ``lr``.
        clip: Largest norm of the gradient.

    Raises:
        InvalidArgumentError: A number is out of its range.
        UnknownNameError: A name is not one of those that there are.
    """

    encoder: str = "bag"
    dim: int = 64
    hidden: int = 64
    vocabulary: int = 4096
    words: str = "auto"
    facts: str = "related"
    common: float = 0.8
    gamma: float = 0.9
    lr: float = 1e-3
    tuned_lr: float = 2e-5
    clip: float = 5.0

    def __post_init__(self) -> None:
        check_name("encoder", self.encoder, ENCODERS)
        check_name("words", self.words, ("auto", "always"))
        check_name("facts", self.facts, FACTS)
        check_int("dim", self.dim, 1)
        check_int("hidden", self.hidden, 1)
        check_int("vocabulary", self.vocabulary, 2)
        check_share("common", self.common)
        check_share("gamma", self.gamma)
        check_number("lr", self.lr, above=0)
        check_number("tuned_lr", self.tuned_lr, above=0)
        check_number("clip", self.clip, above=0)


class Seen(NamedTuple):
    """An observation as bags of numbers.

    Attributes:
        bags: The situation's bag, then each action's; a bag is the number of its text (0 where
            the encoder reads none) and the rows of its features.
        place: Stable hash of the game's text, which is the same whatever the memory.
        commands: Stable hash of each action's text.
        tried: How often each command was given in each place of the episode so far.
        known: The words of the game's texts in the episode so far.
    """

    bags: tuple[tuple[int, ...], ...]
    place: int
    commands: tuple[int, ...]
    tried: dict[tuple[int, int], int]
    known: frozenset[str]

    @property
    def times(self) -> list[int]:
        """How often each action was taken in this place of the episode so far."""
        return [self.tried.get((self.place, command), 0) for command in self.commands]


class Scenes(NamedTuple):
    """Several observations as numbers of distinct bags.

    Attributes:
        bags: The distinct bags.
        states: Which bag is the situation, of each observation, shape (n,).
        actions: Which bags are the actions, those of each observation end to end.
        counts: Actions of each observation, shape (n,).
    """

    bags: Batch
    states: Ints
    actions: Ints
    counts: Ints


def scenes_of(seen: list[Seen]) -> Scenes:
    """Number the distinct bags of some observations."""
    store = Ragged()
    numbers = [[store.add(bag) for bag in one.bags] for one in seen]
    return Scenes(
        store.gather(np.arange(len(store))),
        np.array([state for state, *_ in numbers], np.int64),
        np.array([action for _, *actions in numbers for action in actions], np.int64),
        np.array([len(actions) for _, *actions in numbers], np.int64),
    )


class BagNetwork(torch.nn.Module):
    """A network over encoded bags.

    Args:
        encoder: Bags to vectors.
    """

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder


class BagLearner(Learner):
    """Sees bags, holds one network with its optimizer, counts steps and updates.

    A baseline gives the network (:meth:`_network`), ``act``, ``observe`` and ``learn``, and adds
    to ``progress`` and ``load_progress`` what else it keeps.

    Args:
        settings: The baseline's settings.
        seed: Seed of all chance, the network's first weights included.
        device: ``cpu`` or ``cuda``.
    """

    settings: BagSettings

    def __init__(self, settings: BagSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it brings.
        torch.set_num_threads(1)
        self._rng = np.random.default_rng([seed, 0])
        self._vocabulary = Vocabulary(settings.vocabulary)
        self._lexicon = Lexicon(settings.common)
        self._texts = Texts()
        self._online = self._new_network()
        self._optimizer = torch.optim.Adam(self._parameters(), lr=settings.lr, fused=True)
        self._steps = self._updates = 0

    @abstractmethod
    def _network(self, encoder: Encoder) -> BagNetwork:
        """The baseline's network, fresh, on top of an encoder."""

    def _new_network(self) -> BagNetwork:
        """A network whose weights come from the seed alone: the same ones in every call."""
        sizes = {"rows": self.settings.vocabulary, "dim": self.settings.dim}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = self._network(Encoder(self.settings.encoder, self._texts, **sizes))
        return network.to(self.device)

    def _parameters(self) -> list[dict[str, Any]]:
        """The network's parameters, in groups with a learning rate of their own."""
        tuned = self._online.encoder.tuned()
        apart = set(map(id, tuned))
        rest = [p for p in self._online.parameters() if id(p) not in apart]
        groups: list[dict[str, Any]] = [{"params": rest}]
        return [*groups, {"params": tuned, "lr": self.settings.tuned_lr}] if tuned else groups

    def _descend(self, loss: torch.Tensor) -> None:
        """One step of the optimizer, the gradient clipped."""
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._online.parameters(), self.settings.clip)
        self._optimizer.step()

    # ------------------------------------------------------------ seeing

    def see(
        self, obs: Observation, task_id: str = "", before: Seen | None = None, action: int = -1
    ) -> Seen:
        """Encode an observation."""
        self._vocabulary.frozen = not task_id
        s = self.settings
        state, actions = describe(obs, self._lexicon, task_id, words=s.words, facts=s.facts)
        rows = self._vocabulary.rows
        told = ["" for _ in range(len(actions) + 1)]
        if self._online.encoder.reads:
            told = [obs["text"], *obs["valid_actions"]]
        bags = [
            (self._texts.number(text), *rows(features))
            for text, features in zip(told, (state, *actions), strict=True)
        ]
        tried: dict[tuple[int, int], int] = {}
        # Counts go by the bare text: a memory is to help as an observation, and only so.
        known = frozenset(words_of(obs["text"]))
        if before is not None:
            done = (before.place, before.commands[action])
            tried = {**before.tried, done: before.tried.get(done, 0) + 1}
            known |= before.known
        commands = tuple(_code(command) for command in obs["valid_actions"])
        return Seen(tuple(bags), _code(obs["text"]), commands, tried, known)

    def pack(self, seen: Seen) -> list[Any]:
        """As JSON-able values."""
        tried = [[*pair, times] for pair, times in seen.tried.items()]
        return [*seen[:-2], tried, sorted(seen.known)]

    def unpack(self, packed: list[Any]) -> Seen:
        """The inverse of :meth:`pack`."""
        bags, place, commands, tried, known = packed
        tried = {(there, command): times for there, command, times in tried}
        bags = tuple(map(tuple, bags))
        return Seen(bags, place, tuple(commands), tried, frozenset(known))

    # ------------------------------------------------------------ keeping

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The network, the rows of its features, the common names."""
        record = {"vocabulary": self._vocabulary.names, "lexicon": self._lexicon.state()}
        return dict(self._online.state_dict()), record

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        self._online.load_state_dict(tensors)
        self._vocabulary = Vocabulary(self.settings.vocabulary, record["vocabulary"])
        self._lexicon.load_state(record["lexicon"])

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Optimizer, texts, chance and counters."""
        record = {
            "texts": self._texts.state(),
            "rng": self._rng.bit_generator.state,
            "steps": self._steps,
            "updates": self._updates,
        }
        return moments(self._optimizer), record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        load_moments(self._optimizer, tensors)
        self._texts.load_state(record["texts"])
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates = record["steps"], record["updates"]


def _code(text: str) -> int:
    return zlib.crc32(text.encode())
