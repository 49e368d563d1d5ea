"""Generation by local models: cached beginnings of prompts, and answers constrained to a form.

Fixed text of a form goes through the model in one piece. A choice walks down the trie of the tokens
of its options, as in LMQL (Beurer-Kellner et al. 2023) and guidance.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.llm.base import Form

__all__ = ["BLOCK", "Prefix", "PromptState", "Writer", "write_form", "write_json"]

_FREE_SHARE = 2
_MAX_ITEMS = 8
_CONTROL = "".join(map(chr, range(32)))
_ENDS_STRING = '"\\' + _CONTROL
"""Characters that end a JSON string or need an escape in it."""

Trie = dict[int, Any]

BLOCK = 64
"""Tokens of the first piece of a prompt; each later piece doubles the length."""

_KEPT = 4


class PromptState(NamedTuple):
    """A state of a model after a prompt.

    ``past`` has its keys and values, which a continuation may change; ``logits`` has the scores of
    the next token, float32 of shape (vocabulary,); ``computed`` counts its uncached tokens.
    """

    past: Any
    logits: Any
    length: int
    computed: int


class Prefix:
    """A cache of the latest prompts of a model, each up to its last whole piece.

    Pieces always end at tokens 64, 128, 256, ..., so that the bits of an answer do not depend on
    earlier calls. A smaller ``block`` is slower, and any other changes the bits.
    """

    def __init__(self, model: Any, block: int = BLOCK):
        self._model, self._block = model, block
        self._known: list[tuple[list[int], Any]] = []  # the latest one last

    def start(self, ids: Sequence[int], *, keep: bool = True) -> PromptState:
        """Run a prompt through the model; with ``keep``, use and extend the cache."""
        torch = require("torch", "semantic", "local language models")
        past, known = self._longest(ids) if keep else (None, 0)
        ends = _piece_ends(len(ids) - 1, self._block)  # the last token always runs
        whole = ends[-1]
        for start, end in itertools.pairwise(ends):
            if start >= known:
                past = self._run(torch, ids[start:end], past).past_key_values
        if keep and whole:
            self._known = [*self._known, (list(ids[:whole]), copy.deepcopy(past))][-_KEPT:]
        output = self._run(torch, ids[whole:], past)
        return PromptState(
            output.past_key_values, output.logits[0, -1].float(), len(ids), len(ids) - known
        )

    def _run(self, torch: Any, ids: Sequence[int], past: Any) -> Any:
        rows = torch.tensor([list(ids)], device=self._model.device)
        return self._model(rows, past_key_values=past, use_cache=True, logits_to_keep=1)

    def _longest(self, ids: Sequence[int]) -> tuple[Any, int]:
        if not self._known:
            return None, 0
        shared = [min(_common_length(ids, known), len(ids) - 1) for known, _ in self._known]
        best = max(range(len(shared)), key=lambda at: (shared[at], at))
        size = _piece_ends(shared[best], self._block)[-1]
        if not size:
            return None, 0
        known, past = self._known[best]
        if size == len(known):
            del self._known[best]  # the new prompt extends it
        else:
            past = copy.deepcopy(past)
            past.crop(size - past.get_seq_length())
        return past, size


def _piece_ends(most: int, block: int) -> list[int]:
    """Return the ends of the pieces of a text of up to ``most`` tokens, from 0 on."""
    ends = [0]
    while (end := max(2 * ends[-1], block)) <= most:
        ends.append(end)
    return ends


def _common_length(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


class Writer:
    """A writer of an answer to a started prompt, whose keys and values it changes.

    ``ends`` are the ids that end an answer. Free text takes at most half of the tokens that are
    left of ``most``. A ``temperature`` of 0 takes the likeliest token; ties go to the lowest id.
    """

    def __init__(
        self,
        tokenizer: Any,
        model: Any,
        start: PromptState,
        *,
        ends: Sequence[int],
        most: int,
        temperature: float = 0.0,
        seed: int = 0,
    ):
        self._torch = require("torch", "semantic", "local language models")
        self._tokenizer, self._model = tokenizer, model
        self._past, self._logits = start.past, start.logits
        self._ends, self._most, self._temperature = set(ends), most, temperature
        self._chance = self._torch.Generator(start.logits.device).manual_seed(seed)
        self._waiting: list[int] = []  # written, but not yet run through the model
        self.ids: list[int] = []
        self.ended = False
        self.passes = 0

    @property
    def text(self) -> str:
        """Return the text so far."""
        ids = [i for i in self.ids if i not in self._ends]
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    @property
    def left(self) -> int:
        """Return the number of tokens left."""
        return self._most - len(self.ids)

    def give(self, text: str) -> None:
        """Write a given text."""
        self._write(self._encoded(text))

    def free(self, stop: str = "", most: int | None = None) -> str:
        """Write free text of ``most`` tokens, up to a character of ``stop`` or the answer's end."""
        first = len(self.ids)
        for _ in range(self.left // _FREE_SHARE if most is None else most):
            token = self._pick(None)
            if token in self._ends:
                if not stop:
                    self.ids.append(token)
                    self.ended = True
                break
            piece = self._tokenizer.decode([token])
            at = next((at for at, char in enumerate(piece) if char in stop), -1)
            if at >= 0:
                self.give(piece[:at])
                break
            self._write([token])
        return str(self._tokenizer.decode(self.ids[first:]))

    def choose(self, options: Sequence[str], *, last: bool = False) -> str:
        """Write one of several texts; a ``last`` one ends the answer, so it may begin another."""
        end = sorted(self._ends)[:1] if last else []
        trie: Trie = {}
        for number, option in enumerate(options):
            node = trie
            for token in [*self._encoded(option), *end]:
                node = node.setdefault(token, {})
            node.setdefault(-1, number)
        while branches := sorted(token for token in trie if token >= 0):
            token = branches[0] if len(branches) == 1 else self._pick(branches)
            trie = trie[token]
            self._write([token])
        self.ended = self.ended or last
        return options[trie[-1]]

    def _encoded(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _write(self, ids: Sequence[int]) -> None:
        self.ids += ids
        self._waiting += ids

    def _pick(self, among: list[int] | None) -> int:
        logits = self.next_logits() if among is None else self.next_logits()[among]
        if self._temperature:
            shares = (logits / self._temperature).softmax(-1)
            at = int(self._torch.multinomial(shares, 1, generator=self._chance))
        else:
            at = int((logits == logits.max()).nonzero()[0])
        return at if among is None else among[at]

    def next_logits(self) -> Any:
        """Return the logits of the next token, shape (vocabulary,)."""
        if self._waiting:
            rows = self._torch.tensor([self._waiting], device=self._model.device)
            output = self._model(rows, past_key_values=self._past, use_cache=True, logits_to_keep=1)
            self._past, self._logits = output.past_key_values, output.logits[0, -1].float()
            self._waiting = []
            self.passes += 1
        return self._logits


def write_form(writer: Writer, form: Form) -> None:
    """Write a text of a form; see :class:`~gym_memory.llm.base.Form`."""
    *free, (lead, _) = form.parts()
    for text, _ in free:
        writer.give(text)
        writer.free("\n")
    # In the vocabularies in use, a space belongs to the word after it.
    given = lead.rstrip(" ")
    writer.give(given)
    writer.choose([lead[len(given) :] + option for option in form.options], last=True)


def write_json(writer: Writer, schema: Mapping[str, Any]) -> None:
    """Write JSON of a schema: objects, lists and maps of text, enumerated values and flags."""
    _value(writer, schema, schema.get("$defs", {}), "")
    writer.ended = True


def _value(writer: Writer, schema: Mapping[str, Any], types: Mapping[str, Any], lead: str) -> None:
    if "$ref" in schema:
        _value(writer, types[schema["$ref"].rpartition("/")[2]], types, lead)
        return
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        writer.choose([lead + json.dumps(value, ensure_ascii=False) for value in values])
        return
    kind = schema.get("type")
    if kind == "boolean":
        writer.choose([lead + "true", lead + "false"])
    elif kind == "string":
        _string(writer, lead)
    elif kind == "array":
        _array(writer, schema["items"], types, lead)
    elif kind == "object" and "properties" in schema:
        for at, (name, inner) in enumerate(schema["properties"].items()):
            writer.give(f"{', ' if at else lead + '{'}{json.dumps(name)}:")
            _value(writer, inner, types, " ")
        writer.give("}")
    else:
        raise InvalidArgumentError(f"expected a schema of text, lists and objects, got {schema!r}")


def _string(writer: Writer, lead: str) -> None:
    writer.give(f'{lead}"')
    writer.free(_ENDS_STRING)
    writer.give('"')


def _array(writer: Writer, item: Mapping[str, Any], types: Mapping[str, Any], lead: str) -> None:
    writer.give(f"{lead}[")
    for number in range(1, _MAX_ITEMS + 1):
        _value(writer, item, types, "")
        if number == _MAX_ITEMS or writer.left < len(writer.ids):
            break
        if writer.choose([",", "]"]) == "]":
            return
        writer.give(" ")
    writer.give("]")
