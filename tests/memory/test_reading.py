"""Every form of recalled text is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import guarded

from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.core.text import with_reward
from gym_memory.graph.schema import DIRECTIONS, OPPOSITE, direction_of, door_relation, way_relation
from gym_memory.memory.history import History
from gym_memory.memory.reading import (
    RELATIONS,
    LoggedAction,
    TranscriptStep,
    entry_head,
    fact_lines,
    fit_facts,
    item_line,
    listed_fact,
    logged_action,
    read_account,
    read_head,
    read_item,
    read_line,
    render_episode,
    render_facts,
    split_entries,
)
from gym_memory.memory.recall.past import dated_lines
from gym_memory.memory.roles.notes import describe, read_description
from gym_memory.memory.stores.episodes import Episode

# Without the letters that words of relations and descriptions are made of.
NAME = st.text("bcdfk1'- ", min_size=1, max_size=8).map(lambda text: " ".join(f"b{text}".split()))
FACT = st.builds(Triple, NAME, st.sampled_from(sorted(RELATIONS)), NAME)
TEXT = st.text("Bcdf1;:., ", max_size=12).map(lambda text: " ".join(f"B{text}.".split()))
SAID = st.builds(Triple, NAME, st.just("says"), TEXT)
STEP = st.integers(0, 500)
ACTION = st.one_of(st.just(""), NAME)
LINES = st.lists(TEXT, min_size=1, max_size=3).map("\n".join)
REWARD = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.25, -1e-07, 1e100])
ENTRY = st.builds(TranscriptStep, STEP, ACTION, LINES, REWARD)


def earned(entry: TranscriptStep) -> str:
    return with_reward(entry.text, entry.reward)


def stated(text: str) -> list[Triple]:
    return [fact for line in text.split("\n") for fact in read_line(line)]


@pytest.mark.slow
@given(st.lists(FACT | SAID, max_size=12))
def test_rendered_facts_are_read_back(facts: list[Triple]) -> None:
    assert stated(render_facts(facts)) == facts
    text, shown = fit_facts(facts, 40_000)
    assert stated(text) == list(shown) == facts
    assert read_account(text) == (tuple(facts), (), (), (), "")


@pytest.mark.slow
@given(st.lists(FACT | SAID, max_size=12), st.integers(0, 240))
def test_facts_cut_by_a_budget_are_read_back(facts: list[Triple], left: int) -> None:
    text, shown = fit_facts(facts, left)
    assert stated(text) == list(shown)


@given(st.lists(FACT | SAID, min_size=1, max_size=6))
def test_notes_items_and_lists_are_read_back(facts: list[Triple]) -> None:
    about = [fact._replace(subject=facts[0].subject) for fact in facts]
    ordered = [f for f in about if f.relation != "says"] + [
        f for f in about if f.relation == "says"
    ]
    assert stated("\n".join(fact_lines(facts[0].subject, about))) == ordered
    assert [read_item(item_line(f)) for f in facts] == facts
    assert stated("\n".join(map(listed_fact, facts))) == facts


@pytest.mark.slow
@given(st.lists(ENTRY, max_size=6), st.lists(FACT, max_size=3))
def test_episodes_below_facts_are_read_back(
    entries: list[TranscriptStep], facts: list[Triple]
) -> None:
    episodes = [render_episode(Episode(0, e.t or 0, earned(e), e.action)) for e in entries]
    text = "\n".join([render_facts(facts), *episodes] if facts else episodes)
    assert split_entries(text) == (render_facts(facts), entries)
    account = read_account(text)
    assert (account.facts, account.entries) == (tuple(facts), tuple(entries))


@pytest.mark.slow
@given(st.lists(ENTRY, min_size=1, max_size=6))
def test_a_history_is_read_back(entries: list[TranscriptStep]) -> None:
    memory = History()
    memory.begin(Task("house/0", "Eat."), 0)
    steps = [e._replace(action=e.action if t else "") for t, e in enumerate(entries)]
    steps[0] = steps[0]._replace(reward=0.0)
    for t, entry in enumerate(steps):
        memory.observe(Step(t, earned(entry), entry.action or "wait" * bool(t)))
    before, read = split_entries(memory.recall(Cue("now"), 10_000).text)
    assert before == steps[0].text
    assert read == [TranscriptStep(None, e.action or "wait", e.text, e.reward) for e in steps[1:]]


@given(st.integers(0, 500) | st.none(), ACTION)
def test_heads_of_entries_are_read_back(t: int | None, action: str) -> None:
    head = read_head(entry_head(t, action))
    assert head == (None if t is None and not action else TranscriptStep(t, action))


@pytest.mark.slow
@given(st.lists(st.tuples(STEP, FACT), max_size=8))
def test_dated_facts_are_read_back(dated: list[tuple[int, Triple]]) -> None:
    assert read_account(dated_lines(dated, 10_000)).dated == tuple(dated)


NOWHERE = st.just("")
LOGGED = st.builds(LoggedAction, STEP, NAME, NOWHERE, NOWHERE)
MOVED = st.builds(LoggedAction, STEP, NAME, NAME, NAME)


@pytest.mark.slow
@given(st.lists(LOGGED | MOVED, min_size=1, max_size=8))
def test_a_log_of_actions_is_read_back(actions: list[LoggedAction]) -> None:
    text = "\n".join(["Completed actions:", *map(str, actions)])
    assert read_account(text).actions == tuple(actions)
    assert read_account(text.replace("Completed", "Other")).actions == ()


STATE = st.sampled_from(["open", "closed", "fried"])
PLACED = st.builds(Triple, NAME, st.sampled_from(["is in", "is on", "is under"]), NAME)
WAY = st.builds(Triple, NAME, st.sampled_from(DIRECTIONS).map(way_relation), NAME)
EXIT = st.builds(Triple, NAME, st.just("has exit"), st.sampled_from(DIRECTIONS))
DOOR = st.builds(Triple, NAME, st.sampled_from(DIRECTIONS).map(door_relation), NAME)


@pytest.mark.slow
@given(st.lists(PLACED | WAY | EXIT | DOOR, max_size=10), st.lists(STATE, max_size=3))
def test_a_description_is_read_back(facts: list[Triple], states: list[str]) -> None:
    """Each place has one way, one exit and one door in a direction, as in a graph."""
    slots = {
        (f.object, f.relation) if direction_of(f.relation) else
        (f.subject, f.relation, f.object) if f.relation == "has exit" else f[:2]: f
        for f in facts
    }  # fmt: skip
    kept = list(slots.values())
    named = [f.subject for f in kept if f.relation in ("is in", "is on", "is under")]
    kept += [Triple(named[0], "is", state) for state in dict.fromkeys(states) if named]
    read = set(read_description(describe(kept, Task("", ""))))
    assert set(kept) <= read
    back = {Triple(f.object, way_relation(OPPOSITE[d]), f.subject) for f in kept
            if (d := direction_of(f.relation))}  # fmt: skip
    exits = {Triple(f.subject, "has exit", d) for f in kept for d in DIRECTIONS
             if f.relation == door_relation(d)}  # fmt: skip
    assert read - set(kept) <= back | exits, "a door stands in an exit, a way leads back"


@pytest.mark.parametrize(
    "line",
    ["[step 3] apple: is in fridge", "> say: is in", "A note: says", "Room: pretty; is in house"],
)
def test_lines_without_present_facts_are_ignored(line: str) -> None:
    assert read_line(line) == ()


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    account = read_account(text)
    assert all(all(fact) for fact in account.facts)
    read_description(text)
    before, entries = split_entries(text)
    assert before in text
    assert all(entry.text in text for entry in entries)


def test_inputs_found_by_fuzzing_are_read_as_text():
    found = read_line("[hallis ,  ,  , is east of, kitchen]")
    assert all(part.strip() for fact in found for part in fact)
    guarded(lambda: logged_action("12. go east (hall" + " to " * 100_000))
