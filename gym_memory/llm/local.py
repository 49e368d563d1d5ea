"""Local transformers weights as a chat model: chat template, batches, likelihoods."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from gym_memory.core.errors import ModelSetupError
from gym_memory.core.optional import check_installed, require
from gym_memory.llm.base import Form, Message, Reply, Request, Tokens
from gym_memory.llm.model import BaseChatModel, Failure, prompt_ceiling
from gym_memory.llm.usage import Price, Usage
from gym_memory.llm.writing import Prefix, PromptState, Writer, write_form, write_json

__all__ = ["TransformersChat", "likelihoods"]


class TransformersChat(BaseChatModel):
    """A causal language model in this process.

    The weights are loaded at the first call, once per process; calls from several threads take
    turns. To keep a GPU busy, use a server such as vLLM through ``openai``.

    Args:
        model: Folder or hub name of the weights; nothing is fetched unless ``download``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ...
        dtype: ``auto`` (as stored), ``float32``, ``bfloat16``, ``float16``.
        prefix: Whether to reuse the beginnings of recent prompts; not for sliding windows.
        download: Whether missing weights may be fetched from the hub.
        reasoning: Whether the model thinks before it answers and so needs more tokens.
        cache: Path of the response cache, or None for none.
        max_tokens: Hard stop in tokens.
        budget: Path of the file that shares the hard stop among processes.
    """

    extra: ClassVar[str] = "semantic"
    """Extra that installs the requirements, for messages."""

    def __init__(
        self,
        model: str = "",
        *,
        device: str = "cpu",
        dtype: str = "auto",
        prefix: bool = True,
        download: bool = False,
        reasoning: bool = False,
        cache: str | None = None,
        max_tokens: int | None = None,
        budget: str | None = None,
    ):
        if not model:
            raise ModelSetupError(
                "expected local weights, which a server's name is not: give ?model=FOLDER or "
                "?model=smollm"
            )
        super().__init__(
            str(model),
            cache=cache,
            max_tokens=max_tokens,
            budget=budget,
            price=Price(0.0, 0.0),
            retries=0,
        )
        self.device, self.dtype = device, dtype
        self.prefix, self.download, self.reasoning = prefix, download, reasoning

    @property
    def reasons(self) -> bool:
        """True if the model thinks before it answers."""
        return self.reasoning

    def load(self) -> tuple[Any, Any]:
        """Return the shared tokenizer and model, loaded at the first call."""
        with _turn:
            return self._loaded()[:2]

    def _loaded(self) -> tuple[Any, Any, Prefix]:
        return _weights(self._folder(), self.device, self.dtype, self.download)

    def preflight(self, trial: Request | None = None) -> None:
        """Check that the library for the weights is installed."""
        super().preflight(trial)
        for package in ("torch", "transformers"):
            check_installed(package, self.extra, "local language models")

    def own_weights(self, device: str) -> tuple[Any, Any]:
        """Load a tokenizer and a model for this caller alone, as for training."""
        tokenizer, model, _ = _weights.__wrapped__(
            self._folder(), device, self.dtype, self.download
        )
        return tokenizer, model

    def _folder(self) -> str:
        return self.name

    def _call(self, request: Request) -> Reply:
        with _turn, require("torch", self.extra, "local language models").inference_mode():
            tokenizer, model, prefix = self._loaded()
            prompt = self.prompt_ids(tokenizer, request.messages)
            most = self.limit(request)
            self._check_room(model, len(prompt) + most)
            start = prefix.start(prompt, keep=self.prefix)
            ends = model.generation_config.eos_token_id
            writer = Writer(
                tokenizer,
                model,
                start,
                ends=ends if isinstance(ends, list) else [ends],
                most=most,
                temperature=request.temperature or 0.0,
                seed=request.seed or 0,
            )
            if isinstance(request.schema, Form):
                write_form(writer, request.schema)
            elif request.strict:
                write_json(writer, request.schema.model_json_schema())
            else:
                writer.free(most=most)
            # The cached prefix is not counted: a result must not depend on earlier episodes.
            tokens = Tokens(len(prompt), 0, len(writer.ids))
            return Reply(writer.text, tokens, "stop" if writer.ended else "length")

    def prompt_ids(self, tokenizer: Any, messages: Sequence[Message]) -> list[int]:
        """Return a chat as token ids, ready for the assistant's turn."""
        turns = list(messages)
        if tokenizer.chat_template is not None:
            text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            special = False
        else:
            text = "".join(f"{turn['role']}: {turn['content']}\n" for turn in turns) + "assistant:"
            special = True
        ids: list[int] = tokenizer(text, add_special_tokens=special)["input_ids"]
        return ids

    def _check_room(self, model: Any, longest: int) -> None:
        room = getattr(model.config, "max_position_embeddings", None)
        if room is not None and longest > room:
            raise Failure("context", f"{longest} tokens do not fit into a context of {room}")

    def score(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Return the natural log-likelihood of each continuation as the answer to a chat.

        It is summed over the tokens, 0 for an empty one; see :meth:`lengths` to normalise.
        """
        texts, started = list(continuations), time.perf_counter()
        ceiling = prompt_ceiling(messages) + sum(len(text.encode()) + 1 for text in texts)
        try:
            with self._spending(ceiling, 0, 0) as (settle, _):
                scores, tokens = self._score(messages, texts)
                settle(tokens)
        except Failure as failure:
            raise failure.as_error() from None
        seconds = time.perf_counter() - started
        self._count("score", Usage(calls=1, prompt_tokens=tokens.prompt, seconds=seconds))
        return scores

    def lengths(self, continuations: Sequence[str]) -> list[int]:
        """Return the number of tokens of each continuation."""
        tokenizer, _ = self.load()
        return [
            len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in continuations
        ]

    def _score(self, messages: Sequence[Message], texts: list[str]) -> tuple[list[float], Tokens]:
        torch = require("torch", self.extra, "local language models")
        with _turn, torch.inference_mode():
            tokenizer, model, prefix = self._loaded()
            prompt = self.prompt_ids(tokenizer, messages)
            tails = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
            self._check_room(model, len(prompt) + max(map(len, tails), default=0))
            start = prefix.start(prompt, keep=self.prefix)
            scores = likelihoods(model, start, tails)
            return scores, Tokens(len(prompt) + sum(map(len, tails)))


_turn = threading.RLock()
"""Lock for loading weights and running them, one call at a time."""


@functools.lru_cache(maxsize=4)
def _weights(name: str, device: str, dtype: str, download: bool) -> tuple[Any, Any, Prefix]:
    transformers = require("transformers", "semantic", "local language models")
    local = {"local_files_only": not download}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **local)
        model = transformers.AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **local)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise ModelSetupError(
            f"expected weights and tokenizer of a language model at {name!r} "
            f"(download=true may fetch them): {first}"
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    model = model.to(device).eval()
    return tokenizer, model, Prefix(model)


def likelihoods(model: Any, start: PromptState, tails: Sequence[Sequence[int]]) -> list[float]:
    """Return log-likelihoods of continuations of a prompt, without gradients.

    They are computed as one tree, with equal beginnings only once (SpecInfer, Miao et al. 2024).
    """
    torch = require("torch", "semantic", "local language models")
    tokens, parents, depths = [-1], [-1], [0]  # node 0 is the end of the prompt
    children: dict[tuple[int, int], int] = {}
    paths: list[list[int]] = []
    for tail in tails:
        node, path = 0, []
        for token in tail:
            after = children.get((node, token))
            if after is None:
                after = children[node, token] = len(tokens)
                tokens.append(token)
                parents.append(node)
                depths.append(depths[node] + 1)
            node = after
            path.append(node)
        paths.append(path)
    logs = [start.logits.log_softmax(-1)[None]]
    with_next = set(parents)
    inner = [node for node in range(1, len(tokens)) if node in with_next]
    row = {node: at for at, node in enumerate([0, *inner])}  # in the logits; leaves have none
    if inner:
        sees = torch.zeros(len(inner), len(inner), dtype=torch.bool)
        for at, node in enumerate(inner):
            if parents[node]:
                sees[at] = sees[row[parents[node]] - 1]
            sees[at, at] = True
        device = start.logits.device
        mask = torch.cat([torch.ones(len(inner), start.length, dtype=torch.bool), sees], dim=1)
        blocked = torch.zeros(mask.shape, dtype=model.dtype)
        blocked.masked_fill_(~mask, torch.finfo(model.dtype).min)
        output = model(
            torch.tensor([[tokens[node] for node in inner]], device=device),
            past_key_values=start.past,
            attention_mask=blocked[None, None].to(device),
            position_ids=torch.tensor(
                [[start.length + depths[node] - 1 for node in inner]], device=device
            ),
        )
        logs.append(output.logits[0].float().log_softmax(-1))
    table = torch.cat(logs)
    chosen = [table[row[parents[node]], tokens[node]] for node in range(1, len(tokens))]
    values = [0.0, *torch.stack(chosen).tolist()] if chosen else [0.0]
    return [sum(values[node] for node in path) for path in paths]
