"""Results folders prepared by a stranger: no link is followed, and no read is endless."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from work import guarded

from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import open_to_append
from gym_memory.core.names import Spec
from gym_memory.draw.escape import without_tags
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.loop import EpisodeResult
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.run.results.verify import verify

CONFIG = RunConfig(("Fetch",), ("none",), ("random",), (0, 1))


def played(path: Path) -> Path:
    with ResultsFolder(path, CONFIG) as folder:
        for job in folder.todo():
            folder.append([EpisodeRow(job, 0, EpisodeResult())])
    return path


@pytest.mark.parametrize("name", [".lock", "logs/worker-0.log", "episodes.jsonl", "steps", "logs"])
def test_link_in_folder_is_not_written_through(tmp_path: Path, name: str) -> None:
    folder, victim = played(tmp_path / "run"), tmp_path / "victim"
    if name in ("steps", "logs"):
        victim.mkdir()
    else:
        victim.write_text("mine\n")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    with pytest.raises(ResultsError, match="cannot use"), ResultsFolder(folder, CONFIG):
        pass
    if name == ".lock":
        with pytest.raises(ResultsError, match="cannot use"):
            verify(folder)
    assert victim.is_dir() or victim.read_text() == "mine\n"
    assert not victim.is_dir() or list(victim.iterdir()) == []


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match=r"pipe or device|No such device"):
        guarded(lambda: open_to_append(tmp_path / "log"))


@pytest.mark.parametrize("command", ["view", "verify", "report"])
def test_many_jobs_are_refused_at_once(tmp_path: Path, command: str, capsys) -> None:
    folder = played(tmp_path / "run")
    record = json.loads((folder / "config.json").read_text())
    del record["crc"]
    record["envs"] = [f"Fetch?max_steps={n + 1}" for n in range(60)]
    record["seeds"] = list(range(3000))
    record["budget"] = list(range(1, 101))
    (folder / "config.json").write_text(json.dumps(record))
    words = [command, str(folder), *(["--html", str(tmp_path / "a.html")] * (command == "view"))]
    with pytest.raises(SystemExit) as end:
        guarded(lambda: main(words))
    assert end.value.code in (1, 2)
    out = "".join(capsys.readouterr())
    assert "at most 100000 jobs in a run, got 18000000" in " ".join(out.split())


@pytest.mark.parametrize("row", [{}, {"episode": 0}, {"episode": [], "t": 0}, [], 3, None])
@pytest.mark.parametrize("command", ["view", "export"])
def test_rows_of_another_kind_are_one_line(tmp_path: Path, command: str, row, capsys) -> None:
    folder = played(tmp_path / "run")
    (folder / "steps").mkdir()
    more = {**row, "t": 1, "memory": ""} if isinstance(row, dict) else row
    data = gzip.compress(f"{json.dumps(row)}\n{json.dumps(more)}\n".encode())
    for job in CONFIG.jobs():
        (folder / "steps" / job.steps_file).write_bytes(data)
    words = [command, str(folder), *(["--html", str(tmp_path / "a.html")] * (command == "view"))]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("error: ")


@pytest.mark.parametrize("seed", [1 << 63, 10**300])
def test_seed_beyond_64_bits_is_refused(seed: int, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "-e", "Fetch", "--seeds", str(seed)])
    assert end.value.code == 2
    assert "expected seed" in capsys.readouterr().err


def test_report_shows_names_as_text(tmp_path: Path) -> None:
    config = RunConfig(("Fetch?task=<img src=x>",), ("none",), ("random",), (0,), task_id="<b>")
    with ResultsFolder(tmp_path / "run", config) as folder:
        for job in folder.todo():
            folder.append([EpisodeRow(job, 0, EpisodeResult.failure("<script>", "<i>"))])
    write_report(tmp_path / "out", [read_source(tmp_path / "run")])
    text = (tmp_path / "out" / "report.md").read_text()
    assert "img src" in text
    assert text == without_tags(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://host/v1?api_key=S",
        "https://host/v1?x=1&access_token=S",
        "postgresql://host/db?sslpassword=S",
    ],
)
def test_key_in_url_is_refused_before_writing(tmp_path: Path, url: str, capsys) -> None:
    words = ["run", "-e", "Fetch", "-p", "react", "--model", "m", "--base-url", url]
    with pytest.raises(SystemExit) as end:
        main([*words, "--seeds", "0:1", "--out", str(tmp_path / "run")])
    assert end.value.code == 2
    assert "password or key" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_setting_of_tokens_beside_url_is_no_key() -> None:
    spec = Spec("stma?base_url=http://host/v1&history_tokens=4000&model=m")
    assert spec.kwargs["history_tokens"] == 4000
    with pytest.raises(InvalidArgumentError, match="password or key"):
        Spec("stma?base_url=http://host/v1&id_token=S&history_tokens=4000")


@pytest.mark.slow
def test_pool_removes_what_its_engines_leave(tmp_path: Path) -> None:
    """A killed game leaves its folder in the pool's, which ends with the pool."""
    from gym_memory.run.pool import Limits, WorkerPool

    with WorkerPool(1, limits_in_time=Limits(300.0), logs=tmp_path / "logs") as pool:
        left = Path(pool._temporary) / "left"
        left.write_text("x")
        (rows,) = pool.play(CONFIG.jobs()[:1])
        assert rows[0].result.failed == ""
        assert left.exists()
    assert not left.parent.exists()
