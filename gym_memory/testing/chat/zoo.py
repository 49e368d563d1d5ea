"""A zoo of endpoints: the scripted answers in the dialect of each kind of server.

A personality refuses the same requests as its server, and formats answers, errors and usage like
it. The forms follow the public documentation and issue threads of the servers.
"""

from __future__ import annotations

import dataclasses
import email.utils
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.settings import check_name
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.testing.chat.server import ScriptedServer

__all__ = ["ZOO", "Personality", "Refusal", "ZooServer"]

Body = dict[str, Any]

_THOUGHT = (
    "Let me see what is here.\nAction: eat poison\nNo, that would be wrong. The memory may help: "
    '{"action": "eat poison"} is not possible.\n' + "I compare what is known with the task. " * 8
)
"""Thoughts of a reasoning model: actions that it rejects, in the forms of answers."""
_CONTEXT = 1600
"""Tokens of prompt and answer that a server with a small context accepts."""
_A_MINUTE = 4000
"""Tokens of prompt and answer that a server with a limit per minute accepts at once."""
_LONGEST_ANSWER = 800
_EVERY = 4
"""Number of requests of which a server with transient faults refuses one."""


class Refusal(NamedTuple):
    """An error as a server sends it."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


Refuse = Callable[[Body, int], Refusal | None]
"""Takes a request and its number; returns an error, or None to answer."""
Dress = Callable[[Body, Body], Body]
"""Takes a completion and its request; returns the completion as the server sends it."""


@dataclasses.dataclass(frozen=True)
class Personality:
    """A kind of server: its refusals, and its formats of answers and of sending."""

    about: str
    refuse: Refuse = lambda request, number: None
    dress: Dress = lambda completion, request: completion
    streams: bool = False
    latency: float = 0.0
    cuts: bool = False
    """True if the beginning of a prompt beyond the context is left out silently."""
    compresses: bool = False


# ------------------------------------------------------------ what servers refuse


def _openai_error(message: str, param: str | None, code: str | None, status: int = 400) -> Refusal:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Refusal(status, {"error": error})


def _reasoning_only(request: Body, number: int) -> Refusal | None:
    """Refuse the settings that OpenAI's reasoning models refuse."""
    if "max_tokens" in request:
        return _openai_error(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter",
        )  # fmt: skip
    if request.get("temperature", 1) != 1:
        return _openai_error(
            f"Unsupported value: 'temperature' does not support {request['temperature']} with this "
            "model. Only the default (1) value is supported.", "temperature", "unsupported_value",
        )  # fmt: skip
    return None


def _without_name(request: Body, number: int) -> Refusal | None:
    if "temperature" in request or "response_format" in request:
        return Refusal(400, {"error": {"message": "Bad Request"}})
    return None


def _no_system(request: Body, number: int) -> Refusal | None:
    if any(message["role"] == "system" for message in request["messages"]):
        return Refusal(
            500, {"error": {"code": 500, "message": "System role not supported at row 1, column 60:"
            " raise_exception('System role not supported')", "type": "server_error"}}
        )  # fmt: skip
    return None


def _no_formats(request: Body, number: int) -> Refusal | None:
    if "response_format" in request or "grammar" in request:
        return Refusal(
            422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not "
            "permitted", "type": "extra_forbidden"}]}
        )  # fmt: skip
    return None


def _lm_studio(request: Body, number: int) -> Refusal | None:
    if request.get("response_format", {}).get("type") == "json_object":
        return Refusal(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    return None


def _size(messages: Sequence[Body]) -> int:
    return sum(count_tokens(str(message["content"])) for message in messages)


def _limit(request: Body) -> int:
    """Return the most tokens of an answer; 0 if the request sets no limit."""
    return request.get("max_tokens") or request.get("max_completion_tokens") or 0


def _small_vllm(request: Body, number: int) -> Refusal | None:
    prompt, limit = _size(request["messages"]), _limit(request)
    if prompt + limit <= _CONTEXT:
        return None
    message = (
        f"This model's maximum context length is {_CONTEXT} tokens. However, you requested "
        f"{prompt + limit} tokens ({prompt} in the messages, {limit} in the completion). Please "
        "reduce the length of the messages or completion."
    )
    error = {"object": "error", "message": message, "type": "BadRequestError", "code": 400}
    return Refusal(400, error)


def _small_llama(request: Body, number: int) -> Refusal | None:
    prompt = _size(request["messages"])
    if prompt <= _CONTEXT:
        return None
    error = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": prompt}
    error |= {"message": "the request exceeds the available context size, try increasing it"}
    return Refusal(400, {"error": {**error, "n_ctx": _CONTEXT}})


def _few_a_minute(request: Body, number: int) -> Refusal | None:
    """Refuse more tokens than a minute allows, as Groq does."""
    wanted = _size(request["messages"]) + (request.get("max_tokens") or 0)
    if wanted <= _A_MINUTE:
        return None
    message = (
        f"Request too large for model `m` on tokens per minute (TPM): Limit {_A_MINUTE}, Requested "
        f"{wanted}, please reduce your message size and try again."
    )
    error = {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}
    return Refusal(413, {"error": error})


def _gemini(request: Body, number: int) -> Refusal | None:
    """Refuse a limit beyond the model's, in a list."""
    limit = _limit(request)
    if limit <= _LONGEST_ANSWER:
        return None
    message = (
        "Unable to submit request because it has a maxOutputTokens value of "
        f"{limit} but the supported range is from 1 (inclusive) to {_LONGEST_ANSWER + 1} "
        "(exclusive). Update the value and try again."
    )
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    return Refusal(400, [{"error": error}])


def _minimax(turn: int) -> Refusal:
    state = {"status_code": 1002, "status_msg": "rate limit exceeded(RPM)"}
    return Refusal(200, {"id": "0", "choices": None, "usage": None, "base_resp": state})


def _now_and_then(make: Callable[[int], Refusal]) -> Refuse:
    """Return a function that refuses one of some requests, the first ones answered."""

    def refuse(request: Body, number: int) -> Refusal | None:
        return make(number // _EVERY) if number % _EVERY == _EVERY - 1 else None

    return refuse


def _rate_limit(turn: int) -> Refusal:
    """State the waiting time in one form after another."""
    error = {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}
    date = email.utils.formatdate(time.time(), usegmt=True)
    forms: list[tuple[dict[str, str], str]] = [
        ({"Retry-After": "0.05"}, ""),
        ({"Retry-After": date}, ""),
        ({"Retry-After-Ms": "50"}, ""),
        ({"X-RateLimit-Reset-Requests": "50ms"}, ""),
        ({"X-RateLimit-Reset": str(time.time())}, ""),
        ({}, "Please try again in 50ms."),
    ]
    headers, words = forms[turn % len(forms)]
    return Refusal(429, {"error": {**error, "message": f"{error['message']}. {words}"}}, headers)


def _unavailable(turn: int) -> Refusal:
    status = (500, 502, 503, 529)[turn % 4]
    return Refusal(status, {"error": {"message": "upstream overloaded", "code": status}})


def _with_status_200(turn: int) -> Refusal:
    error = {"code": 429, "message": "Provider returned error", "metadata": {"raw": "slow down"}}
    return Refusal(200, {"error": error, "user_id": "user"})


def _in_the_choice(turn: int) -> Refusal:
    error = {"code": 502, "message": "Upstream error: connection reset"}
    message = {"role": "assistant", "content": ""}
    return Refusal(
        200, {"choices": [{"message": message, "finish_reason": "error", "error": error}]}
    )


# ------------------------------------------------------------ how servers dress answers


def _message(completion: Body) -> Body:
    found: Body = completion["choices"][0]["message"]
    return found


def _think(completion: Body, request: Body) -> str:
    """Return the thought within the limit; cut the answer to the rest, and count both."""
    room = (_limit(request) or 1 << 20) * CHARS_PER_TOKEN
    thought, message = _THOUGHT[:room], _message(completion)
    left = room - len(thought)
    if left < len(message["content"]):
        message["content"] = message["content"][:left]
        completion["choices"][0]["finish_reason"] = "length"
    usage = completion["usage"]
    usage["completion_tokens"] = count_tokens(message["content"]) + count_tokens(thought)
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    return thought


def _hidden(completion: Body, request: Body) -> Body:
    thought = _think(completion, request)
    details = {"reasoning_tokens": count_tokens(thought)}
    completion["usage"]["completion_tokens_details"] = details
    return completion


def _field(name: str) -> Dress:
    def dress(completion: Body, request: Body) -> Body:
        thought = _think(completion, request)
        message = _message(completion)
        message[name] = thought
        message["content"] = message["content"] or None
        return completion

    return dress


def _details(completion: Body, request: Body) -> Body:
    completion = _field("reasoning")(completion, request)
    message = _message(completion)
    text = {"type": "reasoning.text", "text": message["reasoning"], "format": "unknown"}
    message["reasoning_details"] = [text]
    return completion


def _tags(opening: str, closing: str) -> Dress:
    def dress(completion: Body, request: Body) -> Body:
        thought = _think(completion, request)
        message = _message(completion)
        end = f"{closing}\n\n{message['content']}" if message["content"] else ""
        message["content"] = f"{opening}{thought}{end}"
        return completion

    return dress


def _parts(completion: Body, request: Body) -> Body:
    thought = _think(completion, request)
    message = _message(completion)
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
    message["content"] = [thinking, {"type": "text", "text": message["content"]}]
    return completion


def _apart(completion: Body, request: Body) -> Body:
    completion = _field("reasoning_content")(completion, request)
    usage, message = completion["usage"], _message(completion)
    thinking = count_tokens(message["reasoning_content"])
    answer = count_tokens(message["content"] or "")
    usage |= {"completion_tokens": answer, "reasoning_tokens": thinking}
    return completion


def _without_usage(completion: Body, request: Body) -> Body:
    del completion["usage"]
    return completion


def _llama(completion: Body, request: Body) -> Body:
    usage = completion.pop("usage")
    prompt, made = usage["prompt_tokens"], usage["completion_tokens"]
    completion["timings"] = {"prompt_n": prompt, "predicted_n": made, "predicted_ms": 12.5}
    return completion


def _vllm(completion: Body, request: Body) -> Body:
    _message(completion).update(reasoning_content=None, tool_calls=[], annotations=None)
    return {**completion, "prompt_logprobs": None, "kv_transfer_params": None}


def _sglang(completion: Body, request: Body) -> Body:
    message = _message(completion)
    message.pop("refusal", None)
    message["reasoning_content"] = ""
    completion["choices"][0]["matched_stop"] = 151645
    completion["usage"].pop("prompt_tokens_details", None)
    return completion


# ------------------------------------------------------------ the zoo

ZOO: dict[str, Personality] = {
    "plain": Personality("the scripted server itself"),
    "reasoning": Personality(
        "default temperature alone, max_completion_tokens, hidden thoughts",
        _reasoning_only,
        _hidden,
    ),
    "reasoning_field": Personality(
        "thoughts in `reasoning` and `reasoning_details`", dress=_details
    ),
    "reasoning_content": Personality(
        "thoughts in `reasoning_content`", dress=_field("reasoning_content")
    ),
    "apart": Personality("reasoning tokens counted beside the completion", dress=_apart),
    "think": Personality("thoughts between <think> tags", dress=_tags("<think>\n", "\n</think>")),
    "think_closed": Personality(
        "thoughts before </think>, whose opening tag the template writes",
        dress=_tags("", "\n</think>"),
    ),
    "channels": Personality(
        "thoughts in the channels of gpt-oss, unparsed",
        dress=_tags(
            "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"
        ),
    ),
    "parts": Personality("content as a list of parts, thoughts among them", dress=_parts),
    "vllm": Personality("vLLM with a small context", _small_vllm, _vllm),
    "sglang": Personality("SGLang", dress=_sglang),
    "llama_cpp": Personality(
        "llama.cpp with a small context, usage in `timings`", _small_llama, _llama
    ),
    "lm_studio": Personality("LM Studio: errors as text, no json_object", _lm_studio),
    "ollama": Personality("Ollama: thoughts in `reasoning`", dress=_field("reasoning")),
    "ollama_cut": Personality(
        "Ollama with a small context: leaves out the beginning of a prompt without an error",
        cuts=True,
    ),
    "status_200": Personality("a gateway: errors with status 200", _now_and_then(_with_status_200)),
    "in_choice": Personality("a gateway: errors inside a choice", _now_and_then(_in_the_choice)),
    "in_base_resp": Personality(
        "errors in `base_resp` with status 200, as MiniMax", _now_and_then(_minimax)
    ),
    "error_list": Personality("errors in a list, a low limit of answers, as Gemini", _gemini),
    "per_minute": Personality("413 for too many tokens a minute, as Groq", _few_a_minute),
    "compressed": Personality("a gateway that compresses all it sends", compresses=True),
    "no_usage": Personality("no usage", dress=_without_usage),
    "no_system": Personality("a template without a system role", _no_system),
    "no_schema": Personality("no response format", _no_formats),
    "unnamed": Personality("refuses parameters without naming them", _without_name),
    "rate_limited": Personality("429 with each form of a wait", _now_and_then(_rate_limit)),
    "unavailable": Personality("500, 502, 503 and 529 now and then", _now_and_then(_unavailable)),
    "slow": Personality("a quarter of a second late", latency=0.25),
    "stream_only": Personality("answers as a stream alone", streams=True),
}
"""Personalities by name."""


class ZooServer(ScriptedServer):
    """A scripted server with a personality of the zoo.

    Example:
        >>> with ZooServer("think") as server:
        ...     server.personality.about
        'thoughts between <think> tags'
    """

    def __init__(self, personality: str = "plain", port: int = 0, **options: Any):
        self.personality = ZOO[check_name("personality", personality, ZOO)]
        super().__init__(port, latency=options.pop("latency", self.personality.latency), **options)
        self.compresses = self.personality.compresses

    def refuse(self, request: Body, number: int) -> Refusal | None:
        """Return the personality's error; None to answer."""
        if self.personality.streams and not request.get("stream"):
            return _openai_error(
                "This model only supports streaming: set stream to true", None, None
            )
        return self.personality.refuse(request, number)

    def complete(self, messages: list[Body], max_tokens: int) -> Body:
        """Return the whole answer: the personality cuts it, with its thoughts."""
        size = _size(messages)
        if not self.personality.cuts or size <= _CONTEXT:
            return super().complete(_with_system(messages), 1 << 20)
        completion = super().complete(_end_of(messages, size - _CONTEXT), 1 << 20)
        usage = completion["usage"]
        usage |= {"prompt_tokens": _CONTEXT}
        usage["total_tokens"] = _CONTEXT + usage["completion_tokens"]
        return completion

    def dress(self, completion: Body, request: Body) -> Body:
        """Return a completion as the personality sends it."""
        return self.personality.dress(completion, request)


def _end_of(messages: list[Body], tokens: int) -> list[Body]:
    """Return a chat without its first tokens."""
    kept = []
    for message in messages:
        text = str(message["content"])
        left_out = min(tokens * CHARS_PER_TOKEN, len(text))
        tokens -= left_out // CHARS_PER_TOKEN
        kept.append({**message, "content": text[left_out:]})
    return kept


def _with_system(messages: list[Body]) -> list[Body]:
    """Return a chat with its rules in a system message, if a client put them elsewhere."""
    first = messages[0] if messages else {}
    if first.get("role") != "user" or "<" not in str(first.get("content")):
        return messages
    rules, opening, rest = str(first["content"]).partition("\n\n<")
    if not opening or json.dumps(rules).count("<name>") == 0:
        return messages
    user = {**first, "content": f"<{rest}"}
    return [{"role": "system", "content": rules}, user, *messages[1:]]
