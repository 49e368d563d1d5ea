"""Ranking: honest memories pass the audit, cheating fails, ranks contain the truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import PLUGINS, import_plugin
from gym_memory.core.records import Triple
from gym_memory.evaluate.harm.game import attacks
from gym_memory.evaluate.rank import result
from gym_memory.evaluate.rank.card import Card, cards, correlation, played_alike, ranks
from gym_memory.evaluate.rank.page import lead_figure, main_table, page, sentences
from gym_memory.evaluate.rank.result import load_reference, same_for_all
from gym_memory.evaluate.rank.suite import SuiteCell, SuitePart, cells_of, load_suite
from gym_memory.evaluate.rank.textual import read_text
from gym_memory.run.play import play_job
from gym_memory.run.results.folder import ResultsFolder
from gym_memory.wrappers.make import make_env

ENV = "TreasureHunt?level=easy&split=test"
SUITE = load_suite("check")
EPISODES = ("check", "smoke", "standard", "full")
TIERS = (*EPISODES, "streams")

MEMORIES = '''
import gc
import gym_memory.memory.base as base
from gym_memory.core.records import Recall
from gym_memory.memory.base import truncate_tokens
from gym_memory.memory.external import AddSearch

class Mine(base.Memory):
    name = "mine"
    def __init__(self): self.lines = []
    def begin(self, task, seed): self.lines = []
    def observe(self, step): self.lines.append(step.text)
    def recall(self, cue, budget):
        return Recall(truncate_tokens("\\n".join(reversed(self.lines)), budget))
    def state(self): return {"lines": list(self.lines)}
    def load_state(self, state): self.lines = list(state["lines"])

class Peeks(Mine):
    """Finds the game among all objects of the process and recalls what only the engine knows."""
    def begin(self, task, seed):
        super().begin(task, seed)
        self.games = [o for o in gc.get_objects() if type(o).__name__ == "TreasureHunt"]
    def recall(self, cue, budget):
        facts = sorted(self.games[-1].oracle().facts) if self.games else []
        return Recall(truncate_tokens("; ".join(map(str, facts)), budget))

class Words:
    """A service that adds and searches."""
    def __init__(self): self.texts = []
    def add(self, text): self.texts.append(text)
    def search(self, query, k):
        wanted = set(query.lower().split())
        return sorted(self.texts, key=lambda t: -len(wanted & set(t.lower().split())))[:k]

class Behind(AddSearch):
    name = "behind"
    def _open(self): return Words()

HELD = []

class Hoards(Mine):
    """Keeps its lines in the module."""
    def begin(self, task, seed): HELD.clear()
    def observe(self, step): HELD.append(step.text)
    def recall(self, cue, budget): return Recall(truncate_tokens("\\n".join(HELD), budget))

SEEN = {}

class Returns(Mine):
    """Knows a game again that it played before in the same process."""
    def begin(self, task, seed): self.lines = list(SEEN.setdefault(task.id, []))
    def observe(self, step):
        super().observe(step)
        SEEN[next(reversed(SEEN))].append(step.text)

class Overflows(Mine):
    """Says little and hands over more typed facts than the budget takes."""
    def recall(self, cue, budget):
        from gym_memory.core.records import Triple
        return Recall("", tuple(Triple(f"thing {n}", "is in", "hall") for n in range(budget)))

class Credulous(Mine):
    """States as a fact what any text says of a place."""
    def recall(self, cue, budget):
        import re
        from gym_memory.core.records import Triple
        said = re.findall(r"The ([a-z ]+) is in the ([a-z ]+)[.]", " ".join(self.lines))
        return Recall("", tuple(Triple(thing, "is in", place) for thing, place in said))

class Tires(Mine):
    """Fails in its third episode."""
    name = "tires"
    lifetimes = {"begun": "forever", "lines": "episode"}
    def __init__(self): self.lines, self.begun = [], 0
    def begin(self, task, seed):
        self.lines, self.begun = [], self.begun + 1
        if self.begun == 3: raise ValueError("tired")
    def state(self): return {"lines": list(self.lines), "begun": self.begun}
    def load_state(self, state): self.lines, self.begun = list(state["lines"]), state["begun"]

class Fails(Mine):
    """Fails in its first step."""
    def observe(self, step): raise ValueError("failed")
'''


@pytest.fixture(scope="module", autouse=True)
def no_other_plugins() -> Iterator[None]:
    """Forget modules that other tests imported; a replay elsewhere would need them too."""
    before = dict(PLUGINS)
    PLUGINS.clear()
    yield
    PLUGINS.update(before)


@pytest.fixture(scope="module")
def own(no_other_plugins: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own.py"
    path.write_text(MEMORIES)
    import_plugin(str(path))
    return path


def played(
    measure: Any,
    memory: str,
    tmp: Path,
    protocol: str = "single_episode",
    faults: int = 0,
    env: str = ENV,
) -> list[SuiteCell]:
    part = SuitePart(measure, measure, [env], ["planner?encoder=hash"], "0", [300], protocol)
    config = part.config([memory], ())
    for plugin in config.plugins:
        import_plugin(plugin)
    tmp.joinpath("steps").mkdir()
    rows = []
    for job in config.jobs():
        record = tmp / "steps" / f"{job.config}-seed{job.seed}.jsonl.gz"
        rows += play_job(job, record=str(record))
    assert sum(bool(row.result.failed) for row in rows) == faults, rows[0].result.detail
    (cells,) = cells_of(part, rows, tmp / "steps").values()
    return cells


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Mine", ""),
        ("Behind", ""),
        ("Peeks", "reads the engine"),
        ("Hoards", "keeps some outside"),
        ("Returns", "knows other episodes"),
        ("Overflows", "exceeds the budget"),
    ],
)
def test_the_audit_finds_ways_to_cheat(own: Path, tmp_path: Path, name: str, fault: str) -> None:
    (card,) = cards(SUITE, {name: played("audit", f"{own}:{name}", tmp_path)})
    assert bool(card.faults) == bool(fault), card.faults
    assert fault in " ".join(card.faults)
    assert card.rank is None  # nothing was played to rank it by


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["arigraph", "rag", "summary?size=16000", "memrl"])
def test_our_memories_pass_the_audit(tmp_path: Path, memory: str) -> None:
    (cell,) = played("audit", memory, tmp_path)
    assert cell.marks["steps"][0] > 10
    assert [cell.marks[name] for name in ("over", "replay", "state")] == [(0,), (0,), (0,)]


@pytest.mark.slow
def test_budget_exceeded_in_play_counts_whatever_the_memory_reports(
    own: Path, tmp_path: Path
) -> None:
    (cell,) = played("play", f"{own}:Overflows", tmp_path)
    assert cell.marks["over"][0] > 10
    (card,) = cards(SUITE, {"x": [cell]})
    assert "exceeds the budget" in " ".join(card.faults)


@pytest.mark.slow
def test_all_memories_take_the_same_exam(tmp_path: Path) -> None:
    found = {}
    for memory in ("none", "arigraph"):
        (tmp_path / memory).mkdir()
        shown = f"{memory}?rewards=hidden" if memory == "none" else memory
        (found[memory],) = played("exam", shown, tmp_path / memory)
    none, graph = found["none"], found["arigraph"]
    assert (none.rewards, graph.rewards) == ("hidden", "shown")
    asked = [name for name in graph.marks if name.startswith("asked ")]
    assert asked
    assert {name: none.marks[name] for name in asked} == {name: graph.marks[name] for name in asked}
    assert none.steps == graph.steps
    assert graph.marks["right where"] > none.marks["right where"]
    assert graph.marks["bytes"] > none.marks["bytes"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "attack", "name", "believed"),
    [
        ("poison", "false place", "none", 0),
        ("poison", "false place", "Mine", 0),
        ("poison", "false place", "Credulous", 1),
        ("poison", "false place", "arigraph", 1),
        ("poison", "false place", "arigraph?trust=seen", 0),
        ("stale", "stale facts", "none", 0),
        ("stale", "stale facts", "arigraph", 1),
    ],
)
def test_card_lists_false_statements_of_a_memory(
    own: Path, tmp_path: Path, measure: Any, attack: str, name: str, believed: int
) -> None:
    memory = f"{own}:{name}" if name[0].isupper() else name
    cells = played(measure, memory, tmp_path, env=attack)
    (card,) = cards(SUITE, {memory: cells})
    column = {"stale": "stale", "poison": "poisoned"}[measure]
    assert {column: getattr(card, column).value} == {column: believed}
    header, lines = main_table([card])[1:]
    assert lines[0][header.index(column)].startswith(f"{believed}.00")


def test_attacks_of_the_ranking_state_something_false() -> None:
    listed = {name for part in SUITE.parts if part.measure == "poison" for name in part.envs}
    stating = {name for name, a in attacks().items() if (a.facts or a.answer) and not a.moved}
    assert listed == stating


STREAM = "stream?tasks=4&shown=1"
PLACEBO = "placebo?of=memrl"


@pytest.mark.slow
def test_a_stream_counts_the_tasks_that_the_policy_played(tmp_path: Path) -> None:
    suite = load_suite("streams")
    (cell,) = played("stream", "memrl", tmp_path, STREAM)
    assert (len(cell.tasks), len(cell.scores), cell.failed) == (3, 3, 0)
    assert cell.rewards == "shown"
    assert cell.marks["over"] == (0,)
    assert cell.marks["bytes"][0] > 100
    assert 0 < cell.tokens <= 300
    budgets = next(part.budgets for part in suite.parts if part.measure == "stream")
    audit = record(0.0)[-1]
    found = {
        name: [audit, *(replace(cell, budget=b, scores=(score,) * 3) for b in budgets)]
        for name, score in (("mine", 0.9), (PLACEBO, 0.2), ("none", 0.0))
    }
    mine = cards(suite, found)[0]
    assert (mine.memory, mine.rank) == ("mine", (1, 1))
    assert (mine.area.value, mine.score.value) == (0.9, 0.9)
    assert {name: gain.value for name, gain in mine.gains.items()} == {"none": 0.9, PLACEBO: 0.7}
    assert "Does the exam predict play" not in page(suite, [mine])  # nothing is asked


@pytest.mark.slow
def test_memory_that_fails_in_a_game_gets_its_card(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = SuitePart("play", "play", [ENV], ["planner?encoder=hash"], "0", [100, 300])
    config = part.config([f"{own}:Fails"], ())
    with ResultsFolder(tmp_path / "play", config) as folder:
        for job in config.jobs():
            folder.append(list(play_job(job)))
    shipped = {"games": {ENV: "hash of a game"}, "backends": {}, "memories": {}}
    monkeypatch.setattr(result, "load_reference", lambda tier: shipped)
    _, (card,) = result.build(tmp_path, SUITE._replace(parts=(part,)), "", "", alone=False)
    assert (card.failed, card.area.value) == (2, 0)


@pytest.mark.slow
def test_memory_that_fails_in_a_stream_has_no_rank(own: Path, tmp_path: Path) -> None:
    (cell,) = played("stream", f"{own}:Tires", tmp_path, STREAM, faults=1)
    assert (cell.tasks, cell.scores, cell.failed) == ((), (), 1)
    (card,) = cards(load_suite("streams"), {"x": [cell]})
    assert "failed in 1 streams" in card.faults
    assert card.rank is None


def test_text_is_read_without_the_readers_of_memories() -> None:
    text = (
        "Read:\nold key: opens safe; is on desk\nnote says: Go east: quickly.\nPlaces:\n"
        "- hall is east of kitchen.\n[lamp, is in, hall]\n"
        "You are in kitchen. From hall, west leads to kitchen. In fridge: egg, ham. "
        "You hold knife.\n"
        "[step 3] > go east\nThe hall is in ruins."
    )
    assert read_text(text) == (
        Triple("old key", "opens", "safe"),
        Triple("old key", "is on", "desk"),
        Triple("note", "says", "Go east: quickly."),
        Triple("hall", "is east of", "kitchen"),
        Triple("lamp", "is in", "hall"),
        Triple("you", "is in", "kitchen"),
        Triple("kitchen", "is west of", "hall"),
        Triple("egg", "is in", "fridge"),
        Triple("ham", "is in", "fridge"),
        Triple("knife", "is in", "inventory"),
    )


def games(scores: Any, worlds: int = 2) -> dict[tuple[str, str], float]:
    return {(f"w{n % worlds}", str(n)): float(score) for n, score in enumerate(scores)}


@pytest.mark.slow
def test_rank_ranges_cover_true_ranks_as_promised() -> None:
    truth = np.array([0.9, 0.8, 0.8, 0.55, 0.5, 0.2])
    best = [1 + int((truth > t).sum()) for t in truth]
    worst = [len(truth) - int((truth < t).sum()) for t in truth]
    rng = np.random.default_rng(7)
    held, told_apart, draws = np.zeros(len(truth)), 0, 150
    for _ in range(draws):
        hard = rng.normal(0, 0.15, 60)  # games differ, and all memories play the same ones
        scores = {
            str(i): games((rng.random(60) < np.clip(t + hard, 0, 1)) * 1.0)
            for i, t in enumerate(truth)
        }
        found = ranks(scores)
        for i in range(len(truth)):
            low, high = found[str(i)]
            held[i] += low <= best[i] and worst[i] <= high
        told_apart += found["5"] == (6, 6)
    assert (held / draws).min() >= 0.95
    assert told_apart / draws > 0.8


def test_tie_is_a_tie_and_order_does_not_matter() -> None:
    same = games([0.0, 1.0, 0.5, 0.75] * 5)
    low = games([0.0] * 20)
    found = ranks({"a": same, "b": dict(same), "c": low})
    assert found == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert ranks({"c": low, "b": same, "a": same}) == found


def cell(part: str, scores: list[float], budget: int, **more: Any) -> SuiteCell:
    env = more.pop("env", "E")
    tasks = tuple(f"{env}{n}" for n in range(len(scores)))
    marks = more.pop("marks", {"over": (0,) * len(scores)})
    return SuiteCell(part, env, "planner", budget, tasks, tuple(scores), 9, 9, 0, 0, marks, 1.0)


def record(score: float, right: int = 1, spread: float = 0.0) -> list[SuiteCell]:
    scores = [score + spread * (n % 2) for n in range(10)]
    marks = {"asked where": (4,) * 10, "right where": (right,) * 10, "bytes": (90,) * 10}
    return [
        *(cell("play", scores, b, env=env) for env in ("E", "F") for b in (300, 1000)),
        cell("exam", scores, 500, marks={**marks, "moments": (10,) * 10}),
        cell(
            "audit", [1.0], 300, marks={"over": (0,), "replay": (0,), "state": (0,), "steps": (5,)}
        ),
    ]


def test_card_lists_the_measures() -> None:
    made = {c.memory: c for c in cards(SUITE, {"none": record(0.2), "mine": record(0.8, 3)})}
    mine, none = made["mine"], made["none"]
    assert (mine.rank, none.rank, none.control != "") == ((1, 1), None, True)
    assert mine.area.value == pytest.approx(0.8)
    assert mine.area.n == 20
    assert mine.gains["none"].value == pytest.approx(0.6)
    assert none.gains["none"].value is None
    assert mine.gains["none"].n == 2  # worlds
    assert (mine.behind.value, none.behind.value) == (None, pytest.approx(0.6))
    assert mine.exam.value == pytest.approx(0.75)
    assert mine.abilities["what is"].value == pytest.approx(0.75)
    assert mine.abilities["how"].value is None
    assert mine.bytes == 9.0
    assert "none" in page(SUITE, list(made.values()))


def test_a_failed_audit_leaves_no_rank() -> None:
    unaudited = [c for c in record(1.0) if c.part != "audit"]
    made = {c.memory: c for c in cards(SUITE, {"a": unaudited, "b": record(0.5)})}
    assert made["a"].faults == ("the audit failed",)
    assert (made["a"].rank, made["b"].rank) == (None, (1, 1))


def test_the_correlation_counts_equal_memories_once() -> None:
    found = {f"m{n}": record(n / 10, n % 5) for n in range(1, 5)}
    assert correlation(cards(SUITE, found)).value == 1.0
    twice = {**found, "again": record(0.4, 4)}
    assert correlation(cards(SUITE, twice)).n == 4
    assert correlation(cards(SUITE, {"m": record(0.5)})).value is None


@pytest.mark.parametrize("tier", TIERS)
def test_a_tier_is_well_formed(tier: str) -> None:
    suite = load_suite(tier)
    wanted = {"play", "text", "exam", "audit", "stale", "poison"}
    if tier not in EPISODES:
        wanted = {"stream", "audit"}
    assert {part.measure for part in suite.parts} == wanted
    for part in suite.parts:
        assert part.config(["arigraph", *suite.controls], ()).jobs()
    assert {"stma?size=16000", "summary?size=16000", "history", "rag"} <= set(suite.memories)
    with pytest.raises(UnknownNameError, match="standard"):
        load_suite("standrad")


@pytest.mark.parametrize("tier", TIERS)
def test_shipped_results_are_of_the_same_games(tier: str) -> None:
    suite, reference = load_suite(tier), load_reference(tier)
    known = {m: [SuiteCell.from_json(c) for c in v] for m, v in reference["memories"].items()}
    if not known:
        pytest.skip(f"no results of the tier {tier} ship yet")
    assert len({same_for_all(cells) for cells in known.values()}) == 1
    assert set(reference["memories"]) == {*suite.controls, *suite.memories}
    made = cards(suite, known)
    best: Card = made[0]
    lines = main_table(made)[2]
    assert [line[0] for line in lines[:3]] == ["none", "placebo?of=memrl", best.memory]
    assert len(lines[0]) <= 8
    audited = [card for card in made if not card.control]
    assert not [card.faults for card in audited if card.faults]
    controls = {card.memory for card in made if card.faults and card.control}
    assert controls <= {"oracle", "shuffled"}  # reads the engine; exchanged names may be longer


def test_memories_of_a_group_are_one_line_where_they_play_alike() -> None:
    alike = {memory: record(0.5) for memory in SUITE.groups["memories over tasks"]}
    made = cards(SUITE, {**alike, "best": record(0.9, spread=0.05), "none": record(0.1)})
    assert [line[:2] for line in main_table(made)[2]] == [
        ["none", "control"], ["best", "1"], ["13 memories over tasks", "2"],
    ]  # fmt: skip
    first, group = sentences(made)
    assert (
        first == "Over 2 worlds, the lead of best over each other memory excludes 0: it is first."
    )
    assert group.startswith("13 memories over tasks play a first episode")
    apart = cards(SUITE, {**alike, "memrl": record(0.6)})
    assert {card.group for card in apart} == {""}


def test_results_without_a_mark_are_named() -> None:
    unmarked = [{k: v for k, v in asdict(c).items() if k != "rewards"} for c in record(0.5)]
    found = {"old": [SuiteCell.from_json(c) for c in unmarked], "new": record(0.2)}
    said = "Partly from before every memory saw what a step earned: play, exam of old."
    assert sentences(cards(SUITE, found))[-1] == said


def test_memory_is_first_only_if_worlds_agree() -> None:
    def played(*scores: float) -> list[SuiteCell]:
        by_world = zip("ABC", scores, strict=True)
        return [
            *(
                cell("play", [score] * 10, budget, env=env)
                for env, score in by_world
                for budget in (300, 1000)
            ),
            record(0)[-1],
        ]

    found = {"mine": played(0.9, 0.9, 0.9), "near": played(0.9, 0.9, 0.2)}
    found["far"] = played(0.2, 0.3, 0.2)
    made = cards(SUITE, found)
    assert (made[0].memory, made[0].rank) == ("mine", (1, 1))
    assert sentences(made) == [
        "No memory is surely first. Over 3 worlds, the lead of mine does not exclude 0 over near."
    ]
    points = lead_figure(made).csv.splitlines()[1:]
    assert len(points) == 6  # of two memories in three worlds
    assert [point.split(",")[-1] for point in points[:3]] == ["0", "0", "0.7"]


@pytest.mark.parametrize("tier", EPISODES)
def test_memory_of_a_group_stands_for_all_in_episodes(tier: str) -> None:
    suite, reference = load_suite(tier), load_reference(tier)["memories"]
    found = {m: [SuiteCell.from_json(cell) for cell in cells] for m, cells in reference.items()}
    groups = played_alike(suite, found)
    assert bool(groups) == bool(found)
    for members in suite.groups.values():
        assert set(members) <= set(load_suite("streams").memories)
        assert set(members) & set(suite.memories) == {members[0]}
        assert set(groups) in ({members[0]}, set())


def test_memories_of_a_group_recall_a_first_episode_alike() -> None:
    def recalls(memory: str) -> list[tuple[Any, ...]]:
        env = make_env("Fetch", memory=memory, budget=300)
        obs, shown = env.reset(seed=0)[0], []
        for t in range(12):
            shown.append((obs["memory"], obs["triples"], obs["episodes"], obs["lessons"]))
            obs = env.step(obs["valid_actions"][t % len(obs["valid_actions"])])[0]
        env.close()
        return shown

    (members,) = SUITE.groups.values()
    inner = recalls("history?window=5")
    assert len({text for text, *_ in inner}) == 12
    assert [name for name in (*members, PLACEBO) if recalls(name) != inner] == []


def without_clocks(folder: Path) -> Any:
    record = json.loads((folder / "rank.json").read_text())
    cells = [cell for cells in record["memories"].values() for cell in cells]
    assert [one.pop("ms") for one in (*record["cards"], *cells)]
    del record["crc"], record["manifest"]["code"]  # the code may change while this test runs
    return record


@pytest.mark.slow
def test_run_killed_twice_gives_the_same_card(own: Path, tmp_path: Path) -> None:
    def call(out: str, *more: str) -> subprocess.Popen[bytes]:
        words = ["rank", f"{own}:Mine", "--tier", "check", "--out", out, *more]
        command = [sys.executable, "-m", "gym_memory", *words]
        return subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    assert call("whole", "--workers", "2").wait(300) == 0
    total = len(list((tmp_path / "whole").glob("*/steps/*")))
    for share in (0.2, 0.6):
        running = call("killed", "--workers", "1")
        while running.poll() is None:
            if len(list((tmp_path / "killed").glob("*/steps/*"))) > share * total:
                os.kill(running.pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        assert running.wait() == -signal.SIGKILL
        time.sleep(0.5)  # its workers end with it
    assert call("killed", "--workers", "1").wait(300) == 0
    assert without_clocks(tmp_path / "killed") == without_clocks(tmp_path / "whole")
    command = [sys.executable, "-m", "gym_memory", "verify", "killed"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    path = tmp_path / "killed" / "play" / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))  # an episode is missing
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1
