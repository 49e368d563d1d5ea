"""Self-supervised training of the updater; accuracy is measured by contrast on unseen games.

From the belief after a step and the next action, :class:`~.network.Reader` predicts the known names
in the next text (*generation*) and chooses it among several observations (*contrast*). Names of the
action itself are left out, and contrast needs names that an earlier observation had together. A
resumed run ends with the weights of an uninterrupted one.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.settings import Help
from gym_memory.core.tensors import flattened, load_moments, nested, read_tensors, write_tensors
from gym_memory.core.training_folder import check_config, write_config, write_curve
from gym_memory_belief.corpus import Episode, common_words
from gym_memory_belief.network import Reader, UpdaterNetwork, collate
from gym_memory_belief.questions import Question, make_question
from gym_memory_belief.updater import row_of
from gym_memory_belief.weights import Sizes, save_weights

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "pretraining a belief")

__all__ = ["PretrainSettings", "Pretrainer"]

_LENGTHS = 15
"""Episodes whose lengths differ by less than this may play together."""
_SAVE_EVERY = 25
"""Rounds between checkpoints."""
WEIGHTS, TRAINING = "belief.safetensors", "training.safetensors"


@dataclasses.dataclass(frozen=True)
class PretrainSettings(Sizes):
    """Settings of pretraining besides the sizes of the updater."""

    rounds: Annotated[int, Help("Rounds; each plays a batch of episodes through.", low=1)] = 300
    batch: Annotated[int, Help("Episodes together.", low=1)] = 8
    window: Annotated[int, Help("Steps that gradients go back.", low=1)] = 6
    lr: Annotated[float, Help("Learning rate, which falls to a tenth by a half cosine.")] = 0.004
    candidates: Annotated[
        int, Help("Observations to choose from, the true one included.", low=2)
    ] = 8
    contrast: Annotated[float, Help("Weight of contrast, against 1 of generation.")] = 0.5
    words: Annotated[int, Help("Words that may occur beside a name.", low=1)] = 64
    sparse: Annotated[float, Help("Weight of the mean strength of the edges.")] = 0.3
    unheard: Annotated[float, Help("Chance that a word of few games is not heard in a round.")] = (
        0.5
    )
    remember: Annotated[
        bool,
        Help("Keep the belief between steps; false trains the control of the present step."),
    ] = True
    measure_every: Annotated[int, Help("Rounds between measurements.", low=1)] = 100
    nodes: Annotated[int, Help("Most names of an episode.", low=1)] = 64
    seed: Annotated[int, Help("Seed of all chance.", low=0)] = 0

    @property
    def sizes(self) -> Sizes:
        """Return only the sizes."""
        return Sizes(*(getattr(self, field.name) for field in dataclasses.fields(Sizes)))


class Pretrainer:
    """Trains an updater.

    Args:
        episodes: Training episodes.
        held_out: Episodes of other games, to measure on.
        settings: Sizes and training.
        folder: Folder of the run; one with the same configuration in it is resumed.
        config: Plain values that also identify the run.
        listener: Called after every round with its number, and a new line of the curve if there
            is one.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        held_out: Sequence[Episode],
        settings: PretrainSettings,
        folder: Path,
        config: dict[str, Any],
        listener: Callable[[int, dict[str, Any] | None], None] = lambda number, row: None,
    ):
        if len(episodes) < settings.batch:
            raise InvalidArgumentError(
                f"expected at least batch={settings.batch} training episodes, got {len(episodes)}"
            )
        self.settings, self.folder, self.listener = settings, folder, listener
        self._episodes, self._held_out = list(episodes), list(held_out)
        self._identity = {**config, "settings": dataclasses.asdict(settings)}
        self.words = common_words(self._episodes, settings.words)
        self._word_of = {word: i for i, word in enumerate(self.words)}
        self._rows = _Rows(settings.sizes.rows)
        self._rare = _rare_rows(self._episodes, self._rows)
        # The tables are small: a second thread costs more than it gains.
        torch.set_num_threads(1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self.updater = UpdaterNetwork(settings.sizes)
            self.reader = Reader(settings.sizes, len(self.words))
        parameters = [*self.updater.parameters(), *self.reader.parameters()]
        self._optimizer = torch.optim.Adam(parameters, lr=settings.lr)
        self._rng = np.random.default_rng(settings.seed)
        self._queue: list[int] = []
        self.round = 0
        self.curve: list[dict[str, Any]] = []
        self._losses: list[list[float]] = []
        self._stopped = False
        self._cpu_before, self._cpu_start = 0.0, time.process_time()

    def stop(self) -> None:
        """End after the present round, with a checkpoint."""
        self._stopped = True

    @property
    def cpu_seconds(self) -> float:
        """Return the CPU seconds so far, over all resumes."""
        return self._cpu_before + time.process_time() - self._cpu_start

    def run(self) -> list[dict[str, Any]]:
        """Train to the end; return the curve."""
        self._begin()
        s = self.settings
        while self.round < s.rounds and not self._stopped:
            self._train_round()
            self.round += 1
            row = None
            if self.round % s.measure_every == 0 or self.round == s.rounds:
                row = self._measured()
            if row is not None or self.round % _SAVE_EVERY == 0:
                self._save()
            self.listener(self.round, row)
        self._save()
        return self.curve

    # ------------------------------------------------------------ learning

    def _train_round(self) -> None:
        s = self.settings
        if len(self._queue) < s.batch:
            order = self._rng.permutation(len(self._episodes))
            # Episodes of similar length together: less padding.
            length = [len(self._episodes[i].known) // _LENGTHS for i in order]
            order = order[np.argsort(length, kind="stable")]
            groups = [order[i : i + s.batch] for i in range(0, len(order) - s.batch + 1, s.batch)]
            self._queue = [int(i) for g in self._rng.permutation(len(groups)) for i in groups[g]]
        chosen, self._queue = self._queue[: s.batch], self._queue[s.batch :]
        episodes = [self._episodes[i] for i in chosen]
        heard = np.ones(s.sizes.rows, dtype=np.float32)
        heard[self._rare] = self._rng.random(len(self._rare)) >= s.unheard
        progress = self.round / s.rounds
        for group in self._optimizer.param_groups:
            group["lr"] = s.lr * (0.1 + 0.45 * (1 + np.cos(np.pi * progress)))
        nodes = max(len(episode.names) for episode in episodes)
        edges = torch.zeros(len(episodes), nodes, nodes, s.sizes.relations)
        last = max(len(episode.known) for episode in episodes) - 1
        for start in range(0, last, s.window):
            table = self.updater.table(torch.from_numpy(heard))
            names = self.name_vectors(table, episodes, nodes)
            losses = []
            for t in range(start, min(start + s.window, last)):
                edges = self.step(edges, table, names, episodes, t)
                losses.append(self._loss(edges, table, names, episodes, t))
            total = torch.stack([loss for loss, _ in losses]).mean()
            self._optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(
                [p for g in self._optimizer.param_groups for p in g["params"]], 1.0
            )
            self._optimizer.step()
            edges = edges.detach()
            self._losses.append(np.mean([parts for _, parts in losses], axis=0).tolist())

    def step(
        self,
        edges: torch.Tensor,
        table: torch.Tensor,
        names: torch.Tensor,
        episodes: Sequence[Episode],
        t: int,
    ) -> torch.Tensor:
        """Return the belief after step ``t``; an episode that is over by then repeats its last."""
        pad = self.settings.sizes.rows
        sights = [e.sights[min(t, len(e.sights) - 1)] for e in episodes]
        batch = collate(sights, edges.shape[1], self._rows, pad)
        if not self.settings.remember:
            edges = torch.zeros_like(edges)
        after = self.updater(edges, names, table, batch)
        # Names that have not appeared yet have no edges.
        known = torch.zeros(edges.shape[:2])
        for row, episode in zip(known, episodes, strict=True):
            row[: episode.known[min(t, len(episode.known) - 1)]] = 1
        return after * known[:, :, None, None] * known[:, None, :, None]

    def _loss(
        self,
        edges: torch.Tensor,
        table: torch.Tensor,
        names: torch.Tensor,
        episodes: Sequence[Episode],
        t: int,
    ) -> tuple[torch.Tensor, list[float]]:
        s = self.settings
        question = self._question(episodes, t, edges.shape[1], self._rng)
        naming, beside = self._read(edges, table, names, question)
        generation = torch.nn.functional.binary_cross_entropy_with_logits(
            naming, question.named, weight=question.counted, reduction="sum"
        ) / question.counted.sum().clamp(min=1)
        contrast = naming.new_zeros(())
        if len(question.contrasted):
            scores = self._scores(naming, question)
            contrast = -torch.log_softmax(scores, 1)[:, 0].mean()
        words = naming.new_zeros(())
        if len(question.beside):
            episode, node, word = question.beside.T
            chosen, inverse = np.unique(episode * edges.shape[1] + node, return_inverse=True)
            target = torch.zeros(len(chosen), len(self.words))
            target[inverse, word] = 1
            logits = beside.reshape(-1, len(self.words))[torch.from_numpy(chosen)]
            words = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        together = torch.nn.functional.binary_cross_entropy_with_logits(
            self.reader.pairs(edges), question.paired, weight=question.pairs, reduction="sum"
        ) / question.pairs.sum().clamp(min=1)
        total = generation + s.contrast * contrast + words + together + s.sparse * edges.mean()
        parts = (generation, contrast, words, together, edges.mean())
        return total, [part.item() for part in parts]

    def _question(
        self, episodes: Sequence[Episode], t: int, nodes: int, rng: np.random.Generator
    ) -> Question:
        s = self.settings
        return make_question(
            episodes,
            t,
            nodes,
            candidates=s.candidates,
            rows=self._rows,
            pad=s.sizes.rows,
            words=self._word_of,
            rng=rng,
        )

    def _read(
        self, edges: torch.Tensor, table: torch.Tensor, names: torch.Tensor, question: Question
    ) -> tuple[torch.Tensor, torch.Tensor]:
        heard = (question.actions != self.settings.sizes.rows).sum(1).clamp(min=1)
        action = table[question.actions].sum(1) / heard[:, None]
        naming, beside = self.reader(edges, names, action, question.acted)
        return naming, beside

    def _scores(self, naming: torch.Tensor, question: Question) -> torch.Tensor:
        """Return the score of every candidate, (contrasted, candidates)."""
        logits = naming[torch.from_numpy(question.contrasted)]
        return (question.candidates @ logits[:, :, None])[..., 0]

    def name_vectors(
        self, table: torch.Tensor, episodes: Sequence[Episode], nodes: int
    ) -> torch.Tensor:
        """Return the mean vector of the words of every node's name, (episodes, nodes, dim)."""
        pad = self.settings.sizes.rows
        longest = max(len(name.split()) for episode in episodes for name in episode.names)
        rows = np.full((len(episodes), nodes, longest), pad)
        lengths = np.ones((len(episodes), nodes, 1), dtype=np.float32)
        for i, episode in enumerate(episodes):
            for j, name in enumerate(episode.names):
                words = name.split()
                rows[i, j, : len(words)] = [self._rows[word] for word in words]
                lengths[i, j] = len(words)
        return table[torch.from_numpy(rows)].sum(2) / torch.from_numpy(lengths)

    # ------------------------------------------------------------ measuring

    def _measured(self) -> dict[str, Any]:
        losses = np.mean(self._losses, axis=0).round(4).tolist()
        self._losses = []
        names = ("generation", "contrast", "words", "together", "strength")
        row = {
            "round": self.round,
            **dict(zip(names, losses, strict=True)),
            **self.measure(self._held_out),
            "cpu_seconds": round(self.cpu_seconds, 1),
        }
        self.curve.append(row)
        write_curve(self.folder, self.curve)
        return row

    @torch.no_grad()
    def measure(self, episodes: Sequence[Episode]) -> dict[str, Any]:
        """Return the share of contrast questions answered right, and chance.

        ``older`` has the questions with an answer in an older observation and not in the present
        one.
        """
        s = self.settings
        rng = np.random.default_rng(0)
        right: list[bool] = []
        older: list[bool] = []
        ordered = sorted(episodes, key=lambda episode: len(episode.known))
        table = self.updater.table(torch.ones(s.sizes.rows))
        for start in range(0, len(ordered), s.batch):
            group = ordered[start : start + s.batch]
            nodes = max(len(episode.names) for episode in group)
            names = self.name_vectors(table, group, nodes)
            edges = torch.zeros(len(group), nodes, nodes, s.sizes.relations)
            for t in range(max(len(episode.known) for episode in group) - 1):
                edges = self.step(edges, table, names, group, t)
                question = self._question(group, t, nodes, rng)
                if len(question.contrasted):
                    naming, _ = self._read(edges, table, names, question)
                    scores = self._scores(naming, question)
                    right += (scores[:, :1] > scores[:, 1:]).all(1).tolist()
                    older += (~question.recent).tolist()
        hits, old = np.array(right), np.array(older)
        return {
            "questions": len(hits),
            "accuracy": round(float(hits.mean()), 4),
            "older_questions": int(old.sum()),
            "older_accuracy": round(float(hits[old].mean()), 4),
            "chance": 1 / s.candidates,
        }

    # ------------------------------------------------------------ checkpoints

    def _begin(self) -> None:
        if not check_config(self.folder, self._identity, "pretraining"):
            write_config(self.folder, self._identity, "pretraining")
        if (self.folder / TRAINING).exists():
            self._resume()

    def _save(self) -> None:
        about = {"config": self._identity, "measured": self.curve[-1] if self.curve else None}
        arrays = {n: p.detach().numpy() for n, p in self.updater.named_parameters()}
        save_weights(self.folder / WEIGHTS, self.settings.sizes, arrays, about)
        state = {
            "updater": self.updater.state_dict(),
            "reader": self.reader.state_dict(),
            "adam": self._optimizer.state_dict()["state"],
        }
        record = {
            "round": self.round,
            "curve": self.curve,
            "losses": self._losses,
            "queue": self._queue,
            "rng": self._rng.bit_generator.state,
            "cpu_seconds": self.cpu_seconds,
        }
        write_tensors(self.folder / TRAINING, flattened(state), record)

    def _resume(self) -> None:
        found, record = read_tensors(self.folder / TRAINING)
        state = nested(found)
        self.updater.load_state_dict(state["updater"])
        self.reader.load_state_dict(state["reader"])
        load_moments(self._optimizer, state["adam"])
        self.round, self.curve = record["round"], record["curve"]
        self._losses, self._queue = record["losses"], record["queue"]
        self._rng.bit_generator.state = record["rng"]
        self._cpu_before = record["cpu_seconds"]


class _Rows(dict[str, int]):
    """Rows of words, each computed once."""

    def __init__(self, count: int):
        super().__init__()
        self.count = count

    def __missing__(self, word: str) -> int:
        row = self[word] = row_of(word, self.count)
        return row


def _rare_rows(episodes: Sequence[Episode], rows: _Rows) -> NDArray[np.int64]:
    """Return the rows of the words that less than half of the games have."""
    games: dict[int, set[str]] = {}
    for episode in episodes:
        for sight in episode.sights:
            for text in sight.words:
                for word in text:
                    games.setdefault(rows[word], set()).add(episode.game)
    enough = len({episode.game for episode in episodes}) / 2
    return np.array([row for row in range(rows.count) if len(games.get(row, ())) < enough])
