"""Parts of learners that see bags of features: settings, encoder, store, network, optimizer."""

from __future__ import annotations

import dataclasses
import itertools
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.adam import Adam
from gym_memory.baselines.rl.shared.features import FeatureRows, describe
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.baselines.rl.shared.lexicon import Lexicon
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, Settings

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["BagEncoder", "BagLearner", "BagSettings", "BagStore", "Batch", "Discount", "Ints"]
__all__ += ["ObservationBags", "packed", "torch"]

Ints = NDArray[np.int64]

_NUMBER = np.dtype(np.int32)

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
    def of(cls, lists: Sequence[bytes]) -> Batch:
        """Concatenate packed lists."""
        lengths = np.fromiter(map(len, lists), np.int64, len(lists)) // _NUMBER.itemsize
        values = np.frombuffer(b"".join(lists), _NUMBER).astype(np.int64)
        return cls(values, np.cumsum(lengths) - lengths, lengths)


def packed(numbers: Iterable[int]) -> bytes:
    """Pack numbers below 2 ** 31, four bytes each: bags are many, and are compared often."""
    return array("i", numbers).tobytes()


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _hexadecimal(bag: Any) -> Any:
    return bag.hex() if isinstance(bag, bytes) else tuple(map(_hexadecimal, bag))


def _unpacked(bag: Any) -> Any:
    """Return a bag, or the tuple of its lists, from JSON."""
    return bytes.fromhex(bag) if isinstance(bag, str) else tuple(map(_unpacked, bag))


class BagStore:
    """Distinct bags, numbered in order of arrival; most observations share actions.

    A bag is a packed list, or a tuple of as many as every other. ``state`` comes from an earlier
    store.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self._next, self._bags = 0, dict[int, Any]()
        if state is not None:
            self._next, lengths = state["next"], state["lengths"]
            data, ends = state["values"].numpy().tobytes(), lengths.flatten().cumsum(0).tolist()
            lists = [data[start:end] for start, end in itertools.pairwise([0, *ends])]
            each = lengths.shape[1] if len(lengths) else 1
            bags = lists if each == 1 else zip(*[iter(lists)] * each, strict=True)
            self._bags = dict(zip(state["numbers"].tolist(), bags, strict=True))
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

    def state(self) -> dict[str, Any]:
        """Return the next number, and tensors of all bags with their own."""
        bags = [bag if isinstance(bag, tuple) else (bag,) for bag in self._bags.values()]
        lists = b"".join(itertools.chain.from_iterable(bags))
        return {
            "next": self._next,
            "numbers": torch.tensor(list(self._bags), dtype=torch.int64),
            "lengths": torch.tensor([list(map(len, bag)) for bag in bags], dtype=torch.int64),
            "values": torch.from_numpy(np.frombuffer(lists, np.uint8).copy()),
        }


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
        return ObservationBags(tuple(packed(rows(groups)) for groups in (state, *actions)))

    def pack(self, seen: Any) -> list[Any]:
        """Return an encoded observation as JSON-able values."""
        return [_hexadecimal(seen.bags), seen.todo]

    def unpack(self, record: list[Any]) -> ObservationBags:
        """Return an encoded observation from JSON-able values."""
        bags, todo = record
        return ObservationBags(_unpacked(bags), _tuples(todo))

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the network, the rows of its features, and the common names."""
        record = {"vocabulary": self.vocabulary.names, "lexicon": self.lexicon.state()}
        return dict(self.online.state_dict()), record

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        self.online.load_state_dict(tensors)
        self.vocabulary = FeatureRows(self.settings.vocabulary, record["vocabulary"])
        self.lexicon = Lexicon(self.settings.common, state=record["lexicon"])
