"""Parts of learners that see bags of features: encoders, settings, network, optimizer."""

from __future__ import annotations

import dataclasses
import zlib
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gym_memory.baselines.rl.shared.features import FeatureRows, Lexicon, describe
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.baselines.rl.shared.readers import READERS
from gym_memory.baselines.rl.shared.replay import Batch, Ints, RaggedLists, torch
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, Settings
from gym_memory.core.text import compounds

__all__ = ["BagEncoder", "BagLearner", "BagNetwork", "BagSettings", "Discount", "Rate"]
__all__ += ["ObservationBags", "Scenes", "Texts", "scenes_of"]

Kind = Literal["bag", "gru", "minilm", "minilm-tuned"]
Discount = Annotated[float, Help("Discount a step.", low=0, high=1)]
Rate = Annotated[float, Help("Learning rate of Adam.", above=0)]


@dataclasses.dataclass(frozen=True)
class BagSettings(Settings):
    """Settings of every learner that sees bags."""

    encoder: Annotated[
        Kind,
        Help("bag: features alone; gru, minilm (frozen) and minilm-tuned also read the text."),
    ] = "bag"
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
            "Use of recalled facts: related; plain leaves out what solves part of the game; "
            "rendered reads them as text."
        ),
    ] = "related"
    common: Annotated[
        float,
        Help("Share of the training games in which a name must occur to be a feature.", 0, 1),
    ] = 0.8
    gamma: Discount = 0.9
    lr: Rate = 1e-3
    tuned_lr: Annotated[
        float,
        Help("Learning rate of a tuned MiniLM, which forgets its pretraining at lr.", above=0),
    ] = 2e-5
    clip: Annotated[float, Help("Largest norm of the gradient.", above=0)] = 5.0


# ------------------------------------------------------------ encoders


class Texts:
    """Texts by number, each once; number 0 is no text."""

    def __init__(self) -> None:
        self.load_state([])

    def number(self, text: str) -> int:
        """Return the number of a text."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return found

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def state(self) -> list[str]:
        """Return all texts in their order."""
        return self._texts[1:]

    def load_state(self, texts: list[str]) -> None:
        """Replace all texts."""
        self._texts = ["", *texts]
        self._numbers = {text: number for number, text in enumerate(self._texts)}


class BagEncoder(torch.nn.Module):
    """An encoder of bags: the sum of the features' embeddings, plus that of the text."""

    def __init__(self, kind: Kind, texts: Texts, *, rows: int, dim: int):
        super().__init__()
        self._texts = texts
        self.bag = torch.nn.EmbeddingBag(rows, dim, mode="sum", padding_idx=0)
        # An embedding that was hardly trained should have hardly any effect.
        torch.nn.init.zeros_(self.bag.weight)
        self.reader = None if kind == "bag" else READERS[kind](dim)

    @property
    def reads(self) -> bool:
        """True if texts matter; if not, bags should name none."""
        return self.reader is not None

    def tuned(self) -> list[torch.nn.Parameter]:
        """Return the pretrained parameters that are trained on."""
        return self.reader.tuned() if self.reader is not None else []

    def forward(self, bags: Batch) -> torch.Tensor:
        """Encode bags, each with its text's number first: float32 of shape (bags, dim)."""
        device = self.bag.weight.device
        texts, rows = bags.split()
        found: torch.Tensor = self.bag(
            torch.from_numpy(rows.values).to(device), torch.from_numpy(rows.offsets).to(device)
        )
        if self.reader is not None:
            used, where = np.unique(texts, return_inverse=True)
            read = self.reader([self._texts[int(number)] for number in used])
            found = found + read[torch.from_numpy(where).to(device)]
        return found


# ------------------------------------------------------------ observations


class ObservationBags(NamedTuple):
    """An observation as bags of numbers.

    Attributes:
        bags: The situation's bag, then each action's.
        place: Stable hash of the game's text, which is the same whatever the memory.
        commands: Stable hash of each action's text.
        tried: Times that each command was given in each place of the episode so far.
        known: The words of the game's texts in the episode so far.
        todo: Instructions still to be followed, where a learner keeps them.
    """

    bags: tuple[Any, ...]
    place: int
    commands: tuple[int, ...]
    tried: dict[tuple[int, int], int]
    known: frozenset[str]
    todo: tuple[Any, ...] = ()

    @property
    def times(self) -> list[int]:
        """Return how often each action was taken in this place of the episode so far."""
        return [self.tried.get((self.place, command), 0) for command in self.commands]


class Scenes(NamedTuple):
    """Several observations as numbers of distinct bags.

    ``counts`` are the actions of each observation, ``actions`` those of all end to end.
    """

    bags: Any
    states: Ints
    actions: Ints
    counts: Ints


def scenes_of(seen: list[ObservationBags], store: Any) -> Scenes:
    """Number the distinct bags of some observations in an empty store."""
    numbers = [[store.add(bag) for bag in one.bags] for one in seen]
    return Scenes(
        store.gather(np.arange(len(store))),
        np.array([state for state, *_ in numbers], np.int64),
        np.array([action for _, *actions in numbers for action in actions], np.int64),
        np.array([len(actions) for _, *actions in numbers], np.int64),
    )


# ------------------------------------------------------------ the learner


class BagNetwork(torch.nn.Module):
    """A network over encoded bags."""

    def __init__(self, encoder: BagEncoder):
        super().__init__()
        self.encoder = encoder


class BagLearner(Learner):
    """A learner that sees bags, with one network, its optimizer and counts of steps and updates."""

    settings: BagSettings
    store_class: ClassVar[type] = RaggedLists
    """Stores bags, like :class:`.RaggedLists`."""

    def __init__(self, settings: BagSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it brings.
        torch.set_num_threads(1)
        self.vocabulary = FeatureRows(settings.vocabulary)
        self.lexicon = Lexicon(settings.common)
        self.texts = Texts()
        self.online = self.new_network()
        tuned = self.online.encoder.tuned()
        apart = set(map(id, tuned))
        rest = [p for p in self.online.parameters() if id(p) not in apart]
        groups: list[dict[str, Any]] = [{"params": rest}]
        groups += [{"params": tuned, "lr": settings.tuned_lr}] * bool(tuned)
        self.optimizer = torch.optim.Adam(groups, lr=settings.lr, fused=True)

    @abstractmethod
    def network(self, encoder: BagEncoder) -> BagNetwork:
        """Build the baseline's network on top of an encoder."""

    def new_network(self) -> BagNetwork:
        """Build a network whose weights come from the seed alone: the same ones in every call."""
        s = self.settings
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            encoder = BagEncoder(s.encoder, self.texts, rows=s.vocabulary, dim=s.dim)
            return self.network(encoder).to(self.device)

    def descend(self, loss: torch.Tensor) -> None:
        """Take one step of the optimizer, the gradient clipped."""
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), self.settings.clip)
        self.optimizer.step()

    def see(
        self,
        obs: Observation,
        task_id: str = "",
        before: ObservationBags | None = None,
        action: int = -1,
    ) -> ObservationBags:
        """Encode an observation."""
        self.vocabulary.frozen = not task_id
        s = self.settings
        state, actions = describe(obs, self.lexicon, task_id, words=s.words, facts=s.facts)
        rows = self.vocabulary.rows
        texts = ["" for _ in range(len(actions) + 1)]
        if self.online.encoder.reads:
            texts = [obs["text"], *obs["valid_actions"]]
        bags = [
            (self.texts.number(text), *rows(features))
            for text, features in zip(texts, (state, *actions), strict=True)
        ]
        tried: dict[tuple[int, int], int] = {}
        # Counts go by the bare text: a memory is to help as an observation, and only so.
        known = frozenset(compounds(obs["text"]))
        if before is not None:
            done = (before.place, before.commands[action])
            tried = {**before.tried, done: before.tried.get(done, 0) + 1}
            known |= before.known
        commands = tuple(_code(command) for command in obs["valid_actions"])
        return ObservationBags(tuple(bags), _code(obs["text"]), commands, tried, known)

    def pack(self, seen: ObservationBags) -> list[Any]:
        """Return it as JSON-able values."""
        tried = [[*pair, times] for pair, times in seen.tried.items()]
        return [*seen[:3], tried, sorted(seen.known)]

    def unpack(self, packed: list[Any]) -> ObservationBags:
        """Return the inverse of :meth:`pack`."""
        bags, place, commands, tried, known = packed
        tried = {(there, command): times for there, command, times in tried}
        bags = tuple(map(tuple, bags))
        return ObservationBags(bags, place, tuple(commands), tried, frozenset(known))

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the network, the rows of its features, the common names."""
        record = {"vocabulary": self.vocabulary.names, "lexicon": self.lexicon.state()}
        return dict(self.online.state_dict()), record

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        self.online.load_state_dict(tensors)
        self.vocabulary = FeatureRows(self.settings.vocabulary, record["vocabulary"])
        self.lexicon.load_state(record["lexicon"])

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return also the texts."""
        tensors, record = super().progress()
        return tensors, {**record, "texts": self.texts.state()}

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        super().load_progress(tensors, record)
        self.texts.load_state(record["texts"])


def _code(text: str) -> int:
    return zlib.crc32(text.encode())
