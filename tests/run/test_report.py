"""Reports: contents, reproducibility, and refused mixtures."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections import Counter
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gym_memory.core.errors import ResultsError, UnknownNameError
from gym_memory.draw.figures import colours
from gym_memory.draw.svg import PALETTE, Line, line_figure, short_label
from gym_memory.memory import MEMORIES
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.pages import report_page
from gym_memory.run.results.report import build_report
from gym_memory.run.results.score import units


def write(
    path: Path, config: RunConfig, version: str = "engine 1", jobs: int | None = None
) -> None:
    """Write a results folder in which the graph memory is always better."""
    with ResultsFolder(path, config) as folder:
        folder.set_backends(dict.fromkeys(config.envs, version))
        for job in folder.todo()[:jobs]:
            folder.append(episodes(job))


def episodes(job: Job) -> list[EpisodeRow]:
    score = 0.25 + 0.25 * (job.memory == "graph") + 0.05 * job.seed
    trials = 3 if job.protocol.startswith("trials") else 1
    failed = "worker died of SIGKILL" if (job.policy, job.seed) == ("weak", 2) else ""
    return [
        EpisodeRow(
            job,
            trial,
            EpisodeResult(
                task_id=f"{job.env}/{job.seed}",
                normalized=score * (trial + 1) / trials,
                steps=20,
                tokens=123.4,
                curve=((0, 0.0), (10, score)),
                counters={"llm_calls": job.seed * (job.memory == "graph"), "retries": 0},
                failed=failed,
            ),
        )
        for trial in range(trials)
    ]


BOTH = ("House?split=test", "Maze")


def config(
    seeds: range = range(4),
    protocol: str = "single_episode",
    envs: tuple[str, ...] = ("Maze",),
    policies: tuple[str, ...] = ("random",),
) -> RunConfig:
    return RunConfig(envs, ("none", "graph"), policies, tuple(seeds), protocol)


FULL = config(envs=BOTH, policies=("random", "weak"))


@pytest.mark.slow
def test_report_shows_scores_differences_failures_and_command(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    rows = build_report([tmp_path], tmp_path)
    assert len(rows) == 8
    report = (tmp_path / "report.md").read_text()
    assert "| `Maze` | graph | random | 4 | 0 | 0.575 | [0.36, 0.77] | 0.00 | 20.0 |" in report
    assert "| graph | none | all |  | random | 8 | +0.250 | [+0.20, +0.30] | &lt; 0.001" in report
    assert "**4 of 32 jobs failed**" in report
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure") == 3
    for words in ("House, test", "0.575", "[0.36, 0.77]", "+0.250", "&lt; 0.001", "worker died"):
        assert words in page
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page
    assert report.count("worker died of SIGKILL") == 4
    assert FULL.command(str(tmp_path)) in report
    assert "engine 1" in report
    assert "Unfinished" not in report
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["complete"]
    assert (summary["n_jobs"], summary["n_failed"]) == (32, 4)
    assert summary["table"] == [row.to_json() for row in rows]


def marks(path: Path) -> Counter[str]:
    """Return the number of elements of each class in a picture."""
    found = ElementTree.fromstring(path.read_text(encoding="utf-8")).iter()
    return Counter(element.get("class", "").partition(" ")[0] for element in found)


def panels(path: Path) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [child for child in root if child.tag.endswith("svg")]


def test_plots_are_pictures_with_something_in_them(tmp_path: Path) -> None:
    write(tmp_path, config(protocol="trials?k=3"))
    build_report([tmp_path], tmp_path)
    names = {path.stem for path in tmp_path.glob("*.svg")}
    assert names == {"scores-trials-k-3", "steps-trials-k-3", "trials-trials-k-3"}
    report = (tmp_path / "report.md").read_text()
    assert all(f"({name}.svg)" in report for name in names)
    assert marks(tmp_path / "scores-trials-k-3.svg")["interval"] == 2
    for name, dots in (("steps-trials-k-3", 0), ("trials-trials-k-3", 6)):
        found = marks(tmp_path / f"{name}.svg")
        assert found["line"] == found["band"] == 2
        assert found["dot"] == dots + 2  # those of the legend


@pytest.mark.slow
def test_only_played_cells_have_a_panel(tmp_path: Path) -> None:
    """Two policies in a world each take as many panels as one policy in both worlds."""
    apart, one = tmp_path / "apart", tmp_path / "one"
    for env, policy in zip(BOTH, ("random", "weak"), strict=True):
        write(apart / env[:4], config(envs=(env,), policies=(policy,)))
    write(one / "both", config(envs=BOTH))
    build_report(sorted(apart.iterdir()), tmp_path / "a")
    build_report([one / "both"], tmp_path / "b")
    counts = [len(panels(tmp_path / out / "steps-single-episode.svg")) for out in ("a", "b")]
    assert counts == [2, 2]


def test_long_names_stay_inside_the_picture(tmp_path: Path) -> None:
    settings = "&".join(f"setting_{n}=some-long-value-{n}" for n in range(6))
    names = ("none", f"graph?{settings}")
    write(tmp_path, RunConfig(("Maze",), names, (f"agent?{settings}", "random"), (0, 1)))
    build_report([tmp_path], tmp_path)
    for path in tmp_path.glob("*.svg"):
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        for element in root:
            if element.tag.endswith("text"):
                characters = len(element.text or "")
                assert float(element.get("x", 0)) + 7 * characters < width + 7
                assert float(element.get("y", 0)) < height


def test_counters_above_zero_are_shown(tmp_path: Path) -> None:
    write(tmp_path, config())
    build_report([tmp_path], tmp_path)
    report = (tmp_path / "report.md").read_text()
    counted = report.split("### Counted by policies")[1].split("###")[0]
    assert "| policy | llm calls |" in counted
    assert "| `Maze` | graph | random | 1.5 |" in counted
    assert "none | random" not in counted


@pytest.mark.slow
def test_score_by_trial_is_shown_for_trials_alone(tmp_path: Path) -> None:
    write(tmp_path / "a", config(protocol="trials?k=3"))
    build_report([tmp_path / "a"], tmp_path / "a")
    report = (tmp_path / "a" / "report.md").read_text()
    assert "### Score by trial" in report
    assert "| `Maze` | graph | random | 0.192 [0.08, 0.41] | 0.383" in report
    write(tmp_path / "b", config())
    build_report([tmp_path / "b"], tmp_path / "b")
    assert "### Score by trial" not in (tmp_path / "b" / "report.md").read_text()


def test_the_same_rows_make_the_same_files(tmp_path: Path) -> None:
    write(tmp_path, config())

    def files() -> dict[str, bytes]:
        build_report([tmp_path], tmp_path)
        return {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}

    assert files() == files()


def test_unfinished_run_is_marked(tmp_path: Path) -> None:
    write(tmp_path, config(), jobs=5)
    build_report([tmp_path], tmp_path)
    assert "**Unfinished**: 5 of 8 jobs" in (tmp_path / "report.md").read_text()
    assert not json.loads((tmp_path / "summary.json").read_text())["complete"]


def test_a_run_without_episodes_has_a_report_too(tmp_path: Path) -> None:
    write(tmp_path, config(), jobs=0)
    assert build_report([tmp_path], tmp_path) == []
    assert "0 of 8" in (tmp_path / "report.md").read_text()


@pytest.mark.slow
def test_report_combines_folders(tmp_path: Path) -> None:
    write(tmp_path / "all", config(range(6)))
    write(tmp_path / "a", config(range(0, 3)))
    write(tmp_path / "b", config(range(3, 6)))
    together = build_report([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert together == build_report([tmp_path / "all"], tmp_path / "all")
    report = (tmp_path / "both" / "report.md").read_text()
    assert report.count("gym-memory compare") == 2


@pytest.mark.slow
def test_protocols_have_tables_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "a", config())
    write(tmp_path / "b", config(protocol="trials?k=3"))
    build_report([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    report = (tmp_path / "both" / "report.md").read_text()
    assert report.count("## Protocol ") == 2
    for part in report.split("## Protocol ")[1:]:
        assert part.count("| `Maze` | graph | random | 4 |") == 1


def test_an_episode_counts_once(tmp_path: Path) -> None:
    write(tmp_path / "a", config())
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with pytest.raises(ResultsError, match="an episode counts once"):
        build_report([tmp_path / "a", tmp_path / "b"], tmp_path / "both")


@pytest.mark.slow
def test_backend_versions_do_not_mix(tmp_path: Path) -> None:
    write(tmp_path / "a", config(range(3)))
    write(tmp_path / "b", config(range(3, 6)), version="engine 2")
    folders = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(ResultsError, match="scores of different versions are not comparable"):
        build_report(folders, tmp_path / "both")
    assert build_report(folders, tmp_path / "both", allow_version_mismatch=True)


@pytest.mark.slow
def test_another_baseline_of_the_differences(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    build_report([tmp_path], tmp_path, against="graph")
    report = (tmp_path / "report.md").read_text()
    assert "| none | graph | all |  | random | 8 | -0.250 |" in report
    assert "| weak | random | all | none |  |" in report
    with pytest.raises(UnknownNameError, match="unknown memory or policy 'grph'"):
        build_report([tmp_path], tmp_path, against="grph")


def test_missing_results_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="not a results folder"):
        build_report([tmp_path / "nothing"], tmp_path)
    write(tmp_path / "a", config())
    (tmp_path / "file").touch()
    with pytest.raises(ResultsError, match="cannot write a report"):
        build_report([tmp_path / "a"], tmp_path / "file")


def test_labels_are_short() -> None:
    assert short_label("Cooking?level=medium&split=test") == "Cooking\nmedium, test"
    assert short_label("Maze?size=3") == "Maze\nsize=3"
    assert short_label("Maze") == "Maze"


def test_no_two_memories_of_a_plot_look_alike() -> None:
    assert len(set(PALETTE)) == len(PALETTE) >= len(MEMORIES.builtin())
    assert len({*colours(MEMORIES.builtin()).values()}) == len(MEMORIES.builtin())
    style = (files("gym_memory.draw") / "static" / "style.css").read_text()
    for number, colour in enumerate(PALETTE):
        assert f"--c{number}: light-dark({colour}, " in style
        assert f".k{number} {{" in style


def test_a_memory_has_one_colour_in_all_pictures() -> None:
    every = colours([*MEMORIES.builtin(), "history?window=5"])
    for memory in ("none", "arigraph", "history"):
        assert colours([memory])[memory] == every[memory]
        assert colours(["mine", "history?window=5", memory])[memory] == every[memory]
    mine = colours(["mine"])
    assert colours(["none", "mine", "arigraph"])["mine"] == mine["mine"]
    assert colours(["arigraph", "mine", "none"])["mine"] == mine["mine"]


def test_an_interval_is_explained_where_all_games_were_won() -> None:
    def page(*scores: float) -> str:
        job = Job("Maze", "graph", "planner", 0)
        rows = [
            EpisodeRow(
                dataclasses.replace(job, seed=n), 0, EpisodeResult(task_id=str(n), normalized=score)
            )
            for n, score in enumerate(scores)
        ]
        return report_page(units(rows), [], [])

    assert "graph has only full scores on Maze, and yet an interval of [0.51, 1.00]: 4 games" in (
        page(1, 1, 1, 1)
    )
    assert "graph has only scores of 0 on Maze" in page(0, 0, 0)
    assert "and yet" not in page(1, 1, 0.5)


def test_markup_of_an_error_is_text_in_the_report(tmp_path: Path) -> None:
    config = RunConfig(("E",), ("none",), ("random",), (0,))
    failure = EpisodeResult.failure("<script>alert(1)</script> | a\u2028b & c &lt; ` <b> ``")
    with ResultsFolder(tmp_path, config) as folder:
        folder.append([EpisodeRow(folder.todo()[0], 0, failure)])
    build_report([tmp_path], tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert "<script" not in report
    assert "&lt;script>alert(1)&lt;/script> \\| a b & c &amp;lt; ` &lt;b> ``" in report


def test_name_in_code_is_not_escaped_in_the_report(tmp_path: Path) -> None:
    run = RunConfig(("E?a=1&b=2",), ("none",), ("random",), (0,))
    with ResultsFolder(tmp_path, run) as folder:
        folder.append([EpisodeRow(folder.todo()[0], 0, EpisodeResult(task_id="0"))])
    build_report([tmp_path], tmp_path)
    assert "| `E?a=1&b=2` |" in (tmp_path / "report.md").read_text()


@pytest.mark.slow
def test_replayed_failures_are_reported(tmp_path: Path) -> None:
    run = config(policies=("weak",))
    write(tmp_path, run)
    with ResultsFolder(tmp_path, run, retry_failed=True) as folder:
        for job in folder.todo():
            folder.append([EpisodeRow(job, 0, EpisodeResult(task_id=f"Maze/{job.seed}"))])
    rows = build_report([tmp_path], tmp_path)
    assert not any(row.n_failed for row in rows)
    report = (tmp_path / "report.md").read_text()
    assert "**2 failed episodes were played again**" in report
    assert report.count("worker died of SIGKILL") == 2
    assert json.loads((tmp_path / "summary.json").read_text())["n_replaced"] == 2


def test_names_of_close_points_hide_neither_names_nor_points() -> None:
    places = [(0.0, 1.0), (90.0, 1.0), (98.0, 1.0), (100.0, 1.0), (100.0, 0.99)]
    lines = [
        Line("e", f"memory{n}", "p", f"memory{n}", n, (place,)) for n, place in enumerate(places)
    ]
    panel = line_figure("f", "F", [("P", lines)], "tokens", "score", (0, 1)).panels[0]
    label = r'x="([\d.]+)" y="([\d.]+)" font-size="10.5">m'
    names = [(float(x), float(y)) for x, y in re.findall(label, panel)]
    dots = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', panel)]
    assert len(names) == len(dots) == len(places)
    for n, (x, y) in enumerate(names):
        assert not any(abs(y - b) < 11 and abs(x - a) < 42 for a, b in names[:n])
        assert not any(x < a < x + 42 and abs(y - 3.5 - b) < 7 for a, b in dots)
