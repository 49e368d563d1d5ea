"""A small transformer over text alone: no facts, no roles, no lexicon, no signposts.

It reads the words of the text, the task, the inventory and the rendered memory, and those of each
valid action, by copy attention (:class:`CopyReader`). It learns by cloning a teacher with a memory
of its own, in states that the learner visits (DAgger, Ross et al. 2011), and, from ``rl_after``
steps on, by advantage actor-critic.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.adam import Adam
from gym_memory.baselines.rl.shared.bags import Discount, torch
from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.baselines.rl.shared.rollouts import NEVER, LogitTable, Rollouts, cells
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, Settings
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder

__all__ = ["CopyReader", "TextLearner", "TextSettings", "Words"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

PARTS = ("task", "text", "inventory", "memory")
"""Texts of an observation to read, in addition to its actions."""
_ACTION = len(PARTS)
_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[>:;,.\n]")
_BLANKS_BETWEEN_TEXTS = 3
"""Blanks between two texts, so that a convolution does not mix them."""
_AGE_CLASSES = 16
_STEM_CHARS = 4
_LEAST_PRIORITY = 0.05
"""Least priority of a labelled state, even if its loss is 0."""


@dataclasses.dataclass(frozen=True)
class TextSettings(Settings):
    """Settings of the text baseline."""

    words: Annotated[
        Literal["own", "minilm"],
        Help("Vectors of words: own, learnt from nothing, or minilm's, frozen."),
    ] = "own"
    vocabulary: Annotated[int, Help("Rows for words and their pieces, by a stable hash.", 2)] = 4096
    dim: Annotated[int, Help("Size of a vector.", low=1)] = 64
    heads: Annotated[int, Help("Heads of the copy attention; they divide dim.", low=1)] = 4
    layers: Annotated[int, Help("Layers.", low=1)] = 3
    forget: Annotated[
        float,
        Help(
            "Share of an observation's words whose vectors are zeroed while cloning, all places "
            "of a word together (Gal and Ghahramani 2016), so that less depends on names.",
            low=0,
            high=1,
        ),
    ] = 0.2
    longest: Annotated[int, Help("Most words of the memory to read, the last ones.", 1)] = 4096
    teacher_memory: Annotated[
        str, Help("Memory of the planner that teaches; empty for RL alone.")
    ] = "arigraph"
    beta_steps: Annotated[
        int, Help("Steps over which the share of the teacher's actions falls from 1 to 0.", low=0)
    ] = 1500
    rl_after: Annotated[int, Help("Steps before RL begins; 0: never.", low=0)] = 0
    batch: Annotated[int, Help("Labelled states per update.", low=1)] = 8
    update_every: Annotated[int, Help("Steps per update by cloning.", low=1)] = 3
    learn_start: Annotated[int, Help("Steps before the first update.", low=0)] = 64
    shown: Annotated[int, Help("Labelled states to keep; later ones are dropped.", low=1)] = 65536
    n_steps: Annotated[int, Help("Steps of each game between two updates by RL.", low=1)] = 8
    gamma: Discount = 0.9
    entropy: Annotated[float, Help("Weight of the policy's entropy.")] = 0.03
    value_weight: Annotated[float, Help("Weight of the critic's squared error.")] = 0.5
    lr: Annotated[float, Help("Learning rate of AdamW.", above=0)] = 2e-3
    decay: Annotated[float, Help("Weight decay of AdamW.")] = 0.01
    clip: Annotated[float, Help("Largest norm of the gradient.", above=0)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim % self.heads:
            raise InvalidArgumentError(
                f"expected heads that divide dim={self.dim}, got {self.heads}"
            )


# ------------------------------------------------------------ observations


class Words(NamedTuple):
    """An observation as numbers of words: those of its :data:`PARTS` and of each valid action.

    ``label`` is the index of the teacher's action, -1 for none; ``earned`` is the step's reward.
    """

    words: Ints
    parts: Ints
    actions: tuple[Ints, ...]
    label: int
    earned: float


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


class Lines(NamedTuple):
    """Observations as one long line of places, with blanks (word -1) between texts.

    The first six arrays have the shape (places,).

    Attributes:
        words: Number of the word at each place.
        parts: Part of the observation that the place belongs to; 4 for an action.
        ages: Logarithm of the distance to the end of the text.
        owners: Index of the observation.
        sentences: Number of the sentence or line, counted over all observations.
        rows: Number of the action, counted over all observations; -1 outside of actions.
        counts: Number of actions of each observation, shape (observations,).
        earned: Reward of the step before each observation, in [-1, 1].
    """

    words: Longs
    parts: Longs
    ages: Longs
    owners: Longs
    sentences: Longs
    rows: Longs
    counts: Longs
    earned: NDArray[np.float32]


def lines_of(seen: Sequence[Words], ends: frozenset[int]) -> Lines:
    """Lay observations out as one line; ``ends`` are the words that end a sentence."""
    texts = [text for one in seen for text in (one.words, *one.actions)]
    counts = np.array([len(one.actions) for one in seen], np.int64)
    own = np.zeros(len(texts), bool)  # the others are actions
    own[np.cumsum(counts + 1) - counts - 1] = True
    sizes = np.array([len(text) for text in texts], np.int64)
    which = np.repeat(np.arange(len(texts)), sizes + _BLANKS_BETWEEN_TEXTS)
    ends_at = np.cumsum(sizes + _BLANKS_BETWEEN_TEXTS) - _BLANKS_BETWEEN_TEXTS
    left = ends_at[which] - np.arange(len(which))  # words to the end, this one included
    real = left > 0
    own_word = real & own[which]

    words, parts, ages = np.full(len(which), -1), np.zeros_like(which), np.zeros_like(which)
    words[real] = np.concatenate(texts)
    parts[real] = _ACTION
    parts[own_word] = np.concatenate([one.parts for one in seen])
    ages[own_word] = np.minimum(np.log2(left[own_word]).astype(int), _AGE_CLASSES - 1)
    owners = np.repeat(np.arange(len(seen)), counts + 1)[which]
    rows = np.where(real & ~own[which], (np.cumsum(~own) - 1)[which], -1)
    sentences = np.cumsum(np.isin(words, [-1, *ends]), dtype=np.int64)
    earned = np.clip([one.earned for one in seen], -1, 1).astype(np.float32)
    return Lines(words, parts, ages, owners, sentences, rows, counts, earned)


@lru_cache(maxsize=65_536)
def pieces(word: str, rows: int) -> tuple[int, ...]:
    """Return rows of a word and of its three-letter pieces, each in [0, rows).

    >>> len(pieces("diced", 4096)), len(pieces(".", 4096))
    (6, 1)
    """
    marked = f"<{word}>"
    parts = [marked, *(marked[i : i + 3] for i in range(len(marked) - 2) if len(word) > 2)]
    return tuple(zlib.crc32(part.encode()) % rows for part in parts)


# ------------------------------------------------------------ the network


class OwnWords(torch.nn.Module):
    """Vectors of words made of their pieces (fastText, Bojanowski et al. 2017)."""

    def __init__(self, vocabulary: int, dim: int):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(vocabulary, dim, mode="mean")
        torch.nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Return vectors, float32 of shape (words, dim)."""
        rows = [pieces(word, self.bag.num_embeddings) for word in words]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        flat = torch.tensor([row for one in rows for row in one])
        device = self.bag.weight.device
        found: torch.Tensor = self.bag(flat.to(device), torch.from_numpy(starts).to(device))
        return found


class FrozenMiniLM(torch.nn.Module):
    """Vectors of words by a trained layer over MiniLM's frozen embeddings, each computed once.

    Unit vectors are scaled, so that each number is about 1 in size.
    """

    def __init__(self, dim: int):
        super().__init__()
        self._encoder = make_encoder(DEFAULT_MODEL)
        self._scale = self._encoder.dim**0.5
        self._kept: dict[str, torch.Tensor] = {}
        self.layer = torch.nn.Linear(self._encoder.dim, dim)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Return vectors, float32 of shape (words, dim)."""
        new = [word for word in words if word not in self._kept]
        if new:
            vectors = torch.from_numpy(np.asarray(self._encoder.encode(new), np.float32))
            self._kept.update(zip(new, vectors * self._scale, strict=True))
        stacked = torch.stack([self._kept[word] for word in words])
        read: torch.Tensor = self.layer(stacked.to(self.layer.weight.device))
        return read


class Groups(NamedTuple):
    """Group of each place, the places whose values enter the means, and the number of groups."""

    groups: torch.Tensor
    counted: torch.Tensor
    total: int


class Layer(torch.nn.Module):
    """A layer that adds neighbours, then other places of the word and the sentence."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(dim)
        self.near = torch.nn.Conv1d(
            dim, dim, 2 * _BLANKS_BETWEEN_TEXTS + 1, padding=_BLANKS_BETWEEN_TEXTS, groups=dim
        )
        self.mix = torch.nn.Sequential(
            torch.nn.Linear(dim, 2 * dim), torch.nn.GELU(), torch.nn.Linear(2 * dim, dim)
        )
        self.norm_copy = torch.nn.LayerNorm(dim)
        self.score = torch.nn.Linear(dim, 2 * heads)
        self.value = torch.nn.Linear(dim, 2 * dim)
        self.out = torch.nn.Linear(2 * dim, dim)

    def forward(self, h: torch.Tensor, words: Groups, sentences: Groups) -> torch.Tensor:
        """Return the next ``h``, of shape (places, dim)."""
        near = self.near(self.norm(h).T[None])[0].T
        h = h + self.mix(near)
        normed = self.norm_copy(h)
        scores, values = self.score(normed).chunk(2, 1), self.value(normed).chunk(2, 1)
        read = [
            spread(score[of.counted], value[of.counted], of.groups[of.counted], of.total)[of.groups]
            for score, value, of in zip(scores, values, (words, sentences), strict=True)
        ]
        changed: torch.Tensor = h + self.out(torch.cat(read, 1))
        return changed


def spread(
    scores: torch.Tensor, values: torch.Tensor, groups: torch.Tensor, count: int
) -> torch.Tensor:
    """Return means within groups, weighted by a softmax of the scores, of shape (count, dim).

    Args:
        scores: Of shape (n, heads).
        values: Of shape (n, dim), heads side by side.
        groups: Group of each, shape (n,).
        count: Number of groups; one without members has mean 0.
    """
    # Scores are bounded instead of shifted by a maximum: the same softmax, without a second pass.
    weights = torch.exp(8 * torch.tanh(scores / 8))
    heads = weights.shape[1]
    weighted = (values.unflatten(1, (heads, -1)) * weights[:, :, None]).flatten(1)
    total = weights.new_zeros(count, heads).index_add(0, groups, weights)
    summed = values.new_zeros(count, values.shape[1]).index_add(0, groups, weighted)
    return (summed.unflatten(1, (heads, -1)) / total.clamp(min=1e-9)[:, :, None]).flatten(1)


class CopyReader(torch.nn.Module):
    """A reader of bare words by copy attention, in time linear in the text.

    The other places of a word matter more than the word itself: a food of a test game occurs in no
    training game, but it is in the recipe, on the table and in the action. So attention goes from a
    word to the same word elsewhere, in the manner of induction heads (Olsson et al. 2022).
    """

    def __init__(self, texts: Texts, settings: TextSettings):
        super().__init__()
        self._texts, self._forget = texts, settings.forget
        dim, heads = settings.dim, settings.heads
        minilm = settings.words == "minilm"
        self.words = FrozenMiniLM(dim) if minilm else OwnWords(settings.vocabulary, dim)
        self.parts = torch.nn.Embedding(len(PARTS) + 1, dim)
        self.ages = torch.nn.Embedding(_AGE_CLASSES, dim)
        self.layers = torch.nn.ModuleList(Layer(dim, heads) for _ in range(settings.layers))
        self.norm = torch.nn.LayerNorm(dim)
        self.salience = torch.nn.Linear(dim, 2 * heads)
        self.of_state = torch.nn.Linear(dim, dim)
        self.of_action = torch.nn.Linear(dim, dim)
        self.actor = torch.nn.Sequential(
            torch.nn.GELU(), torch.nn.Linear(dim, dim), torch.nn.GELU(), torch.nn.Linear(dim, 1)
        )
        self.critic = torch.nn.Sequential(torch.nn.GELU(), torch.nn.Linear(dim, 1))
        for small in (self.parts, self.ages):
            torch.nn.init.normal_(small.weight, std=0.1)
        self.earned = torch.nn.Parameter(torch.zeros(dim))

    def forward(self, lines: Lines, chance: np.random.Generator | None = None) -> LogitTable:
        """Return logits and values; with ``chance``, a share of the words is zeroed."""
        device = self.of_state.weight.device

        def to_device(values: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        used, which = np.unique(lines.words, return_inverse=True)  # the first is the blank
        written, ranks = np.unique([self._texts[int(n)] for n in used[1:]], return_inverse=True)
        # Sort by word, since numbers depend on which games were measured and sums must not.
        which = np.concatenate([[0], ranks + 1])[which]
        vectors = self.words(written.tolist())
        vectors = torch.cat([torch.zeros_like(vectors[:1]), vectors])
        blank = lines.words < 0
        hashes = [-1, *(zlib.crc32(word[:_STEM_CHARS].encode()) for word in written)]
        stems = np.unique(hashes, return_inverse=True)[1]
        _, groups = np.unique(lines.owners * len(used) + stems[which], return_inverse=True)
        total = int(groups.max()) + 1
        known = np.ones(total) if chance is None else chance.random(total) >= self._forget
        h = vectors[to_device(which)] * to_device(known.astype(np.float32)[groups])[:, None]
        h = h + self.parts(to_device(lines.parts)) + self.ages(to_device(lines.ages))
        real = to_device(~blank)[:, None]
        own = to_device(np.flatnonzero((lines.rows < 0) & ~blank))
        words = Groups(to_device(groups), own, total)
        every, ended = to_device(np.flatnonzero(~blank)), int(lines.sentences[-1]) + 1
        sentences = Groups(to_device(lines.sentences), every, ended)
        for layer in self.layers:
            h = layer(h * real, words, sentences)
        h = self.norm(h)
        scores = self.salience(h)
        heads = scores.shape[1] // 2
        owners = to_device(lines.owners)[own]
        situation = spread(scores[own, :heads], h[own], owners, len(lines.counts))
        acting = to_device(np.flatnonzero(lines.rows >= 0))
        rows, count = to_device(lines.rows)[acting], int(lines.counts.sum())
        action = spread(scores[acting, heads:], h[acting], rows, count)
        s = self.of_state(situation) + to_device(lines.earned)[:, None] * self.earned
        return self._judge(s, action, lines.counts)

    def _judge(self, s: torch.Tensor, action: torch.Tensor, counts: Longs) -> LogitTable:
        owners, columns = cells(counts, action.device)
        mixed = s[owners] + self.of_action(action)
        logits = s.new_full((len(counts), int(counts.max())), NEVER)
        logits[owners, columns] = self.actor(mixed).squeeze(1)
        best = s.scatter_reduce(0, owners[:, None].expand_as(mixed), mixed, "amax")
        return LogitTable(logits, self.critic(best).squeeze(1))


# ------------------------------------------------------------ the learner


class TextLearner(Learner):
    """A learner that clones a teacher, then learns from rewards."""

    name = "text"
    settings_class = TextSettings
    settings: TextSettings

    def __init__(self, settings: TextSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it gains.
        torch.set_num_threads(1)
        self.texts = Texts()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = CopyReader(self.texts, settings).to(self.device)
        self.optimizer = Adam(self.network.parameters(), settings.lr, settings.decay)
        self.shown: list[Words] = []
        self.losses: list[float] = []
        self.rollouts = Rollouts()
        self.cloned = 0

    # ------------------------------------------------------------ seeing

    @property
    def teacher_memory(self) -> str:
        """Return the memory of the teacher; empty for RL alone."""
        return self.settings.teacher_memory

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> Words:
        """Encode an observation; it may hold the teacher's advice."""
        words, parts = [], []
        for part, name in enumerate(PARTS):
            found = self._numbers(obs[name])  # type: ignore[literal-required]
            words.append(found[-self.settings.longest :])
            parts.append(np.full(len(words[-1]), part, np.int32))
        actions = tuple(self._numbers(action) for action in obs["valid_actions"])
        advice = obs.get("advice", "")
        valid = tuple(obs["valid_actions"])
        label = valid.index(advice) if advice in valid else -1
        earned = obs.get("earned", 0.0)
        return Words(np.concatenate(words), np.concatenate(parts), actions, label, earned)

    def _numbers(self, text: str) -> Ints:
        return np.array(
            [self.texts.number(word) for word in _TOKEN.findall(text.lower())], np.int32
        )

    def pack(self, seen: Words) -> list[Any]:
        """Return an encoded observation as JSON-able values."""
        actions = [action.tolist() for action in seen.actions]
        return [seen.words.tolist(), seen.parts.tolist(), actions, seen.label, seen.earned]

    def unpack(self, packed: list[Any]) -> Words:
        """Return the inverse of :meth:`pack`."""
        words, parts, actions, *others = packed
        rows = tuple(np.array(action, np.int32) for action in actions)
        return Words(np.array(words, np.int32), np.array(parts, np.int32), rows, *others)

    def read(self, seen: list[Words], chance: np.random.Generator | None = None) -> LogitTable:
        """Return logits and values; with ``chance``, a share of the words is zeroed."""
        ends = frozenset(self.texts.number(mark) for mark in ".\n")
        table: LogitTable = self.network(lines_of(seen, ends), chance)
        return table

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Return the present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self.steps / steps) if steps and not self.reinforces else 0.0

    @property
    def reinforces(self) -> bool:
        """True if RL has begun."""
        s = self.settings
        return not s.teacher_memory or (bool(s.rl_after) and self.steps >= s.rl_after)

    def act(self, seen: list[Words], *, explore: bool) -> list[int]:
        """Draw from the policy except for the teacher's share, or choose its likeliest action."""
        with torch.no_grad():
            logits = self.read(seen).logits.cpu().numpy().astype(np.float64)
        if explore:
            logits += self.rng.gumbel(size=logits.shape)
        chosen: list[int] = np.argmax(np.round(logits, 4), axis=1).tolist()
        beta = self.beta if explore else 0.0
        for i, one in enumerate(seen):
            if beta and one.label >= 0 and self.rng.random() < beta:
                chosen[i] = one.label
        return chosen

    def seeded(self, seed: int) -> None:
        """Seed the random generators, for playing."""
        self.rng = np.random.default_rng([seed, 0])

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a labelled state, and the step once RL has begun."""
        self.steps += 1
        if experience.seen.label >= 0 and len(self.shown) < self.settings.shown:
            self.shown.append(experience.seen)
            self.losses.append(1.0)
        if self.reinforces:
            self.rollouts.add(slot, experience)

    def learn(self) -> dict[str, float]:
        """Make all updates that are due."""
        s, logged = self.settings, {}
        while (
            not self.reinforces
            and len(self.shown) >= s.batch
            and self.cloned < (self.steps - s.learn_start) // s.update_every
        ):
            logged = self._clone()
        if self.rollouts.ready(s.n_steps):
            logged |= self._reinforce()
        return {"updates": float(self.updates), **logged} if logged else {}

    def _clone(self) -> dict[str, float]:
        """Make one update by cross-entropy, on states drawn by their loss when last drawn."""
        wrong = np.array(self.losses) + _LEAST_PRIORITY
        drawn = self.rng.choice(len(wrong), self.settings.batch, p=wrong / wrong.sum()).tolist()
        seen = [self.shown[number] for number in drawn]
        logits = self.read(seen, self.rng).logits
        target = torch.tensor([one.label for one in seen], device=logits.device)
        losses = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        self._descend(losses.mean())
        for number, loss in zip(drawn, losses.tolist(), strict=True):
            self.losses[number] = loss
        self.cloned += 1
        agreed = (logits.argmax(1) == target).float().mean()
        clone_loss = float(losses.detach().mean())
        return {"clone_loss": clone_loss, "agreed": float(agreed), "beta": self.beta}

    def _reinforce(self) -> dict[str, float]:
        """Make one update by advantage actor-critic on the steps since the last one."""
        s = self.settings
        loss, logged = self.rollouts.loss(
            self.read, gamma=s.gamma, entropy=s.entropy, value_weight=s.value_weight
        )
        self._descend(loss)
        self.rollouts.clear()
        return logged

    def _descend(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step()
        self.updates += 1

    # ------------------------------------------------------------ checkpoints

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the network; it depends on no vocabulary."""
        return dict(self.network.state_dict()), {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Load the network."""
        self.network.load_state_dict(tensors)

    def progress(self) -> dict[str, Any]:
        """Also return texts, labelled states and rollouts."""
        own = {
            "texts": self.texts.state(),
            "shown": [self.pack(seen) for seen in self.shown],
            "losses": self.losses,
            "cloned": self.cloned,
        }
        return super().progress() | own | self.rollouts.state(self.pack)

    def load_progress(self, state: dict[str, Any]) -> None:
        """Also load texts, labelled states and rollouts."""
        super().load_progress(state)
        self.texts.load_state(state["texts"])
        self.shown = [self.unpack(packed) for packed in state["shown"]]
        self.losses, self.cloned = state["losses"], state["cloned"]
        self.rollouts.load_state(state, self.unpack)
