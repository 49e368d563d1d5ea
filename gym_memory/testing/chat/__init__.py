"""A scripted chat server: the OpenAI wire format over HTTP, answered by rules.

What it answers is computed from the text of the prompt alone, so it shows end to end what a
prompt carries, and lets anyone try an agent or a memory that wants a language model without a
key::

    gym-memory serve-scripted --port 8000
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 GYM_MEMORY_MODEL=scripted gym-memory run ...
"""

from gym_memory.testing.chat.answers import Slots, answer, answers
from gym_memory.testing.chat.faults import FAULTS, Faults
from gym_memory.testing.chat.server import ScriptedServer

__all__ = ["FAULTS", "Faults", "ScriptedServer", "Slots", "answer", "answers"]
