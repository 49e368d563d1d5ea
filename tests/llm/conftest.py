"""A scripted chat server and models that talk to it over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gym_memory.llm.client import OpenAIChat
from gym_memory.testing.chat import Faults, ScriptedServer


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Yield ``serve("429", "", latency=...)``, which starts a server with faults at first."""
    with ExitStack() as stack:

        def start(*schedule: str, **options: Any) -> ScriptedServer:
            return stack.enter_context(ScriptedServer(faults=Faults(schedule), **options))

        yield start


@pytest.fixture
def connect() -> Callable[..., OpenAIChat]:
    """Return ``connect(server, ...)``, which makes a model with short waits."""

    def make(server: ScriptedServer, **options: Any) -> OpenAIChat:
        settings = {"retries": 0, "backoff": 0.01, "timeout": 5.0, **options}
        return OpenAIChat("scripted", server.base_url, **settings)

    return make


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
