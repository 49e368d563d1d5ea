"""The report of a stream, on jobs whose numbers are known by hand."""

from __future__ import annotations

from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.pages import file_name_of
from gym_memory.run.results.score import Unit, units
from gym_memory.run.results.streams import (
    is_stream,
    stream_figures,
    stream_sentences,
    stream_tables,
    transfer_sentences,
)
from gym_memory.run.streams import Stream

SPEC = "stream?tasks=10&shown=2&again=2&tests=E&probe=3"
TURNS = Stream(tasks=10, shown=2, again=2, tests="E", probe=3).turns


def job(memory: str, values: dict[str, float], seed: int, *, changed: bool = False) -> list[Unit]:
    """Return a job whose episodes have the value of their phase; late ones win more."""
    rows = []
    for n, turn in enumerate(TURNS):
        value = values.get(turn.phase, 0.0)
        if turn.phase == "learn" and turn.place >= 6:
            value = values["second"]
        learns = turn.phase in ("shown", "learn")
        counters = {"store_items": float(learns), "store_bytes": 100.0 * learns,
                    "store_changed": float(learns or changed)}  # fmt: skip
        task = f"{turn.world}/{turn.place}"
        result = EpisodeResult(task, score=value, max_score=1.0, normalized=value,
                               counters=counters)  # fmt: skip
        rows.append(EpisodeRow(Job("D", memory, "p", seed, SPEC), n, result))
    return units(rows)


def own() -> list[Unit]:
    found = []
    for seed in (0, 1):
        found += job("none", {"second": 0.0}, seed)
        best = {"learn": 0.0, "second": 1.0, "again": 1.0, "test": 1.0}
        found += job("memrl", best, seed, changed=seed == 1)
        found += job("exprag", {"second": 0.0}, seed)
    return found


def cells(title: str) -> dict[str, dict[str, str]]:
    """Return the rows of a table by their memory."""
    table = next(t for t in stream_tables(own()) if t.title.startswith(title))
    at = table.heads.index("memory")
    return {row[at]: dict(zip(table.heads, row, strict=True)) for row in table.rows}


def test_score_has_both_halves() -> None:
    row = cells("Score")["`memrl`"]
    assert row["n"] == "16"
    means = [row[head].split()[0] for head in ("learning", "first half", "second half", "again")]
    assert means == ["0.50", "0.00", "1.00", "1.00"]
    assert "late" not in row, "no task is played late"


def test_gains_are_paired() -> None:
    row = cells("Gain")["`memrl`"]
    assert row["over none"].startswith("+0.50 [")
    assert row["over exprag"].startswith("+0.50 [")
    assert row["again over fresh"].startswith("+1.00 [")
    assert row["again over first time"].startswith("+0.50 [")
    assert cells("Gain")["`none`"]["over none"] == ""


def test_the_store_grows_and_changes_while_reading_are_counted() -> None:
    row = cells("Store")["`memrl`"]
    assert (row["items"], row["kB"], row["changed while reading"]) == ("10", "1.0", "7 of 14")
    assert cells("Store")["`none`"]["changed while reading"] == "0 of 14"


def test_transfer_is_the_gain_over_none() -> None:
    by_env = cells("Transfer, by environment")
    assert by_env["`memrl`"]["E"].startswith("+1.00 [")
    assert by_env["`none`"]["E"].startswith("0.00 [")
    over = cells("Transfer: gain")["`memrl`"]
    assert over["in others"].startswith("+1.00 [")
    assert over["in the same environment"] == ""


def test_insignificant_memories_are_listed() -> None:
    assert stream_sentences(own()) == [
        "On D, `exprag` cannot be distinguished from `none`.",
        "On D, `none` cannot be distinguished from `exprag`.",
    ]
    assert transfer_sentences(own()) == [
        "Tested in others, `exprag` cannot be distinguished from `none`."
    ]


def test_figures_hold_the_numbers() -> None:
    curve, heat = stream_figures(own(), {"none": 0, "memrl": 1, "exprag": 2})
    assert len(curve.panels) == 1
    assert curve.panels[0].count('class="band') == 3
    assert "p,memrl,D,E,1.000000" in heat.csv
    assert len(heat.panels) == 3
    assert ">+1.00</text>" in heat.panels[1]


def test_a_failed_job_counts_with_0() -> None:
    whole, rest = own()[:2], own()[2:]
    cut = whole[1]._replace(episodes=whole[1].episodes[:6], failed="broken")
    row = next(t for t in stream_tables([whole[0], cut, *rest]) if t.title == "Score").rows[1]
    assert row[3:5] == ["16", row[4]]
    assert row[4].startswith("0.25 [")


def test_names_of_files_are_short() -> None:
    long = "stream?tests=" + "Cooking " * 40
    assert len(file_name_of(long)) < 200
    assert file_name_of(long) != file_name_of(long + "Cleaning")
    assert is_stream(long)
    assert not is_stream("streams")
