"""Behaviour cloning and DAgger of a local causal language model: prompt with memory -> action."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gym_memory.baselines.rl.players import LearnedPolicy
from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, Settings
from gym_memory.llm import make_model
from gym_memory.llm.local import TransformersChat, likelihoods
from gym_memory.llm.writing import BLOCK, Prefix, PromptState
from gym_memory.memory.base import count_tokens, truncate_tokens
from gym_memory.train.steps import MAX_ACTIONS, played, state_prompt, step_rows

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "training language models")

__all__ = ["Lm", "LmLearner", "LmPrompt", "LmSettings"]


@dataclasses.dataclass(frozen=True)
class LmSettings(Settings):
    """Settings of the cloned language model."""

    model: Annotated[str, Help("A local model: smollm, or transformers?model=FOLDER.")] = "smollm"
    method: Annotated[
        Literal["alora", "lora", "full"],
        Help("Weights that change: alora or lora adapters (both need peft), or all: full."),
    ] = "alora"
    rank: Annotated[int, Help("Rank of the adapters.", low=1)] = 8
    tokens: Annotated[int, Help("Tokens of a prompt at most; the memory is cut to fit.", low=2)] = (
        400
    )
    max_actions: Annotated[int, Help("Valid actions that a prompt lists, at most.", low=1)] = (
        MAX_ACTIONS
    )
    records: Annotated[
        str, Help("A results folder with recorded steps, which are cloned from the start.")
    ] = ""
    teacher_memory: Annotated[str, Help("The teacher's memory; empty for no teacher.")] = "arigraph"
    beta_steps: Annotated[
        int,
        Help(
            "Steps over which the share of the teacher's actions falls from 1 to 0; 0: the teacher "
            "plays alone.",
            low=0,
        ),
    ] = 0
    batch: Annotated[int, Help("Labelled states per update.", low=1)] = 8
    update_every: Annotated[int, Help("Environment steps per update.", low=1)] = 4
    learn_start: Annotated[int, Help("Steps before the first update.", low=0)] = 16
    shown: Annotated[int, Help("Most labelled states kept, the first ones.", low=1)] = 4096
    kept: Annotated[
        int,
        Help(
            "Prompts whose keys and values alora keeps, 10 MB each with SmolLM2; the others are "
            "computed again.",
            low=0,
        ),
    ] = 256
    lr: Annotated[float, Help("Learning rate of AdamW.", above=0)] = 1e-3
    clip: Annotated[float, Help("Largest norm of the gradient.", above=0)] = 1.0


class LmPrompt(NamedTuple):
    """An observation as tokens: the prompt, and each valid action as a whole answer.

    ``label`` is the index of the teacher's action; -1 for none.
    """

    prompt: list[int]
    actions: list[list[int]]
    label: int


class FrozenModel:
    """A view of a model without its adapters for prompts, and with them for answers.

    Activated LoRA (Greenewald et al. 2025): adapters act from the end of the prompt on, so its keys
    and values hold whatever the adapters learn. So a prompt is read once, which a CPU can afford.
    ``most`` prompts are kept; ``prefix`` shares the beginnings of the latest. ``block`` is the size
    of a prompt's first piece, in tokens.
    """

    def __init__(self, network: Any, most: int, *, prefix: bool, block: int = BLOCK):
        self._network, self.most, self._prefix = network, most, prefix
        self.latest = Prefix(network, block)
        self.kept: dict[int, Any] = {}
        self._just: tuple[list[int], Any] = [], None

    def start(self, prompt: list[int]) -> PromptState:
        """Run the frozen model over a prompt without its last token."""
        with torch.no_grad(), self._network.disable_adapter():
            started = self.latest.start(prompt[:-1], keep=self._prefix)
        self._just = prompt, started.past
        return started

    def keep(self, number: int, prompt: list[int]) -> None:
        """Cache the keys and values of a prompt if there is room, best right after its start."""
        if len(self.kept) < self.most:
            self._read(number, prompt)

    def logits(self, numbers: Sequence[int], shown: Sequence[tuple[list[int], list[int]]]) -> Any:
        """Return logits of the tokens of answers, shape (texts, longest answer, vocabulary).

        The prompts are kept under ``numbers``; ``shown`` has prompts and answers.
        """
        read = [self._read(*one) for one in zip(numbers, (p for p, _ in shown), strict=True)]
        lengths = [keys.shape[-2] for keys in read]
        most, tokens = max(lengths), max(len(answer) for _, answer in shown)
        pad, device = torch.nn.functional.pad, self._network.device
        # Of shape (texts, layers, keys and values, heads, most, size of a head).
        padded = torch.stack([pad(keys, (0, 0, most - keys.shape[-2], 0)) for keys in read])
        layers = padded.to(self._network.dtype).unbind(1)
        transformers = require("transformers", "lora", "method=alora")
        past = transformers.DynamicCache([(layer[:, 0], layer[:, 1]) for layer in layers])
        ids = torch.zeros(len(shown), tokens, dtype=torch.int64)
        mask = torch.ones(len(shown), most + tokens, dtype=torch.int64)
        for row, (prompt, answer) in enumerate(shown):
            ids[row, : len(answer)] = torch.tensor([prompt[-1], *answer[:-1]])
            mask[row, : most - lengths[row]] = 0
        places = torch.tensor(lengths)[:, None] + torch.arange(tokens)
        return self._network(
            ids.to(device),
            attention_mask=mask.to(device),
            position_ids=places.to(device),
            past_key_values=past,
        ).logits

    def _read(self, number: int, prompt: list[int]) -> Any:
        """Return the keys and values of a prompt without its last token, in 16 bits."""
        read = self.kept.get(number)
        if read is None:
            if self._just[0] != prompt:
                self.start(prompt)
            # Answers have been added to it since.
            layers = [
                torch.cat([layer.keys, layer.values])[..., : len(prompt) - 1, :]
                for layer in self._just[1].layers
            ]
            read = torch.stack(layers).half()
            if len(self.kept) < self.most:
                self.kept[number] = read
        return read


class LmLearner(Learner):
    """A learner from labels; a checkpoint holds the changed weights and the model's name."""

    name = "lm"
    settings_class = LmSettings
    settings: LmSettings
    block: ClassVar[int] = BLOCK
    """Tokens of the first piece of a prompt, which changes the bits of an answer."""

    def __init__(self, settings: LmSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        chat = make_model(settings.model)
        if not isinstance(chat, TransformersChat):
            raise InvalidArgumentError(
                f"expected a local model such as 'smollm', got {settings.model!r}"
            )
        self.chat = chat
        self.tokenizer, network = chat.own_weights(device)
        if settings.method != "full":
            peft = require("peft", "lora", f"method={settings.method}")
            with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # peft's, of names in transformers
                torch.manual_seed(seed)
                config = peft.LoraConfig(
                    r=settings.rank, lora_alpha=2 * settings.rank, target_modules="all-linear"
                )
                network = peft.get_peft_model(network, config)
        self.frozen: FrozenModel | None = None
        if settings.method == "alora":
            self.frozen = FrozenModel(network, settings.kept, prefix=chat.prefix, block=self.block)
        self.network = network
        self.optimizer = torch.optim.AdamW(
            [p for p in network.parameters() if p.requires_grad], lr=settings.lr
        )
        self.shown: list[tuple[list[int], list[int]]] = []
        self._read = False

    # ------------------------------------------------------------ seeing

    @property
    def teacher_memory(self) -> str:
        """Return the memory of the teacher; empty for none."""
        return self.settings.teacher_memory

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> LmPrompt:
        """Encode an observation; it may hold the teacher's advice."""
        valid = list(obs["valid_actions"])
        advice = obs.get("advice", "")
        label = valid.index(advice) if advice in valid else -1
        return LmPrompt(self._prompt(obs), [self._answer(one) for one in valid], label)

    def _prompt(self, obs: Observation) -> list[int]:
        """Return the prompt with as much memory as fits; if none fits, the end of the prompt."""

        def ids_with(tokens: int) -> list[int]:
            shown: Observation = {**obs, "memory": truncate_tokens(obs["memory"], tokens)}
            messages = state_prompt(shown, self.settings.max_actions)
            return self.chat.prompt_ids(self.tokenizer, messages)

        most, fits, over = self.settings.tokens, 0, count_tokens(obs["memory"]) + 1
        ids = ids_with(over)
        if len(ids) > most:
            # The model counts tokens differently from the budget.
            while over - fits > 1:
                middle = (fits + over) // 2
                fits, over = (middle, over) if len(ids_with(middle)) <= most else (fits, middle)
            ids = ids_with(fits)
        return ids[-most:]

    def _answer(self, action: str) -> list[int]:
        ids: list[int] = self.tokenizer(action, add_special_tokens=False)["input_ids"]
        return [*ids, self.tokenizer.eos_token_id]

    def pack(self, seen: LmPrompt) -> list[Any]:
        """Return it as JSON-able values."""
        return list(seen)

    def unpack(self, packed: list[Any]) -> LmPrompt:
        """Return the inverse of :meth:`pack`."""
        return LmPrompt(*packed)

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Return the present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self.steps / steps) if steps else 1.0

    def act(self, seen: list[LmPrompt], *, explore: bool) -> list[int]:
        """Choose the likeliest action, except for the teacher's share, which needs no model."""
        chosen = []
        for one in seen:
            by_teacher = explore and one.label >= 0 and self.rng.random() < self.beta
            chosen.append(one.label if by_teacher else self._likeliest(one))
        return chosen

    def _likeliest(self, seen: LmPrompt) -> int:
        with torch.inference_mode():
            if self.frozen is None:
                start = Prefix(self.network, self.block).start(seen.prompt, keep=False)
                scores = likelihoods(self.network, start, seen.actions)
            else:
                answers = [[seen.prompt[-1], *answer] for answer in seen.actions]
                scores = likelihoods(self.network, self.frozen.start(seen.prompt), answers)
        return int(np.argmax(np.round(scores, 4)))

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a labelled state; recorded steps come first."""
        if not self._read:
            self._read = True
            self.show_recorded()
        self.steps += 1
        seen: LmPrompt = experience.seen
        if seen.label >= 0 and len(self.shown) < self.settings.shown:
            if self.frozen is not None:
                self.frozen.keep(len(self.shown), seen.prompt)
            self.shown.append((seen.prompt, seen.actions[seen.label]))

    def show_recorded(self) -> None:
        """Store the recorded steps as labelled states."""
        if not self.settings.records:
            return
        for row in step_rows(played(Path(self.settings.records)), self.settings.max_actions):
            ids = self.chat.prompt_ids(self.tokenizer, row["prompt"])
            self.shown.append((ids[-self.settings.tokens :], self._answer(row["reply"])))
        del self.shown[self.settings.shown :]

    def learn(self) -> dict[str, float]:
        """Make all updates that are due."""
        s, logged = self.settings, {}
        due = (self.steps - s.learn_start) // s.update_every
        while self.updates < due and len(self.shown) >= min(s.batch, s.shown):
            logged = self.update()
        return logged

    def update(self) -> dict[str, float]:
        """Make one update; return what to log."""
        s = self.settings
        self.optimizer.zero_grad()
        total = agreed = 0.0
        drawn = self.rng.integers(len(self.shown), size=s.batch).tolist()
        # Kept prompts and a GPU have room for all texts at once; on a CPU padding is lost time.
        at_once = self.frozen is not None or self.network.device.type != "cpu"
        for numbers in [drawn] if at_once else [[number] for number in drawn]:
            loss: Any = 0.0
            for logits, answer in self.logits(numbers):
                loss += torch.nn.functional.cross_entropy(logits.float(), answer, reduction="sum")
                agreed += float((logits.argmax(1) == answer).all()) / s.batch
            (loss / s.batch).backward()
            total += float(loss.detach()) / s.batch
        trained = self.optimizer.param_groups[0]["params"]
        torch.nn.utils.clip_grad_norm_(trained, s.clip)
        self.optimizer.step()
        self.updates += 1
        return {"updates": float(self.updates), "clone_loss": total, "agreed": agreed}

    def logits(self, numbers: Sequence[int]) -> Iterator[tuple[Any, Any]]:
        """Yield the logits of each shown answer's tokens, and the tokens."""
        shown = [self.shown[number] for number in numbers]
        if self.frozen is not None:
            found = self.frozen.logits(numbers, shown)
        else:
            texts = [[*prompt, *answer[:-1]] for prompt, answer in shown]
            width = max(map(len, texts))
            ids = torch.zeros(len(texts), width, dtype=torch.int64)
            mask = torch.zeros_like(ids)
            for row, text in enumerate(texts):
                ids[row, : len(text)], mask[row, : len(text)] = torch.tensor(text), 1
            first = min(len(prompt) for prompt, _ in shown) - 1
            found = self.network(
                ids.to(self.device),
                attention_mask=mask.to(self.device),
                use_cache=False,
                logits_to_keep=width - first,
            ).logits
            starts = [len(prompt) - 1 - first for prompt, _ in shown]
            found = [row[start:] for row, start in zip(found, starts, strict=True)]
        for row, (_, answer) in zip(found, shown, strict=True):
            yield row[: len(answer)], torch.tensor(answer, device=row.device)

    # ------------------------------------------------------------ checkpoints

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the weights that change."""
        return {n: p for n, p in self.network.named_parameters() if p.requires_grad}, {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        with torch.no_grad():
            for name, parameter in self.weights()[0].items():
                parameter.copy_(tensors[name])

    def progress(self) -> dict[str, Any]:
        """Return also the labelled states."""
        return super().progress() | {"shown": self.shown, "read": self._read}

    def load_progress(self, state: dict[str, Any]) -> None:
        """Replace them."""
        super().load_progress(state)
        self.shown = [(prompt, answer) for prompt, answer in state["shown"]]
        self._read = state["read"]


class Lm(LearnedPolicy):
    """A cloned language model, which plays the valid action that is its likeliest answer."""

    learner_class = LmLearner
