"""The explorer: distinct states, returns to the archive, improving trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_memory.baselines.rules.archive import Archive, Cell, Visit
from gym_memory.baselines.rules.explorer import Explorer, state_of
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Triple
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.run.protocols import make_protocol
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.fake_env import register_fake

register_fake()
ZORK = Path(__file__).parents[3] / "shared" / "data" / "stories" / "zork1.z3"


def seen(*facts: tuple[str, str, str], **more: Any) -> Observation:
    obs = {"text": "", "task": "", "inventory": "", "valid_actions": (), "memory": ""}
    triples = tuple(Triple(*fact) for fact in facts)
    return {**obs, "triples": triples, "episodes": (), "lessons": (), **more}  # type: ignore[typeddict-item]


HERE = ("you", "is in", "hall")


def test_state_is_place_with_contents_and_inventory() -> None:
    hall = seen(HERE, ("lamp", "is in", "hall"))
    assert state_of(hall) == state_of(seen(HERE, ("lamp", "is in", "hall"), text="Hall"))
    assert state_of(hall) != state_of(seen(HERE))
    assert state_of(hall) != state_of(seen(HERE, ("lamp", "is in", "hall"), inventory="a key"))
    assert state_of(hall) == state_of(
        seen(
            HERE, ("lamp", "is in", "hall"), ("den", "is east of", "hall"), ("cup", "is in", "den")
        )
    )


def test_return_treats_equal_views_of_place_as_one_state() -> None:
    def coarse(**more: Any) -> object:
        return state_of(seen(HERE, ("lamp", "is in", "hall"), **more), lucky={"gem"})

    here = coarse(valid_actions=("go",), inventory="a key")
    assert here == coarse(valid_actions=("go", "take lamp"), inventory="nothing")
    assert here != coarse(valid_actions=("go",), inventory="a gem")
    assert coarse() == state_of(seen(HERE, ("lamp", "is in", "hall")))


def test_without_facts_listed_actions_distinguish_states() -> None:
    assert state_of(seen(text="A", valid_actions=("go",))) == state_of(
        seen(text="B", valid_actions=("go",))
    )
    assert state_of(seen(text="A")) != state_of(seen(text="B"))


def cell(
    key: int,
    *options: str,
    score: float = 0.0,
    unexplored: frozenset[str] = frozenset(),
    dark: bool = False,
) -> Cell:
    made = Cell(key, "hall", unexplored, dark=dark)
    made.offer(options, Visit(score, (), (key,), None))
    return made


def test_value_counts_trajectories_and_untried_actions() -> None:
    archive = Archive(k=2)
    low, high, stuck, done = cell(1, "a"), cell(2, "b"), cell(3, "c"), cell(4)
    unexplored = cell(5, "north", unexplored=frozenset({"north"}))
    archive.cells = {one.key: one for one in (low, high, stuck, done, unexplored)}
    assert archive.promise(unexplored) == 2 * archive.promise(low)
    archive.record_attempt(10.0, (2, 3))
    assert archive.promise(high) > archive.promise(low)
    assert archive.promise(stuck) == 2 * archive.promise(high)
    assert archive.promise(done) == 0
    risky = cell(6, "x", "y")
    before = archive.promise(risky)
    archive.take(risky, "x")
    archive.record_loss(risky, "x")
    assert 0 < archive.promise(risky) < before / 4


def test_the_frontier_keeps_the_best_trajectories() -> None:
    archive = Archive(k=2)
    for best, trail in ((1.0, (1,)), (5.0, (2, 3)), (3.0, (4,)), (5.0, (2, 3, 6))):
        archive.record_attempt(best, trail)
    assert [(t.best, t.trail) for t in archive.frontier] == [(5.0, (2, 3, 6)), (3.0, (4,))]


def test_rewarded_action_at_similar_text_is_tried_first() -> None:
    archive = Archive(k=1)
    archive.record_gain(frozenset({"window", "house"}), "enter", 10.0)
    archive.record_attempt(10.0, (1,))
    here = cell(2, "climb", "enter")
    here.words = frozenset({"window", "open"})
    climb, enter = archive.weights(here, here.options, {})
    assert enter > climb
    less, more = archive.weights(cell(3, "x", "y"), ("x", "y"), {("", "y"): 10.0})
    assert more > less


def worth(archive: Archive, *actions: str, dark: bool = False) -> list[float]:
    here = cell(9, *actions, dark=dark)
    return archive.weights(here, actions, {})


def test_verb_decides_the_value_of_an_action() -> None:
    take, dance, put, throw, drop = worth(
        Archive(k=1), "take lamp", "dance", "put lamp on rug", "throw lamp at rug", "drop lamp"
    )
    assert take > dance > put > throw > drop
    assert not cell(7, "look", "inventory", "wait").options
    lit, moved = worth(Archive(k=1), "turn on lamp", "north", dark=True)
    assert lit > 10 * moved
    for actions, hopeless in (("north", "take lamp"), True), (("north", "light lamp"), False):
        assert Archive(k=1).is_hopeless(cell(8, *actions, dark=True)) is hopeless
        assert not Archive(k=1).is_hopeless(cell(8, *actions))


def test_rewarded_action_is_tried_on_other_things() -> None:
    archive = Archive(k=1)
    before = worth(archive, "put cup in case", "put cup in sack")
    assert before[0] == before[1]
    archive.record_gain(frozenset(), "put egg in case", 5.0)
    case, sack, egg = worth(archive, "put cup in case", "put cup in sack", "put egg in sack")
    assert case > sack
    assert egg > sack


def test_an_action_keeps_the_best_visit_that_offered_it() -> None:
    def visit(score: float, snapshot: str) -> Visit:
        return Visit(score, (), (1,), snapshot)

    room = Cell(1, "hall")
    assert room.offer(("sing", "open door"), visit(0.0, "shut")) == [
        ("", "sing"),
        ("", "open door"),
    ]
    assert room.offer(("sing", "north"), visit(0.0, "open")) == [("hall", "north")]
    del room.options["north"]  # taken
    assert room.offer(("sing", "north"), visit(5.0, "later")) == []
    assert {a: v.snapshot for a, v in room.visits.items()} == {
        "sing": "later", "open door": "shut", "north": "open",
    }  # fmt: skip
    assert room.score == 5.0


def test_better_visit_retries_actions_that_lead_on() -> None:
    def visit(score: float) -> list[str]:
        room.offer(("north", "sing", "jump"), Visit(score, (), (1,), None))
        return list(room.options)

    room = Cell(1, "hall")
    visit(0.0)
    room.options.clear()  # all taken
    room.ways.update({"north": 2, "sing": 1, "jump": 3})
    room.fatal.add("jump")
    assert visit(0.0) == []
    assert visit(1.0) == ["north"]


def test_extinguished_light_leaves_dark_until_a_move() -> None:
    policy, action = Explorer(), ""
    cells: list[Cell] = []
    policy.keep_state = lambda: None
    policy.reset({"task_id": "den"})
    for place, text, following in (
        ("den", "A den.", "drop lamp"),
        ("den", "The lamp goes out.", "eat pie"),
        ("den", "Eaten.", "light lamp"),
        ("den", "The lamp is on.", "throw lamp"),
        ("den", "The lamp smashes. The light is now out.", "north"),
        ("moor", "A moor.", "sing"),
    ):
        obs = seen(("you", "is in", place), text=text, valid_actions=(following,))
        assert policy.act(obs, {"score": 0.0}) == following
        known = policy.archive.cells
        cells.append(known[cells[-1].ways[action]] if cells else next(iter(known.values())))
        action = following
    assert [cell.dark for cell in cells] == [False, True, True, False, True, False]


def test_dark_without_light_promises_nothing() -> None:
    archive, lit, dark = Archive(k=1), cell(1, "north"), cell(2, "north", dark=True)
    assert archive.promise(dark) == 0 < archive.promise(lit)
    assert archive.promise(cell(3, "north", "light lamp", dark=True)) > 0


def test_new_answer_allows_to_repeat_an_action() -> None:
    policy, info = Explorer(), {"task_id": "one", "score": 0.0}
    policy.reset(info)

    def fight(text: str) -> str:
        return policy.act(seen(HERE, valid_actions=("hit orc",), text=text), info)

    assert fight("An orc.") == "hit orc"
    for text, left in (("You miss.", True), ("It staggers.", True), ("You miss.", False)):
        fight(text)
        assert policy.archive.tried["", "hit orc"] == (1 if left else 2)


@pytest.mark.slow
@pytest.mark.parametrize("restore", ["snapshot", "replay"])
def test_going_back_is_counted(restore: str) -> None:
    job = Job("FakeHouse", "arigraph", f"explorer?restore={restore}", 0, "interactions?steps=150")
    rows = [row.result for row in play_job(job)]
    counts = rows[-1].counters
    assert (counts["restored"] > 0) is (restore == "snapshot")
    assert (counts["replayed"] > 0, counts["restarted"] > 0) == (restore == "replay",) * 2
    assert sum(row.steps for row in rows) <= 150
    again = [row.result for row in play_job(job)]
    assert [(row.steps, row.curve, row.counters) for row in again] == [
        (row.steps, row.curve, row.counters) for row in rows
    ]


@pytest.mark.parametrize("memory", ["arigraph", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_a_house_is_won_by_exploring(seed: int, memory: str) -> None:
    spec = "interactions?steps=150"
    rows = [row.result for row in play_job(Job("FakeHouse", memory, "explorer", seed, spec))]
    assert rows[-1].success


@pytest.mark.slow
def test_trials_improve_without_going_back() -> None:
    spec, values = "evotest?k=12&steps=15&actions=true", []
    for seed in range(4):
        rows = [
            row.result for row in play_job(Job("FakeHouse", "arigraph", "explorer", seed, spec))
        ]
        assert [row.failed for row in rows] == [""] * 12
        assert not any(row.counters["restored"] for row in rows)
        values.append([row.value for row in rows])
        score = make_protocol(spec).summarize(rows).score
        assert score == pytest.approx(sum(values[-1]) / len(rows))
    early, late = (sum(sum(row[part]) for row in values) for part in (slice(6), slice(6, 12)))
    assert late > early + 2


def test_moves_follow_the_game_without_listed_actions() -> None:
    """TextWorld's games take only ``go north``; all other stories also take ``north``."""
    job = Job("FakeHouse", "arigraph", "explorer", 0, "evotest?k=3&steps=25")
    assert all(row.result.n_invalid < row.result.steps for row in play_job(job))
    for dialect, ways in (("textworld", {"go north", "go up"}), ("plain", {"north", "up"})):
        policy, tried = Explorer(), set()
        policy.reset({"task_id": "a/0", "dialect": dialect}, 0)
        for t in range(40):
            obs = seen(HERE, text=f"You see {t}.", inventory=str(t))
            tried.add(policy.act(obs, {"score": 0, "moves": t}))
        assert ways <= tried


def test_another_task_starts_with_an_empty_archive() -> None:
    policy = Explorer()
    policy.reset({"task_id": "one"})
    policy.archive.record_attempt(1.0, (1,))
    policy.reset({"task_id": "one"})
    assert policy.archive.frontier
    policy.reset({"task_id": "two"})
    assert not policy.archive.frontier


@pytest.mark.parametrize("bad", [{"frontier": 0}, {"patience": 0}, {"restore": "walk"}])
def test_bad_settings_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises((InvalidArgumentError, UnknownNameError), match=next(iter(bad))):
        Explorer(**bad)


@pytest.mark.slow
@pytest.mark.skipif(not ZORK.exists(), reason=f"no {ZORK.name}")
@pytest.mark.parametrize("seed", range(2))
def test_zork_gives_points_within_60_interactions(seed: int) -> None:
    job = Job(f"Jericho?path={ZORK}", "arigraph", "explorer", seed, "interactions?steps=60")
    results = [row.result for row in play_job(job)]
    assert max(value * result.max_score for result in results for _, value in result.curve) >= 10


@pytest.mark.slow
def test_a_model_plays_all_three_roles() -> None:
    with ScriptedServer() as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        spec = Spec.of("glow", {"llm": llm, "patience": 1})
        (row,) = play_job(Job("FakeHouse", "arigraph", spec, 0, "interactions?steps=60"))
    result = row.result
    assert result.failed == ""
    assert result.counters["restored"] > 0
    assert result.counters["fallbacks"] == 0
    for role in ("react", "glow_states", "glow_notes"):
        assert result.counters[f"llm_calls_{role}"] > 0


@pytest.mark.slow
def test_without_usable_answer_the_most_promising_state_is_chosen() -> None:
    with ScriptedServer(faults=Faults(rates={"unasked_text": 1.0})) as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        spec = Spec.of("glow", {"llm": llm, "patience": 3})
        (row,) = play_job(Job("FakeHouse", "none", spec, 0, "interactions?steps=20"))
    assert row.result.failed == ""
    assert row.result.counters["fallbacks"] > 0


def test_action_without_kept_visit_is_not_repeated() -> None:
    archive, here = Archive(k=1), cell(1, "north", "take lamp")
    for action in ("wait", "take lamp"):  # nothing leads back to where one waited
        archive.reoffer(here, action)
    assert "wait" not in here.options
    assert all(action in here.visits for action in here.options)


def test_text_before_a_loss_warns_of_the_next_one() -> None:
    archive = Archive(k=1)
    dark, darker, light = (cell(number, "north", "south") for number in range(3))
    dark.where, darker.where = "pit", "den"
    dark.words = darker.words = frozenset({"grue", "the"})
    light.words = frozenset({"the", "sun"})
    for _ in range(3):
        archive.take(light, "south")
    for action in ("north", "south"):
        archive.take(dark, action)
        archive.record_loss(dark, action)
    unlike = Cell(4, "den")
    unlike.offer(("north", "south"), Visit(0.0, (), (4,), None))
    assert archive.promise(darker) < archive.promise(unlike)
    assert archive.survival([("word", "grue")]) < archive.survival([("word", "the")]) < 1


def test_unknown_places_with_the_same_moves_are_one_state() -> None:
    def dark(*actions: str) -> object:
        text = "It is pitch black."
        return state_of(seen(("lamp", "is in", "den"), text=text, valid_actions=actions), lucky={})

    assert dark("north", "drop lamp") == dark("north", "drop rope", "look")
    assert dark("north", "drop lamp") != dark("south", "drop lamp")
