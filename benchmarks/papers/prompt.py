"""Measure the last prompt of a trial in ScienceWorld: cut at 8,000 tokens, and whole as in CLIN.

    python -m benchmarks papers/prompt      # two trials of 100 steps; writes measured.json

The scripted server answers; the length of a prompt depends on the game's texts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from keep import write_measured

from gym_memory.core.names import Spec
from gym_memory.core.tokens import count_tokens
from gym_memory.core.trajectory import read_rows
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.testing.chat.server import ScriptedServer

ENV = "ScienceWorld?simplification=easy&split=clin&task=grow-fruit"


def main() -> None:
    """Play both trials; print and keep the tokens and the steps of their last prompts."""
    found = []
    with ScriptedServer() as server, tempfile.TemporaryDirectory() as scratch:
        for most in (8000, None):
            model = {"model": "scripted", "base_url": server.base_url}
            policy = Spec.of("react", {"history": None, "history_tokens": most, **model})
            out = Path(scratch) / str(most)
            (row,) = compare(RunConfig((Spec(ENV),), (Spec("none"),), (policy,), (0,)), out)
            (file,) = (out / "steps").glob("*.jsonl.gz")
            call = [call for one in read_rows(file) for call in one.get("calls", ())][-1]
            texts = [message["content"] for message in call["messages"]]
            shown = sum(text.count("\n[step ") for text in texts)
            tokens = sum(map(count_tokens, texts))
            found.append([str(most), row.result.steps, tokens, shown])
            print(f"history_tokens={most}: {tokens} tokens, {shown} of {row.result.steps} steps")
    write_measured("papers/prompt", found)


if __name__ == "__main__":
    main()
