"""Behaviour cloning and DAgger of a local causal language model: prompt with memory -> action.

The prompt is the one of constant size that is played with (:func:`.state_prompt`); what is learnt
is the likelihood of the teacher's action and of its end after it. Played is the valid action that
is most likely as a whole answer. What to clone comes from recorded runs (``records``), from a
teacher beside the learner (:class:`.Advised`), or both; with ``beta_steps`` the learner takes over
and is told in the states that it comes to (DAgger, Ross et al. 2011).

``method`` says what changes. ``alora``: adapters that act from the end of the prompt on (Activated
LoRA, Greenewald et al. 2025), so that a prompt goes through the frozen model once and its keys and
values are kept, which is what a CPU can do; ``lora``: adapters that act everywhere (Hu et al.
2021); ``full``: all weights. A checkpoint holds the changed weights, and the name of the model.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rl.shared.checkpoints import load_moments, moments
from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.baselines.rl.shared.learner import LearnedPolicy
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int, check_name, check_number
from gym_memory.core.tokens import count_tokens, truncate_tokens
from gym_memory.llm import make_model
from gym_memory.llm.local import TransformersChat, likelihoods
from gym_memory.llm.writing import Prefix
from gym_memory.train.frozen import Frozen
from gym_memory.train.prompts import MAX_ACTIONS, state_prompt
from gym_memory.train.steps import played, step_rows

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "training language models")

__all__ = ["Lm", "LmLearner", "LmSeen", "LmSettings"]


@dataclasses.dataclass(frozen=True)
class LmSettings:
    """Settings.

    Attributes:
        model: A local model: ``smollm``, or ``transformers?model=FOLDER``.
        method: What changes: ``alora`` or ``lora`` adapters (both need peft), or all: ``full``.
        rank: Rank of the adapters.
        tokens: Tokens of a prompt at most; the memory is cut to fit.
        max_actions: Valid actions that a prompt lists, at most.
        records: A results folder with recorded steps, which are cloned from the start.
        teacher_memory: The memory of the teacher beside the learner; empty for none.
        beta_steps: Steps over which the share of the teacher's own actions falls from 1 to 0; 0:
            it plays on its own.
        batch: Labelled states an update.
        update_every: Steps an update.
        learn_start: Steps before the first update.
        shown: Labelled states kept; the first ones.
        kept: Prompts of which ``alora`` keeps the keys and values, 10 MB each with SmolLM2; what
            the others are is computed anew.
        lr: Learning rate of AdamW.
        clip: Largest norm of the gradient.

    Raises:
        InvalidArgumentError: A number is out of its range.
        UnknownNameError: The method is none of these.
    """

    model: str = "smollm"
    method: str = "alora"
    rank: int = 8
    tokens: int = 400
    max_actions: int = MAX_ACTIONS
    records: str = ""
    teacher_memory: str = "arigraph"
    beta_steps: int = 0
    batch: int = 8
    update_every: int = 4
    learn_start: int = 16
    shown: int = 4096
    kept: int = 256
    lr: float = 1e-3
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_name("method", self.method, ("alora", "lora", "full"))
        for name in ("rank", "max_actions", "batch", "update_every", "shown"):
            check_int(name, getattr(self, name), 1)
        for name in ("beta_steps", "learn_start", "kept"):
            check_int(name, getattr(self, name), 0)
        check_int("tokens", self.tokens, 2)
        check_number("lr", self.lr, above=0)
        check_number("clip", self.clip, above=0)


class LmSeen(NamedTuple):
    """An observation as tokens.

    Attributes:
        prompt: The prompt.
        actions: The valid actions as whole answers, their end included.
        label: Index of the teacher's action; -1 where it named none, or there is none.
    """

    prompt: list[int]
    actions: list[list[int]]
    label: int


class LmLearner(Learner):
    """Learns; see the module."""

    name = "lm"
    settings_class = LmSettings
    settings: LmSettings

    def __init__(self, settings: LmSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self._rng = np.random.default_rng([seed, 0])
        chat = make_model(settings.model)
        if not isinstance(chat, TransformersChat):
            raise InvalidArgumentError(
                f"expected a local model such as 'smollm', got {settings.model!r}"
            )
        self._chat = chat
        self._tokenizer, network = chat.own_weights(device)
        if settings.method != "full":
            peft = require("peft", "lora", f"method={settings.method}")
            with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft's, of names in transformers
                torch.manual_seed(seed)
                config = peft.LoraConfig(
                    r=settings.rank, lora_alpha=2 * settings.rank, target_modules="all-linear"
                )
                network = peft.get_peft_model(network, config)
        self._frozen: Frozen | None = None
        if settings.method == "alora":
            self._frozen = Frozen(network, settings.kept, prefix=chat.prefix)
        self._network = network
        self._optimizer = torch.optim.AdamW(
            [p for p in network.parameters() if p.requires_grad], lr=settings.lr
        )
        self._shown: list[tuple[list[int], list[int]]] = []
        self._steps = self._updates = 0
        self._read = False

    # ------------------------------------------------------------ seeing

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> LmSeen:
        """Texts to tokens; the teacher's advice stands in the observation, where there is one."""
        valid = list(obs["valid_actions"])
        advice = obs.get("advice", "")
        label = valid.index(advice) if advice in valid else -1
        return LmSeen(self._prompt(obs), [self._answer(one) for one in valid], label)

    def _prompt(self, obs: Observation) -> list[int]:
        """The prompt, with as much of the memory as fits; where none does, the prompt's end."""

        def told(tokens: int) -> list[int]:
            shown: Observation = {**obs, "memory": truncate_tokens(obs["memory"], tokens)}
            messages = state_prompt(shown, self.settings.max_actions)
            return self._chat.prompt_ids(self._tokenizer, messages)

        most, fits, over = self.settings.tokens, 0, count_tokens(obs["memory"]) + 1
        ids = told(over)
        if len(ids) > most:
            # The model's tokens are others than the budget's.
            while over - fits > 1:
                middle = (fits + over) // 2
                fits, over = (middle, over) if len(told(middle)) <= most else (fits, middle)
            ids = told(fits)
        return ids[-most:]

    def _answer(self, action: str) -> list[int]:
        ids: list[int] = self._tokenizer(action, add_special_tokens=False)["input_ids"]
        return [*ids, self._tokenizer.eos_token_id]

    def pack(self, seen: LmSeen) -> list[Any]:
        """As JSON-able values."""
        return list(seen)

    def unpack(self, packed: list[Any]) -> LmSeen:
        """The inverse of :meth:`pack`."""
        return LmSeen(*packed)

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self._steps / steps) if steps else 1.0

    def act(self, seen: list[LmSeen], *, explore: bool) -> list[int]:
        """The most likely action, but for the teacher's share, where the model is not asked."""
        chosen = []
        for one in seen:
            taught = explore and one.label >= 0 and self._rng.random() < self.beta
            chosen.append(one.label if taught else self._likeliest(one))
        return chosen

    def _likeliest(self, seen: LmSeen) -> int:
        with torch.inference_mode():
            if self._frozen is None:
                start = Prefix(self._network).start(seen.prompt, keep=False)
                scores = likelihoods(self._network, start, seen.actions)
            else:
                answers = [[seen.prompt[-1], *answer] for answer in seen.actions]
                scores = likelihoods(self._network, self._frozen.start(seen.prompt), answers)
        return int(np.argmax(np.round(scores, 4)))

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a state that is labelled; what is recorded comes first."""
        if not self._read:
            self._read = True
            self._recorded()
        self._steps += 1
        seen: LmSeen = experience.seen
        if seen.label >= 0 and len(self._shown) < self.settings.shown:
            if self._frozen is not None:
                self._frozen.keep(len(self._shown), seen.prompt)
            self._shown.append((seen.prompt, seen.actions[seen.label]))

    def _recorded(self) -> None:
        if not self.settings.records:
            return
        for row in step_rows(played(Path(self.settings.records)), self.settings.max_actions):
            ids = self._chat.prompt_ids(self._tokenizer, row["prompt"])
            self._shown.append((ids[-self.settings.tokens :], self._answer(row["reply"])))
        del self._shown[self.settings.shown :]

    def learn(self) -> dict[str, float]:
        """All updates that are due."""
        s, logged = self.settings, {}
        due = (self._steps - s.learn_start) // s.update_every
        while self._updates < due and len(self._shown) >= min(s.batch, s.shown):
            logged = self._update()
        return logged

    def _update(self) -> dict[str, float]:
        """One step of the optimizer."""
        s = self.settings
        self._optimizer.zero_grad()
        total = agreed = 0.0
        drawn = self._rng.integers(len(self._shown), size=s.batch).tolist()
        # Whole texts go through one by one, for none is padded; answers are short.
        for numbers in [drawn] if self._frozen else [[number] for number in drawn]:
            loss: Any = 0.0
            for logits, answer in self._logits(numbers):
                loss += torch.nn.functional.cross_entropy(logits.float(), answer, reduction="sum")
                agreed += float((logits.argmax(1) == answer).all()) / s.batch
            (loss / s.batch).backward()
            total += float(loss.detach()) / s.batch
        trained = self._optimizer.param_groups[0]["params"]
        torch.nn.utils.clip_grad_norm_(trained, s.clip)
        self._optimizer.step()
        self._updates += 1
        return {"updates": float(self._updates), "clone_loss": total, "agreed": agreed}

    def _logits(self, numbers: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """For each of the shown answers the logits of its tokens, and the tokens."""
        shown = [self._shown[number] for number in numbers]
        if self._frozen is not None:
            found = self._frozen.logits(numbers, shown)
        else:
            rows = torch.tensor([[*prompt, *answer[:-1]] for prompt, answer in shown])
            longest = max(len(answer) for _, answer in shown)
            found = self._network(
                rows.to(self.device), use_cache=False, logits_to_keep=longest
            ).logits
        for row, (_, answer) in zip(found, shown, strict=True):
            yield row[: len(answer)], torch.tensor(answer, device=row.device)

    # ------------------------------------------------------------ keeping

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The weights that change."""
        return {n: p for n, p in self._network.named_parameters() if p.requires_grad}, {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them.

        Raises:
            KeyError: They are those of another model or method.
        """
        with torch.no_grad():
            for name, parameter in self.weights()[0].items():
                parameter.copy_(tensors[name])

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Optimizer, what was shown, chance and counters."""
        record = {
            "shown": self._shown,
            "rng": self._rng.bit_generator.state,
            "counts": [self._steps, self._updates, self._read],
        }
        return moments(self._optimizer), record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        load_moments(self._optimizer, tensors)
        self._shown = [(prompt, answer) for prompt, answer in record["shown"]]
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates, self._read = record["counts"]


@POLICIES.register("lm")
class Lm(LearnedPolicy):
    """Plays a cloned language model: the valid action that is its likeliest answer."""

    name = "lm"
    learner_class = LmLearner
