"""``gym-memory doctor --model``: the requests that an endpoint accepts, and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gym_memory.core.errors import ModelError, ModelSetupError

if TYPE_CHECKING:
    from gym_memory.llm import Message

__all__ = ["examine_model"]

Row = tuple[str, ...]
"""Name of a check, its state, its finding and, if something must be done, the advice."""
_ACTIONS = "look\ngo east"


def examine_model(model: str, base_url: str) -> list[Row]:
    """Call a model as agents do (short, with a thought, for JSON) and return the findings.

    Raises:
        ModelSetupError: It cannot be used; the message says what to change.
    """
    from gym_memory.baselines.llm.ariadne import decision_schema
    from gym_memory.cli.options import given_model
    from gym_memory.llm import Request, make_model, model_spec

    chat: Any = make_model(str(model_spec("openai", given_model(model, base_url))))
    chat.preflight()
    free = Request(_filled("react"), role="react", max_tokens=1024)
    schema = decision_schema(("look", "go east"))
    held = Request(
        _filled("ariadne_act"), role="ariadne_act", temperature=0.2, max_tokens=1024, schema=schema
    )
    findings: list[Row] = [("endpoint", "ok", getattr(chat, "base_url", None) or "OpenAI")]
    try:
        findings.append(_reading("an answer with a thought", chat.complete(free).text))
        findings.append(_reading("an answer in JSON", chat.complete(held).text))
    except ModelError as error:
        if not error.answer:
            raise ModelSetupError(
                f"{error}. It was called as the agents react and ariadne do"
            ) from error
        shown = f"{error}, got {error.answer!r:.100}"
        findings.append(
            ("an answer in JSON", "broken", shown, "play plain or react, which need none")
        )
    total = chat.meter.total()
    thinks = (
        f"yes, {total.reasoning_tokens} tokens are reported as reasoning" if chat.reasons else "no"
    )
    findings.append(("thinks before it answers", "ok", thinks))
    usage = "estimated from the text" if total.estimated else "reported by the server"
    findings.append(("tokens", "ok", usage))
    if chat.price is None:
        remedy = "set GYM_MEMORY_PRICES to limit or report costs"
        findings.append(("price", "missing", "unknown", remedy))
    findings += [("learnt", "ok", note) for note in chat.notes()]
    return findings


def _filled(name: str) -> list[Message]:
    from gym_memory.llm.prompts import load_prompt

    prompt = load_prompt(name)
    shown = {"observation": "You are in a hall. A door leads east.", "actions": _ACTIONS}
    return prompt.messages(**{slot: shown.get(slot, "") for slot in prompt.slots})


def _reading(name: str, text: str) -> Row:
    from gym_memory.baselines.llm.answers import UnreadableAnswerError, read_action

    try:
        action = read_action(text, ("look", "go east")).action
    except UnreadableAnswerError as error:
        remedy = "the agents choose and saycan need no answer that can be read"
        return (name, "broken", str(error), remedy)
    return (name, "ok", f"read as {action!r}")
