"""A small transformer over text alone: no facts, no roles, no lexicon, no signposts.

It reads the words of the text, the task, the inventory and the rendered memory, and those of each
valid action. What a word is matters less than where else it stands: a food of a test game stood
in no training game, but it stands in the recipe, on the table and in the action. So attention is
a *copy attention*, from a word to the same word elsewhere, in the manner of induction heads
(Olsson et al. 2022); what else stands near a word, or in its sentence, is mixed in. All of it
costs time linear in the text, so an uncut history can be read too.

Each layer: (1) a depthwise convolution over the neighbours and a layer over each word; (2) for
every distinct word of the observation, cut to four letters as a stem that knows no language, the
mean of all its places, and for every sentence the mean of its words, both weighted by a softmax,
go back to their places. Of the texts' words those of an
action read the means and tell nothing. The logit of an action is that of its words' mean beside
the situation's.

Words have vectors made of themselves and of their three-letter pieces (fastText, Bojanowski et
al. 2017), trained from nothing; or, with ``words=minilm``, MiniLM's vectors of single words,
frozen, with a trained layer over them.

It learns by cloning a teacher that goes by a memory of its own, the same whatever the learner sees,
in states that the learner comes to (DAgger, Ross et al. 2011), and, from ``rl_after`` steps on, by
advantage actor-critic.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.learning.checkpoints import load_moments, moments
from gym_memory.baselines.learning.encoders import Texts
from gym_memory.baselines.learning.learner import Experience, Learner
from gym_memory.baselines.learning.player import LearnedPolicy
from gym_memory.baselines.learning.rollouts import NEVER, Rollouts, Table, actor_critic_loss
from gym_memory.baselines.settings import check_name, check_positive
from gym_memory.checks import check_int, check_share
from gym_memory.errors import InvalidArgumentError
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder
from gym_memory.optional import require
from gym_memory.types import Observation

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Text", "TextLearner", "TextSeen", "TextSettings"]

Ints = NDArray[np.int32]

_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[>:;,.\n]")
_PARTS = ("task", "text", "inventory", "memory")
_ACTION = len(_PARTS)
_GAP = 3
"""Blanks between two texts, so that a convolution sees no word of another."""
_AGES = 16
_STEM = 4
_LEAST = 0.05
"""Priority of a state whose label is certain."""


@dataclasses.dataclass(frozen=True)
class TextSettings:
    """Settings.

    Attributes:
        words: ``own``: vectors of words learnt from nothing; ``minilm``: MiniLM's, frozen.
        vocabulary: Rows for words and their pieces, by a stable hash.
        dim: Size of a vector.
        heads: Heads of the copy attention; they divide ``dim``.
        layers: Layers.
        forget: Share of the words of an observation whose vectors are taken away while cloning,
            all places of a word together (Gal and Ghahramani 2016), so that what is learnt does
            not hang on names.
        longest: Words of the memory that are read, the last ones.
        teacher: Who is cloned: ``planner``; empty for RL alone.
        teacher_memory: The memory that the teacher goes by.
        beta_steps: Steps over which the share of the teacher's own actions falls from 1 to 0.
        rl_after: Steps before RL begins; 0: never.
        batch: Labelled states an update.
        update_every: Steps an update by cloning.
        learn_start: Steps before the first one.
        shown: Labelled states kept; the first ones.
        n_steps: Steps of each game between two updates by RL.
        gamma: Discount a step.
        entropy: Weight of the policy's entropy.
        value_weight: Weight of the critic's squared error.
        lr: Learning rate of AdamW.
        decay: Its weight decay.
        clip: Largest norm of the gradient.

    Raises:
        InvalidArgumentError: A number is out of its range.
        UnknownNameError: A name is not one of those that there are.
    """

    words: str = "own"
    vocabulary: int = 4096
    dim: int = 64
    heads: int = 4
    layers: int = 3
    forget: float = 0.2
    longest: int = 4096
    teacher: str = "planner"
    teacher_memory: str = "arigraph"
    beta_steps: int = 1500
    rl_after: int = 0
    batch: int = 8
    update_every: int = 3
    learn_start: int = 64
    shown: int = 65536
    n_steps: int = 8
    gamma: float = 0.9
    entropy: float = 0.03
    value_weight: float = 0.5
    lr: float = 2e-3
    decay: float = 0.01
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_name("words", self.words, ("own", "minilm"))
        check_name("teacher", self.teacher, ("", "planner"))
        check_int("vocabulary", self.vocabulary, 2)
        for name in ("heads", "layers", "longest", "batch", "update_every", "shown", "n_steps"):
            check_int(name, getattr(self, name), 1)
        if check_int("dim", self.dim, 1) % self.heads:
            raise InvalidArgumentError(
                f"expected heads that divide dim={self.dim}, got {self.heads}"
            )
        for name in ("beta_steps", "rl_after", "learn_start"):
            check_int(name, getattr(self, name), 0)
        check_share("gamma", self.gamma)
        check_share("forget", self.forget)
        check_positive("lr", self.lr)
        check_positive("clip", self.clip)


class TextSeen(NamedTuple):
    """An observation as numbers of words.

    Attributes:
        words: Those of task, text, inventory and memory, end to end.
        parts: Which of the four each word is of.
        actions: Those of each valid action.
        label: Index of the teacher's action; -1 where it named none, or there is none.
    """

    words: Ints
    parts: Ints
    actions: tuple[Ints, ...]
    label: int


class Lines(NamedTuple):
    """Observations as one long line of places, texts apart by blanks (word -1).

    Attributes:
        words: Number of the word at each place, shape (places,).
        parts: Its part; that of an action is 4.
        ages: How far it is from the end of its observation, as a logarithm.
        owners: Its observation.
        sentences: Its sentence or line, of all observations together.
        rows: Its action, of all observations end to end; -1 in the observations' own texts.
        counts: Actions of each observation, shape (observations,).
    """

    words: NDArray[np.int64]
    parts: NDArray[np.int64]
    ages: NDArray[np.int64]
    owners: NDArray[np.int64]
    sentences: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


def lines_of(seen: Sequence[TextSeen], ends: frozenset[int]) -> Lines:
    """Lay observations out as one line.

    Args:
        seen: The observations.
        ends: The words that end a sentence; blanks do.
    """
    texts = [text for one in seen for text in (one.words, *one.actions)]
    counts = np.array([len(one.actions) for one in seen], np.int64)
    own = np.zeros(len(texts), bool)  # the others are actions
    own[np.cumsum(counts + 1) - counts - 1] = True
    sizes = np.array([len(text) for text in texts], np.int64)
    which = np.repeat(np.arange(len(texts)), sizes + _GAP)
    ends_at = np.cumsum(sizes + _GAP) - _GAP
    left = ends_at[which] - np.arange(len(which))  # words to the end, this one included
    real = left > 0
    told = real & own[which]

    words, parts, ages = np.full(len(which), -1), np.zeros_like(which), np.zeros_like(which)
    words[real] = np.concatenate(texts)
    parts[real] = _ACTION
    parts[told] = np.concatenate([one.parts for one in seen])
    ages[told] = np.minimum(np.log2(left[told]).astype(int), _AGES - 1)
    owners = np.repeat(np.arange(len(seen)), counts + 1)[which]
    rows = np.where(real & ~own[which], (np.cumsum(~own) - 1)[which], -1)
    sentences = np.cumsum(np.isin(words, [-1, *ends]), dtype=np.int64)
    return Lines(words, parts, ages, owners, sentences, rows, counts)


@lru_cache(maxsize=65_536)
def pieces(word: str, rows: int) -> tuple[int, ...]:
    """Rows of a word and of its three-letter pieces, each in [0, rows).

    >>> len(pieces("diced", 4096)), len(pieces(".", 4096))
    (6, 1)
    """
    marked = f"<{word}>"
    parts = [marked, *(marked[i : i + 3] for i in range(len(marked) - 2) if len(word) > 2)]
    return tuple(zlib.crc32(part.encode()) % rows for part in parts)


class OwnWords(torch.nn.Module):
    """Vectors of words from their pieces."""

    def __init__(self, settings: TextSettings):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(settings.vocabulary, settings.dim, mode="mean")
        torch.nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Float32 of shape (words, dim)."""
        rows = [pieces(word, self.bag.num_embeddings) for word in words]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        flat = torch.tensor([row for one in rows for row in one])
        device = self.bag.weight.device
        found: torch.Tensor = self.bag(flat.to(device), torch.from_numpy(starts).to(device))
        return found


class MiniLMWords(torch.nn.Module):
    """MiniLM's vectors of single words, never trained, with a trained layer over them."""

    def __init__(self, settings: TextSettings):
        super().__init__()
        self._encoder = make_encoder(DEFAULT_MODEL)
        self._kept: dict[str, torch.Tensor] = {}
        self.layer = torch.nn.Linear(self._encoder.dim, settings.dim)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Float32 of shape (words, dim)."""
        new = [word for word in words if word not in self._kept]
        if new:
            vectors = torch.from_numpy(np.asarray(self._encoder.encode(new), np.float32))
            # Unit vectors of 384 numbers: as large as those that are learnt.
            self._kept.update(zip(new, vectors * self._encoder.dim**0.5, strict=True))
        stacked = torch.stack([self._kept[word] for word in words])
        read: torch.Tensor = self.layer(stacked.to(self.layer.weight.device))
        return read


class Groups(NamedTuple):
    """Places that belong together.

    Attributes:
        groups: Group of each place, shape (places,).
        told: The places whose values go into the means.
        total: Groups in all.
    """

    groups: torch.Tensor
    told: torch.Tensor
    total: int


class Layer(torch.nn.Module):
    """One layer: neighbours, then the same word elsewhere and the rest of the sentence."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(dim)
        self.near = torch.nn.Conv1d(dim, dim, 2 * _GAP + 1, padding=_GAP, groups=dim)
        self.mix = torch.nn.Sequential(
            torch.nn.Linear(dim, 2 * dim), torch.nn.GELU(), torch.nn.Linear(2 * dim, dim)
        )
        self.norm_copy = torch.nn.LayerNorm(dim)
        self.score = torch.nn.Linear(dim, 2 * heads)
        self.value = torch.nn.Linear(dim, 2 * dim)
        self.out = torch.nn.Linear(2 * dim, dim)

    def forward(self, h: torch.Tensor, words: Groups, sentences: Groups) -> torch.Tensor:
        """Read; of shape (places, dim) like ``h``."""
        near = self.near(self.norm(h).T[None])[0].T
        h = h + self.mix(near)
        normed = self.norm_copy(h)
        scores, values = self.score(normed).chunk(2, 1), self.value(normed).chunk(2, 1)
        read = [
            spread(score[of.told], value[of.told], of.groups[of.told], of.total)[of.groups]
            for score, value, of in zip(scores, values, (words, sentences), strict=True)
        ]
        changed: torch.Tensor = h + self.out(torch.cat(read, 1))
        return changed


def spread(
    scores: torch.Tensor, values: torch.Tensor, groups: torch.Tensor, count: int
) -> torch.Tensor:
    """Means of values within groups, weighted by a softmax of the scores of each head.

    Args:
        scores: Of shape (n, heads).
        values: Of shape (n, dim), heads side by side.
        groups: Group of each, shape (n,).
        count: Groups in all; one without members has mean 0.

    Returns:
        Of shape (groups, dim).
    """
    # Scores are bounded instead of shifted by a maximum: the same softmax, without a second pass.
    weights = torch.exp(8 * torch.tanh(scores / 8))
    heads = weights.shape[1]
    weighted = (values.unflatten(1, (heads, -1)) * weights[:, :, None]).flatten(1)
    total = weights.new_zeros(count, heads).index_add(0, groups, weights)
    summed = values.new_zeros(count, values.shape[1]).index_add(0, groups, weighted)
    return (summed.unflatten(1, (heads, -1)) / total.clamp(min=1e-9)[:, :, None]).flatten(1)


class Reader(torch.nn.Module):
    """The network.

    Args:
        settings: Sizes.
        texts: The words by number.
    """

    def __init__(self, settings: TextSettings, texts: Texts):
        super().__init__()
        dim, heads = settings.dim, settings.heads
        self._texts, self._forget = texts, settings.forget
        self.words = (MiniLMWords if settings.words == "minilm" else OwnWords)(settings)
        self.parts = torch.nn.Embedding(len(_PARTS) + 1, dim)
        self.ages = torch.nn.Embedding(_AGES, dim)
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

    def forward(self, lines: Lines, chance: np.random.Generator | None = None) -> Table:
        """Logits and values of observations with at least one action each.

        Args:
            lines: The observations.
            chance: Whose words to forget by; None for none.
        """
        device = self.of_state.weight.device

        def there(values: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        used, which = np.unique(lines.words, return_inverse=True)  # the first is the blank
        vectors = self.words([self._texts[int(number)] for number in used[1:]])
        vectors = torch.cat([torch.zeros_like(vectors[:1]), vectors])
        blank = lines.words < 0
        stems = np.unique([-1, *(self._stem(int(n)) for n in used[1:])], return_inverse=True)[1]
        _, groups = np.unique(lines.owners * len(used) + stems[which], return_inverse=True)
        total = int(groups.max()) + 1
        known = np.ones(total) if chance is None else chance.random(total) >= self._forget
        h = vectors[there(which)] * there(known.astype(np.float32)[groups])[:, None]
        h = h + self.parts(there(lines.parts)) + self.ages(there(lines.ages))
        real = there(~blank)[:, None]
        told = there(np.flatnonzero((lines.rows < 0) & ~blank))
        words = Groups(there(groups), told, total)
        every, ended = there(np.flatnonzero(~blank)), int(lines.sentences[-1]) + 1
        sentences = Groups(there(lines.sentences), every, ended)
        for layer in self.layers:
            h = layer(h * real, words, sentences)
        h = self.norm(h)
        scores = self.salience(h)
        heads = scores.shape[1] // 2
        situation = spread(
            scores[told, :heads], h[told], there(lines.owners)[told], len(lines.counts)
        )
        acting = there(np.flatnonzero(lines.rows >= 0))
        action = spread(
            scores[acting, heads:], h[acting], there(lines.rows)[acting], int(lines.counts.sum())
        )
        return self._judge(situation, action, lines.counts)

    def _stem(self, number: int) -> int:
        return zlib.crc32(self._texts[number][:_STEM].encode())

    def _judge(
        self, situation: torch.Tensor, action: torch.Tensor, counts: NDArray[np.int64]
    ) -> Table:
        owners = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(action.device)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        columns = torch.from_numpy(np.arange(len(begins)) - begins).to(action.device)
        s = self.of_state(situation)
        mixed = s[owners] + self.of_action(action)
        logits = s.new_full((len(counts), int(counts.max())), NEVER)
        logits[owners, columns] = self.actor(mixed).squeeze(1)
        best = s.scatter_reduce(0, owners[:, None].expand_as(mixed), mixed, "amax")
        return Table(logits, self.critic(best).squeeze(1))


class TextLearner(Learner):
    """Learns; see the module."""

    name = "text"
    settings_class = TextSettings
    settings: TextSettings

    def __init__(self, settings: TextSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it brings.
        torch.set_num_threads(1)
        self._rng = np.random.default_rng([seed, 0])
        self._texts = Texts()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._network = Reader(settings, self._texts).to(self.device)
        self._optimizer = torch.optim.AdamW(
            self._network.parameters(), lr=settings.lr, weight_decay=settings.decay, fused=True
        )
        self._shown: list[TextSeen] = []
        self._losses: list[float] = []
        self._rollouts = Rollouts()
        self._steps = self._updates = self._cloned = 0

    # ------------------------------------------------------------ seeing

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> TextSeen:
        """Words to numbers; the teacher's advice stands in the observation, where there is one."""
        words, parts = [], []
        for part, name in enumerate(_PARTS):
            found = self._numbers(obs[name])  # type: ignore[literal-required]
            words.append(found[-self.settings.longest :])
            parts.append(np.full(len(words[-1]), part, np.int32))
        actions = tuple(self._numbers(action) for action in obs["valid_actions"])
        advice = obs.get("advice", "")
        valid = tuple(obs["valid_actions"])
        label = valid.index(advice) if advice in valid else -1
        return TextSeen(np.concatenate(words), np.concatenate(parts), actions, label)

    def _numbers(self, text: str) -> Ints:
        return np.array(
            [self._texts.number(word) for word in _TOKEN.findall(text.lower())], np.int32
        )

    def pack(self, seen: TextSeen) -> list[Any]:
        """As JSON-able values."""
        actions = [action.tolist() for action in seen.actions]
        return [seen.words.tolist(), seen.parts.tolist(), actions, seen.label]

    def unpack(self, packed: list[Any]) -> TextSeen:
        """The inverse of :meth:`pack`."""
        words, parts, actions, label = packed
        rows = tuple(np.array(action, np.int32) for action in actions)
        return TextSeen(np.array(words, np.int32), np.array(parts, np.int32), rows, label)

    def _read(self, seen: list[TextSeen], chance: np.random.Generator | None = None) -> Table:
        ends = frozenset(self._texts.number(mark) for mark in ".\n")
        table: Table = self._network(lines_of(seen, ends), chance)
        return table

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self._steps / steps) if steps and not self.reinforces else 0.0

    @property
    def reinforces(self) -> bool:
        """Whether RL has begun."""
        s = self.settings
        return not s.teacher or (bool(s.rl_after) and self._steps >= s.rl_after)

    def act(self, seen: list[TextSeen], *, explore: bool) -> list[int]:
        """Drawn from the policy but for the teacher's share, or its likeliest action."""
        with torch.no_grad():
            logits = self._read(seen).logits.cpu().numpy().astype(np.float64)
        if explore:
            logits += self._rng.gumbel(size=logits.shape)
        chosen: list[int] = np.argmax(np.round(logits, 4), axis=1).tolist()
        beta = self.beta if explore else 0.0
        for i, one in enumerate(seen):
            if beta and one.label >= 0 and self._rng.random() < beta:
                chosen[i] = one.label
        return chosen

    def seeded(self, seed: int) -> None:
        """Begin all chance anew, for playing."""
        self._rng = np.random.default_rng([seed, 0])

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a state that is labelled, and the step where RL goes on from it."""
        self._steps += 1
        if experience.seen.label >= 0 and len(self._shown) < self.settings.shown:
            self._shown.append(experience.seen)
            self._losses.append(1.0)
        if self.reinforces:
            self._rollouts.add(slot, experience)

    def learn(self) -> dict[str, float]:
        """All updates that are due."""
        s, logged = self.settings, {}
        while (
            not self.reinforces
            and len(self._shown) >= s.batch
            and self._cloned < (self._steps - s.learn_start) // s.update_every
        ):
            logged = self._clone()
        if self._rollouts.ready(s.n_steps):
            logged |= self._reinforce()
        return {"updates": float(self._updates), **logged} if logged else {}

    def _clone(self) -> dict[str, float]:
        """One update by cross-entropy, on states drawn by how wrong they were when last drawn."""
        wrong = np.array(self._losses) + _LEAST
        drawn = self._rng.choice(len(wrong), self.settings.batch, p=wrong / wrong.sum()).tolist()
        seen = [self._shown[number] for number in drawn]
        logits = self._read(seen, self._rng).logits
        target = torch.tensor([one.label for one in seen], device=logits.device)
        losses = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        self._descend(losses.mean())
        for number, loss in zip(drawn, losses.tolist(), strict=True):
            self._losses[number] = loss
        self._cloned += 1
        agreed = (logits.argmax(1) == target).float().mean()
        clone_loss = float(losses.detach().mean())
        return {"clone_loss": clone_loss, "agreed": float(agreed), "beta": self.beta}

    def _reinforce(self) -> dict[str, float]:
        """One update by advantage actor-critic on the steps since the last one."""
        steps = self._rollouts.steps()
        table = self._read([step.seen for step in steps])
        values = table.values.detach().cpu().numpy()
        returns, counted = self._rollouts.returns(values, self.settings.gamma, self._critic)
        actions = [step.action for step in steps]
        loss, logged = actor_critic_loss(table, actions, returns, counted, self.settings)
        self._descend(loss)
        self._rollouts.clear()
        return logged

    def _critic(self, seen: list[TextSeen]) -> list[float]:
        with torch.no_grad():
            values: list[float] = self._read(seen).values.cpu().tolist()
        return values

    def _descend(self, loss: torch.Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self.settings.clip)
        self._optimizer.step()
        self._updates += 1

    # ------------------------------------------------------------ keeping

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The network: words have no numbers of their own in it."""
        return dict(self._network.state_dict()), {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it."""
        self._network.load_state_dict(tensors)

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Optimizer, words, what was shown and played, chance and counters."""
        record = {
            "texts": self._texts.state(),
            "shown": [self.pack(seen) for seen in self._shown],
            "losses": self._losses,
            "rng": self._rng.bit_generator.state,
            "counts": [self._steps, self._updates, self._cloned],
        }
        return moments(self._optimizer), record | self._rollouts.state(self.pack)

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        load_moments(self._optimizer, tensors)
        self._texts.load_state(record["texts"])
        self._shown = [self.unpack(packed) for packed in record["shown"]]
        self._losses = record["losses"]
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates, self._cloned = record["counts"]
        self._rollouts.load_state(record, self.unpack)


class Text(LearnedPolicy):
    """Plays what was learnt.

    Args:
        checkpoint: As every learned policy.
        mode: ``greedy``, the likeliest action, or ``sample``, by the chances: one that remembers
            nothing walks in circles when it is greedy.
        device: ``cpu`` or ``cuda``.

    Raises:
        InvalidArgumentError: As every learned policy.
        UnknownNameError: ``mode`` is neither.
        CheckpointError: As every learned policy.
    """

    name = "text"
    learner_class = TextLearner
    learner: TextLearner

    def __init__(self, checkpoint: str = "", *, mode: str = "greedy", device: str = "cpu"):
        check_name("mode", mode, ("greedy", "sample"))
        self.explores = mode == "sample"
        super().__init__(checkpoint, device=device)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode; seeds the sampling."""
        super().reset(info, seed)
        self.learner.seeded(seed or 0)
