"""Language models: one chat protocol over any OpenAI-compatible endpoint or local weights.

model = make_model("openai?model=qwen&base_url=http://localhost:8000/v1&cache=answers.sqlite")
model.complete(Request([{"role": "user", "content": "Hello"}], role="greet")).text
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_memory.core import components
from gym_memory.core.names import Registry, Spec
from gym_memory.llm.base import ChatModel, Form, Message, Reply, Request, Scorer, Tokens
from gym_memory.llm.model import BaseChatModel, ResponseCache
from gym_memory.llm.usage import Budget, Call, Meter, Price, Usage, episode_usage, logged_calls

__all__ = ["MODELS", "SMOLLM", "BaseChatModel", "Budget", "Call", "ChatModel", "Form", "Message"]
__all__ += ["Meter", "Price", "Reply", "Request", "ResponseCache", "Scorer", "Tokens", "Usage"]
__all__ += ["episode_usage", "logged_calls", "make_model", "model_spec"]

SMOLLM = "smollm"
"""Name of the model that a package ships, for options such as ``--model``."""

MODELS = Registry("chat model", "gym_memory.models", components.MODELS)


def model_spec(kind: str, kwargs: Mapping[str, Any]) -> Spec:
    """Return the spec of a model; ``model=smollm`` without a ``base_url`` becomes ``smollm``.

    >>> model_spec("openai", {"model": "smollm", "max_tokens": 1000})
    'smollm?max_tokens=1000'
    """
    if kwargs.get("model") == SMOLLM and "base_url" not in kwargs:
        return Spec.of(SMOLLM, {name: kwargs[name] for name in kwargs if name != "model"})
    return Spec.of(kind, kwargs)


def make_model(spec: str | ChatModel) -> Any:
    """Build a chat model from a name with parameters; return a given model unchanged.

    Defaults of ``openai`` come from the environment: ``GYM_MEMORY_MODEL``, ``OPENAI_BASE_URL``,
    ``OPENAI_API_KEY``.

    >>> make_model("openai?model=qwen&base_url=http://localhost:8000/v1")
    OpenAIChat('qwen', 'http://localhost:8000/v1')
    """
    return MODELS.make(model_spec(*Spec(spec).parts)) if isinstance(spec, str) else spec
