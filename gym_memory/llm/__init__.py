"""Language models: one chat protocol over any OpenAI-compatible endpoint or local weights.

    model = make_model("openai?model=qwen&base_url=http://localhost:8000/v1&cache=answers.sqlite")
    model.complete([{"role": "user", "content": "Hello"}], role="greet").text

A model counts its calls, tokens, money and seconds by role (``model.meter``), stops before it
would exceed ``max_cost_usd`` or ``max_tokens``, and answers exact repeats from its cache. Models
may be used from many threads; :func:`episode_usage` counts and limits one episode.
"""

from __future__ import annotations

from typing import Any

from gym_memory.llm.base import ChatModel, Completion, Message, Scorer, Tokens
from gym_memory.llm.cache import ResponseCache
from gym_memory.llm.model import BaseChatModel
from gym_memory.llm.usage import Budget, Meter, Price, Usage, episode_usage
from gym_memory.registry import Registry

__all__ = [
    "MODELS",
    "BaseChatModel",
    "Budget",
    "ChatModel",
    "Completion",
    "Message",
    "Meter",
    "Price",
    "ResponseCache",
    "Scorer",
    "Tokens",
    "Usage",
    "episode_usage",
    "make_model",
]

MODELS = Registry(
    "chat model",
    "gym_memory.models",
    {
        "openai": "gym_memory.llm.client:OpenAIChat",
        "transformers": "gym_memory.llm.local:TransformersChat",
    },
)


def make_model(spec: str | ChatModel) -> Any:
    """Build a chat model from a name with parameters; a ready model is returned as it is.

    ``openai`` alone takes the model's name, the endpoint and the key from the environment:
    ``GYM_MEMORY_MODEL``, ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``.

    >>> make_model("openai?model=qwen&base_url=http://localhost:8000/v1")
    OpenAIChat('qwen', 'http://localhost:8000/v1')

    Raises:
        UnknownNameError: Unknown name or parameter.
        ModelSetupError: The parameters do not make a usable model.
    """
    return MODELS.make(spec) if isinstance(spec, str) else spec
