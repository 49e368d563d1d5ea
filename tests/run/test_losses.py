"""The games that cost a memory most are those that the best memory played better."""

from __future__ import annotations

from gym_memory.core.names import Spec
from gym_memory.evaluate.rank.losses import lost_games
from gym_memory.evaluate.rank.suite import SuiteCell
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.losses import losses
from gym_memory.run.results.score import Unit, units

SCORES = {
    "none": (0.0, 0.0, 0.0, 0.0),
    "./mine.py:Mine": (1.0, 0.2, 0.5, 0.9),
    "arigraph": (1.0, 1.0, 0.9, 0.8),
    "history": (0.1, 0.4, 0.2, 0.3),
    "oracle": (1.0, 1.0, 1.0, 1.0),
}


def played(*memories: str) -> list[Unit]:
    return units(
        EpisodeRow(
            Job(Spec("Fetch"), Spec(memory), Spec("planner"), seed),
            0,
            EpisodeResult(f"house/{seed}", score=score, max_score=1.0, normalized=score),
        )
        for memory in memories
        for seed, score in enumerate(SCORES[memory])
    )


def test_own_memory_loses_its_costliest_games_first() -> None:
    found = losses(played(*SCORES))
    assert [(loss.unit.memory, loss.unit.seed) for loss in found] == [
        ("./mine.py:Mine", 1),
        ("./mine.py:Mine", 2),
    ]
    assert {loss.best.memory for loss in found} == {"arigraph"}
    assert round(found[0].cost, 6) == 0.8


def test_own_memory_that_is_best_shows_its_lost_games() -> None:
    found = losses(played("none", "./mine.py:Mine", "oracle"))
    assert found == []  # it lost none

    (lost,) = losses(played("none", "history", "./mine.py:Mine"))
    assert (lost.unit.memory, lost.best.memory, lost.unit.seed) == ("./mine.py:Mine", "history", 1)


def test_without_own_memories_all_but_the_best_lose() -> None:
    found = losses(played("none", "arigraph"))
    assert [loss.unit.seed for loss in found] == [0, 1, 2]


def test_failed_games_are_no_lost_games() -> None:
    crashed = [unit._replace(failed="KeyError: 'kitchen'") for unit in played("none")]
    assert losses([*crashed, *played("arigraph")]) == []


def test_one_memory_loses_nothing() -> None:
    assert losses(played("none")) == []


def test_rank_names_game_and_the_command_that_shows_it() -> None:
    def cell(scores: tuple[float, ...], budget: int) -> SuiteCell:
        tasks = ("a/0", "a/1")
        return SuiteCell("play", "Fetch", "planner", budget, tasks, scores, 9, 90, 0, 0, {}, 0.1)

    ours, theirs = [cell((0.5, 1.0), 200), cell((0.9, 1.0), 1000)], [
        *(cell((1.0, 1.0), 200), cell((1.0, 1.0), 1000)),
    ]  # fmt: skip
    (game,) = lost_games({"./mine.py:Mine": ours}, "arigraph", theirs)
    assert (game.task, game.budget, game.score, game.best_score) == ("a/0", 200, 0.5, 1.0)
    command = game.command("results/why-1")
    assert command.startswith("gym-memory compare -e Fetch -m arigraph -m ./mine.py:Mine")
    assert command.endswith("; gym-memory view results/why-1 --episode 0 --episode 1")
