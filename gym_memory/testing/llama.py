"""Run a real OpenAI-compatible server: llama.cpp with weights from a package."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from gym_memory.core.errors import ModelSetupError
from gym_memory.core.optional import require
from gym_memory.llm.smollm import find_gguf

__all__ = ["LlamaServer"]

_POLL = 0.1
_SERVE = """
import sys, xllamacpp
path, context, slots, threads = sys.argv[1], *map(int, sys.argv[2:])
parameters = xllamacpp.CommonParams()
parameters.model.path = path
parameters.model_alias = {"smollm"}
parameters.hostnames, parameters.port = ["127.0.0.1"], 0
parameters.n_ctx, parameters.n_parallel = context * slots, slots
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
parameters.warmup, parameters.endpoint_metrics, parameters.verbosity = False, True, -1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()  # until its parent is gone
"""


class LlamaServer:
    """Run a llama.cpp server on a free port of this machine, in a process of its own.

    Args:
        model: GGUF file of the weights; default: SmolLM2-135M-Instruct.
        context: Tokens of a prompt with its answer.
        slots: Requests that are answered at once; each has a context of its own.
        threads: Threads of the computation.
        wait: Seconds in which it must be ready.

    Example::

        with LlamaServer() as server:
            model = make_model(f"openai?model=smollm&base_url={server.base_url}")
    """

    def __init__(
        self,
        model: Path | None = None,
        *,
        context: int = 4096,
        slots: int = 1,
        threads: int = 1,
        wait: float = 120.0,
    ):
        require("xllamacpp", "smollm", "the llama.cpp server")
        self.model = model or find_gguf()
        self.context, self.slots, self.threads, self.wait = context, slots, threads, wait
        self._process: subprocess.Popen[str] | None = None
        self._address = ""

    def __enter__(self) -> LlamaServer:
        """Start, and wait until it answers."""
        numbers = map(str, (self.context, self.slots, self.threads))
        # Stopping two servers of one process waits for ever now and then.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(self.model), *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        lines = (line.strip() for line in self._process.stdout)
        self._address = next((line for line in lines if line.startswith("http://")), "")
        if not self._address:
            self._stop()
            raise ModelSetupError(f"expected a llama.cpp server of {self.model}: it did not start")
        self._await_health()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    @property
    def base_url(self) -> str:
        """Return what a client calls ``base_url``."""
        return f"{self._address}/v1"

    def counts(self) -> dict[str, int]:
        """Return its own count of tokens since it started: computed, cached and generated."""
        text = self._get("/metrics").decode()
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {
            "prompt": int(float(values["llamacpp:prompt_tokens_total"])),
            "cached": int(float(values["llamacpp:prompt_tokens_cached_total"])),
            "completion": int(float(values["llamacpp:tokens_predicted_total"])),
        }

    def _await_health(self) -> None:
        deadline = time.monotonic() + self.wait
        while True:
            try:
                if json.loads(self._get("/health")).get("status") == "ok":
                    return
            except (OSError, ValueError):
                pass  # it is loading
            if time.monotonic() > deadline:
                raise ModelSetupError(f"the llama.cpp server is not ready after {self.wait} s")
            time.sleep(_POLL)

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(self._address + path, timeout=30) as answer:
            body: bytes = answer.read()
        return body
