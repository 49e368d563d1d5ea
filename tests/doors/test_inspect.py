"""Games as tasks of Inspect: its own runner, its mock model, its log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from twenty import BUDGET, ENV, MEMORY, Games, observation

from gym_memory.core.errors import UnknownNameError
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.testing.chat.server import ScriptedServer
from gym_memory.train.steps import opening, state_prompt, turn_text

pytestmark = pytest.mark.slow

ai = pytest.importorskip("inspect_ai", reason="needs the extra inspect, in a venv of its own")
from inspect_ai.log import read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from gym_memory.doors.inspect import game_task, tasks  # noqa: E402


def run(task: Any, replies: list[str], sent: list[Any], out: Path, limit: int) -> Any:
    """Return the log of an evaluation whose model says ``replies``, one after another."""
    left = iter(replies)

    def say(messages: Any, *_: Any) -> ModelOutput:
        sent.append(list(messages))
        output = ModelOutput.from_content("mockllm/model", next(left))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output  # without usage Inspect downloads a tokenizer to count

    model = get_model("mockllm/model", custom_outputs=say)
    (log,) = ai.eval(
        task, model=model, limit=limit, max_samples=1, log_dir=str(out), display="none"
    )
    assert log.status == "success", log.error
    return read_eval_log(log.location, resolve_attachments="full")


@pytest.mark.parametrize("prompts", ["state", "turns"])
def test_twenty_games_are_those_of_a_run(games: Games, prompts: Any, tmp_path: Path) -> None:
    recorded = [games.recorded[seed].rows for seed in range(20)]
    replies = [row["action"] for rows in recorded for row in rows[1:]]
    sent: list[Any] = []
    log = run(
        game_task(ENV, MEMORY, BUDGET, prompts=prompts, max_actions=None),
        *(replies, sent, tmp_path, 20),
    )
    assert len(log.samples) == 20
    shown = iter(sent)
    samples = sorted(log.samples, key=lambda sample: int(sample.id.rpartition("/")[2]))
    for seed, (sample, rows) in enumerate(zip(samples, recorded, strict=True)):
        assert sample.id == rows[0]["task_id"]
        seen = [observation(row) for row in rows[:-1]]
        for n, obs in enumerate(seen):
            messages = next(shown)
            assert len(messages) == (2 if prompts == "state" else 2 + 2 * n)
            later = turn_text(obs, None) if prompts == "turns" else None
            expected = opening(obs, None) if not n else later
            expected = expected or state_prompt(obs, None)[-1]["content"]
            assert messages[-1].text == expected
        result = games.results[seed].result
        measures = sample.scores["game"].value
        assert measures["score"] == result.normalized
        assert measures["success"] == float(bool(result.success))
        assert measures["steps"] == result.steps
        notes = [e.data for e in sample.events if e.event == "info" and e.source == "gym-memory"]
        assert [note["memory"] for note in notes] == [row.get("memory", "") for row in rows]
        assert [note["text"] for note in notes] == [row["text"] for row in rows]
    assert next(shown, None) is None
    means = {m.name: m for s in log.results.scores for m in s.metrics.values()}
    assert "mean" in means


def test_command_plays_by_name_with_settings(tmp_path: Path) -> None:
    words = ("eval", "gym_memory/fetch", "-T", "memory=history?window=2", "-T", "level=easy")
    more = ("-T", "max_steps=3", "--limit", "2", "--model", "openai-api/ours/scripted")
    inspect = Path(sys.executable).with_name("inspect")
    with ScriptedServer() as server:
        subprocess.run(
            [str(inspect), *words, *more, "--display", "none", "--log-dir", str(tmp_path)],
            env={**os.environ, "OURS_BASE_URL": server.base_url, "OURS_API_KEY": "none"},
            check=True,
        )
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    assert log.status == "success"
    assert [sample.scores["game"].value["steps"] for sample in log.samples] == [3.0, 3.0]
    assert log.eval.metadata["env"] == "Fetch?level=easy&max_steps=3"


def test_every_environment_has_a_task() -> None:
    names = (*ENVIRONMENTS.builtin(), "Panel")
    assert [*tasks] == [name.lower() for name in names]
    for task in (tasks["fetch"](split="train"), tasks["cleaning"](split="valid", level="standard")):
        assert len(task.dataset) > 0


def test_unknown_names_fail_before_any_sample() -> None:
    for wrong in ({"memory": "nothing"}, {"split": "exam"}, {"prompts": "all"}, {"level": "x"}):
        with pytest.raises(UnknownNameError, match="unknown"):
            tasks["fetch"](**wrong)
