"""Parts of learners that see bags of features: settings, encoder, store, network, optimizer."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.adam import Adam
from gym_memory.baselines.rl.shared.features import FeatureRows, Lexicon, describe
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, Settings

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["BagEncoder", "BagLearner", "BagSettings", "BagStore", "Batch", "Discount", "Ints"]
__all__ += ["ObservationBags", "torch", "tuples"]

Ints = NDArray[np.int64]

Discount = Annotated[float, Help("Discount per step.", low=0, high=1)]


@dataclasses.dataclass(frozen=True)
class BagSettings(Settings):
    """Settings of every learner that sees bags."""

    dim: Annotated[int, Help("Size of an encoding.", low=1)] = 64
    hidden: Annotated[int, Help("Width of the layers over situation and action.", low=1)] = 64
    vocabulary: Annotated[int, Help("Rows of the embedding table.", low=2)] = 4096
    words: Annotated[
        Literal["auto", "always"],
        Help("Words as features: auto, only where no facts are recalled, or always."),
    ] = "auto"
    facts: Annotated[
        Literal["related", "plain", "rendered"],
        Help(
            "Use of recalled facts: related; plain, without features that solve part of the game; "
            "rendered reads them as text."
        ),
    ] = "related"
    common: Annotated[
        float,
        Help("Least share of games that have a name, a quarter of it for other words.", 0, 1),
    ] = 0.8
    gamma: Discount = 0.9
    lr: Annotated[float, Help("Learning rate of Adam.", above=0)] = 1e-3
    clip: Annotated[float, Help("Largest norm of the gradient.", above=0)] = 5.0


class Batch(NamedTuple):
    """Lists of numbers end to end, with the offset and the length of each."""

    values: Ints
    offsets: Ints
    lengths: Ints

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> Batch:
        """Concatenate lists."""
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        values = np.fromiter(itertools.chain.from_iterable(lists), np.int64, int(lengths.sum()))
        return cls(values, np.cumsum(lengths) - lengths, lengths)


def tuples(value: Any) -> Any:
    """Return nested lists from JSON as the tuples of bags."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


class BagStore:
    """Distinct bags, numbered in order of arrival; most observations share actions.

    ``state`` comes from an earlier store.
    """

    def __init__(self, state: Iterable[Any] = (0,)) -> None:
        self._next, *bags = state
        self._bags = {number: tuples(bag) for number, bag in bags}
        self._numbers = {bag: number for number, bag in self._bags.items()}

    def __len__(self) -> int:
        return len(self._bags)

    def add(self, bags: Iterable[Any]) -> Ints:
        """Return the numbers of an observation's bags; store those that are new."""
        found = []
        for bag in bags:
            number = self._numbers.get(bag)
            if number is None:
                number = self._numbers[bag] = self._next
                self._bags[number] = bag
                self._next += 1
            found.append(number)
        return np.array(found, np.int64)

    def distinct(self, *columns: Ints) -> tuple[list[Any], list[Ints]]:
        """Return the distinct bags of some columns, and the columns as indices into them."""
        numbers, places = np.unique(np.concatenate(columns), return_inverse=True)
        ends = np.cumsum([len(column) for column in columns])
        return [self._bags[number] for number in numbers.tolist()], np.split(places, ends[:-1])

    def pairs(self, observations: Sequence[Ints]) -> tuple[list[Any], list[Ints], Ints]:
        """Return distinct bags, each action with its situation as indices into them, and counts.

        The pairs are two arrays of shape (pairs,); counts are the actions of each observation.
        """
        counts = np.array([len(obs) - 1 for obs in observations])
        states = np.repeat([obs[0] for obs in observations], counts)
        return *self.distinct(states, np.concatenate([obs[1:] for obs in observations])), counts

    def keep(self, observations: Iterable[Ints]) -> None:
        """Forget all bags except those of some observations."""
        used = set(np.concatenate([*observations, np.zeros(0, np.int64)]).tolist())
        self._bags = {number: bag for number, bag in self._bags.items() if number in used}
        self._numbers = {bag: number for number, bag in self._bags.items()}

    def state(self) -> list[Any]:
        """Return the next number, then every bag with its own, as JSON-able values."""
        return [self._next, *self._bags.items()]


class BagEncoder(torch.nn.Module):
    """An encoder of bags: the sum of the features' embeddings."""

    def __init__(self, rows: int, dim: int):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(rows, dim, mode="sum")
        # A barely trained embedding should have almost no effect.
        torch.nn.init.zeros_(self.bag.weight)
        # Row 0 stays zero; with ``padding_idx`` torch would take eight times as long.
        self.bag.weight.register_post_accumulate_grad_hook(_clear_row_0)

    def forward(self, bags: Batch) -> torch.Tensor:
        """Encode bags: float32 of shape (bags, dim)."""
        rows, offsets = (torch.from_numpy(n).to(self.bag.weight.device) for n in bags[:2])
        found: torch.Tensor = self.bag(rows, offsets)
        return found


def _clear_row_0(weight: torch.Tensor) -> None:
    assert weight.grad is not None
    weight.grad[0] = 0


class ObservationBags(NamedTuple):
    """Bags of the situation and of each action; ``todo`` are instructions of LTL-GATA."""

    bags: tuple[Any, ...]
    todo: tuple[Any, ...] = ()


class BagLearner(Learner):
    """A learner that sees bags, with one network, its optimizer and counts of steps and updates."""

    settings: BagSettings
    network_class: type[torch.nn.Module]
    """Class of the baseline's network, which is made from its settings."""

    def __init__(self, settings: BagSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it gains.
        torch.set_num_threads(1)
        self.vocabulary = FeatureRows(settings.vocabulary)
        self.lexicon = Lexicon(settings.common)
        self.online = self.new_network()
        self.optimizer = Adam(self.online.parameters(), settings.lr)

    def new_network(self) -> torch.nn.Module:
        """Build a network with weights drawn from the seed alone, the same in every call."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return self.network_class(self.settings).to(self.device)

    def descend(self, loss: torch.Tensor) -> None:
        """Take one step of the optimizer, the gradient clipped."""
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), self.settings.clip)
        self.optimizer.step()

    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Encode an observation as :class:`ObservationBags`."""
        self.vocabulary.frozen = not task_id
        s = self.settings
        state, actions = describe(obs, self.lexicon, task_id, words=s.words, facts=s.facts)
        rows = self.vocabulary.rows
        return ObservationBags(tuple(tuple(rows(features)) for features in (state, *actions)))

    def unpack(self, packed: list[Any]) -> ObservationBags:
        """Return an encoded observation from JSON-able values."""
        return ObservationBags(*tuples(packed))

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the network, the rows of its features, and the common names."""
        record = {"vocabulary": self.vocabulary.names, "lexicon": self.lexicon.state()}
        return dict(self.online.state_dict()), record

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        self.online.load_state_dict(tensors)
        self.vocabulary = FeatureRows(self.settings.vocabulary, record["vocabulary"])
        self.lexicon = Lexicon(self.settings.common, state=record["lexicon"])
