"""Serve the OpenAI wire format with rule-based answers, from the text of a prompt alone.

The server lets an agent or a memory that needs a language model run without a key::

    gym-memory serve-scripted --port 8000
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 GYM_MEMORY_MODEL=scripted gym-memory run ...
"""

from gym_memory.testing.chat.registry import Slots, answer, answers
from gym_memory.testing.chat.server import FAULTS, Faults, ScriptedServer
from gym_memory.testing.chat.zoo import ZOO, ZooServer

__all__ = ["FAULTS", "ZOO", "Faults", "ScriptedServer", "Slots", "ZooServer", "answer", "answers"]
