"""ReasoningBank, AWM, ExpeL and ACE: each formula by a worked example, rules and model alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from stream import LOST, WAY, WON, begin, items, made, play
from work import calls

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory import Memory, make_memory
from gym_memory.memory.experience.expel import ExpelRule, edit_rules
from gym_memory.memory.experience.items import Item, Origin
from gym_memory.memory.experience.playbook import PlaybookCounts, tag_bullets
from gym_memory.memory.experience.reasoningbank import extract_items
from gym_memory.memory.experience.workflows import fill_slots, induce_workflows
from gym_memory.testing.chat import Faults, ScriptedServer

DETOUR = ("go to shelf 2", "look", "look", "take potato 1 from fridge 1")
NAMES = ("reasoningbank", "workflows", "expel", "playbook", "evotest", "amem")


def lessons(memory: Memory) -> list[str]:
    return [text.partition(". ")[2] for text in memory.recall(Cue(""), 10_000).lessons]


# --- ReasoningBank ------------------------------------------------------------------------------


def trace(*steps: tuple[str, str, float]) -> list[Step]:
    """Return steps of (action, answer, reward) after a reset; only news change the valid ones."""
    seen, found = {""}, [Step(0, "A hall.", valid_actions=("look",))]
    for t, (action, answer, reward) in enumerate(steps, 1):
        seen.add(answer)
        found.append(Step(t, answer, action, reward, "", ("look", str(len(seen)))))
    return found


def test_reasoningbank_names_the_refused_action_and_the_remedy() -> None:
    steps = trace(("open box 1", "It is locked.", 0), ("look", "A hall.", 0),
                  ("open box 1", "It is locked.", 0), ("unlock box 1", "Click.", 0),
                  ("open box 1", "It is open now.", 0))  # fmt: skip
    locked = [steps[0], *(s._replace(valid_actions=("look",)) for s in steps[1:4]), *steps[4:]]
    (text,) = extract_items(locked, LOST, Task("", "find the key"))
    assert 'Do not do "open box" again: 2 times it changed nothing.' in text
    assert text.endswith('\nDo "unlock box" first.')
    for outcome, answer in ((LOST, "A room."), (WON, "A hall.")):
        steps = [step._replace(valid_actions=()) for step in trace(("go", answer, 0))]
        assert extract_items(steps, outcome, Task("", "")) == []


def test_reasoningbank_shows_all_items_of_the_nearest_task() -> None:
    memory = made("reasoningbank")
    play(memory, "put potato in shelf", WON)
    play(memory, "heat some egg", LOST, DETOUR)
    play(memory, "put potato in shelf", LOST, DETOUR)
    begin(memory, "put potato in sink")
    # Both past tasks are equally near; the latest counts.
    assert [text.split("\n")[1].split(".")[0].split(":")[0] for text in lessons(memory)] == [
        "Leave what is refused"
    ]
    both = made("reasoningbank", tasks=2)
    both.load_state(memory.state())
    begin(both, "put potato in sink")
    assert [text.split("\n")[1].split(".")[0].split(":")[0] for text in lessons(both)] == [
        "Leave what is refused", "Keep the order that won"]  # fmt: skip


# --- AWM ----------------------------------------------------------------------------------------


def test_workflows_keep_one_trajectory_template_and_one_abstract_sequence() -> None:
    memory = made("workflows")
    play(memory, "put potato in shelf", LOST, DETOUR)
    assert items(memory) == []
    play(memory, "put potato in shelf", WON, ("go to shelf 2", *WAY))
    play(memory, "put mug in desk", WON,
         tuple(a.replace("potato", "mug").replace("shelf", "desk") for a in WAY))  # fmt: skip
    (flow,) = items(memory)
    abstract = "go(*) take(<1>, *) go(<2>) move(<1>, <2>)"
    assert flow.more == ("put <1> in <2>", abstract, "mug", "desk")
    assert len(flow.origins) == 2  # the shorter one replaced the longer
    play(memory, "move mug to desk", WON,
         tuple(a.replace("potato", "mug").replace("shelf", "desk") for a in WAY))  # fmt: skip
    assert len(items(memory)) == 1  # another template, the same abstract sequence
    play(memory, "examine mug", WON, ("take mug 1 from desk 1", "use lamp 1"))
    assert [item.more[0] for item in items(memory)] == ["put <1> in <2>", "examine <1>"]


def test_workflows_fill_their_slots() -> None:
    memory = made("workflows")
    play(memory, "put potato in shelf", WON)
    assert '"take red egg from fridge"' in begin(memory, "put red egg in bin")
    assert '"move red egg to bin"' in memory.recall(Cue(""), 500).text
    assert '"take potato from fridge"' in begin(memory, "heat potato")  # the example
    assert (
        fill_slots("<1> <2>", "move <1> to <2> and <1>", ("a", "b"), "move x to y and x") == "x y"
    )
    assert (
        fill_slots("<1> <2>", "move <1> to <2> and <1>", ("a", "b"), "move x to y and z") == "a b"
    )


def test_a_workflow_has_two_steps() -> None:
    one = [Step(0, "A hall."), Step(1, "Won.", "take key", 1.0, done=True)]
    assert induce_workflows(one, Task("", "find the key")) == []


# --- ExpeL --------------------------------------------------------------------------------------


def counters(rules: list[ExpelRule]) -> dict[str, int]:
    return {rule.text: rule.counter for rule in rules}


def test_operations_of_expel_in_their_order() -> None:
    rules = [ExpelRule("A.", 3), ExpelRule("B.", 2), ExpelRule("C.", 1)]
    edits = [("ADD", 0, "D."), ("EDIT", 2, "E."), ("AGREE", 1, ""), ("REMOVE", 3, "")]
    assert edit_rules(rules, edits, 20) == [
        ExpelRule("A.", 4, 0), ExpelRule("E.", 3, 1), ExpelRule("D.", 2, None)]  # fmt: skip


def test_a_counter_that_reaches_zero_deletes_the_rule() -> None:
    rules = [ExpelRule("A.", 2)]
    assert counters(edit_rules(rules, [("REMOVE", 1, "")], 20)) == {"A.": 1}
    assert edit_rules(rules, [("REMOVE", 1, ""), ("REMOVE", 1, "")], 20) == []
    # All operations come before the deletion.
    back = [("REMOVE", 1, ""), ("REMOVE", 1, ""), ("AGREE", 1, "")]
    assert counters(edit_rules(rules, back, 20)) == {"A.": 1}


def test_removal_takes_three_from_list_that_is_five_over() -> None:
    rules = [ExpelRule(f"{n}.", 4) for n in range(24)]
    assert edit_rules(rules, [("REMOVE", 1, "")], 20)[-1] == ExpelRule("0.", 3, 0)
    rules.append(ExpelRule("24.", 4))
    assert edit_rules(rules, [("REMOVE", 1, "")], 20)[-1] == ExpelRule("0.", 1, 0)


def test_expel_guards_its_operations() -> None:
    rules = [ExpelRule("Look.", 2), ExpelRule("Go.", 2)]
    # An EDIT that contains a rule agrees with that rule, whatever its number.
    assert counters(edit_rules(rules, [("EDIT", 2, "First: Look.")], 20)) == {"Look.": 3, "Go.": 2}
    for dropped in (("ADD", 0, "Look."), ("ADD", 0, "No stop"), ("EDIT", 1, "No stop"),
                    ("AGREE", 3, ""), ("AGREE", 0, "")):  # fmt: skip
        assert counters(edit_rules(rules, [dropped], 20)) == {"Look.": 2, "Go.": 2}


def test_expel_mines_agrees_and_removes() -> None:
    memory = made("expel")

    def rules() -> dict[str, float]:
        return {i.text[15:-1]: i.utility for i in items(memory) if i.kind == "rule"}

    play(memory, "put potato in shelf", LOST, DETOUR)
    assert rules() == {}
    play(memory, "put potato in shelf", WON)
    assert rules() == {'"go to fridge"': 2, '"move potato to shelf"': 2}
    play(memory, "put potato in sink", WON, ("go to fridge 1", "take potato 1 from fridge 1"))
    assert rules() == {'"go to fridge"': 3, '"move potato to shelf"': 2}
    play(memory, "heat egg", LOST, ("go to fridge 2", "move potato 1 to shelf 1"))
    play(memory, "heat egg", LOST, ("move potato 2 to shelf 1", "look"))
    assert rules() == {'"go to fridge"': 2}
    begin(memory, "put potato in shelf")
    shown = lessons(memory)
    assert shown[0].startswith("Goal: put potato in shelf.")
    assert shown[1].startswith("Goal: put potato in sink.")  # two examples, then the rules
    assert shown[2] == 'It helps to do "go to fridge".'


def test_expel_compares_eight_successes() -> None:
    memory = made("expel", chunk=3)
    for n, extra in enumerate(("look", "wait", "jump")):
        play(memory, f"goal {n}", WON, (extra, *WAY))
    found = [item for item in items(memory) if item.kind == "rule"]
    assert [item.text for item in found] == [
        'It helps to do "go to fridge".', 'It helps to do "take potato from fridge".']  # fmt: skip


def test_expel_shows_the_shortest_success_of_a_task() -> None:
    memory = made("expel", k=1)
    play(memory, "put potato in shelf", WON, ("go north", *WAY))
    play(memory, "put potato in shelf", WON)
    begin(memory, "put potato in shelf")
    assert '"go north"' not in lessons(memory)[0]


# --- ACE ----------------------------------------------------------------------------------------


def test_bullets_are_tagged_by_use() -> None:
    steps = [Step(0, "", valid_actions=("eat mug 1", "take mug 1")), Step(1, "", "take mug 1")]
    bullets = {
        "str-00001": 'Do "take mug" first.',
        "mis-00002": 'Do not do "eat mug" again.',
        "mis-00003": 'Do not do "take mug".',
        "str-00004": 'Do "open box".',
        "mis-00005": 'Do not do "open box".',
    }
    used = ["str-00001", "mis-00002"]
    assert tag_bullets(steps, WON, Task("", ""), bullets) == dict.fromkeys(used, "helpful")
    assert tag_bullets(steps, LOST, Task("", ""), bullets) == dict.fromkeys(used, "harmful")


def test_a_playbook_counts_its_bullets() -> None:
    memory = made("playbook")
    for outcome in (WON, WON, LOST):
        play(memory, "put potato in shelf", outcome)
    (bullet,) = [item for item in items(memory) if item.kind == "workflows"]
    assert bullet.more == ("1", "1")
    assert memory.counts() == PlaybookCounts(0, 1, 1, 2)


@pytest.mark.parametrize(
    ("uses", "counts"),
    [((6, 1), (1, 0, 0, 1)), ((6, 2), (0, 0, 0, 1)), ((5, 0), (0, 0, 0, 1)),
     ((2, 2), (0, 1, 0, 1)), ((0, 3), (0, 0, 0, 1)), ((0, 0), (0, 0, 1, 1))],
)  # fmt: skip
def test_statistics_of_a_playbook(uses: tuple[int, int], counts: tuple[int, ...]) -> None:
    memory = made("playbook")
    memory.bank.add(Item("x", "x", more=tuple(map(str, uses))))
    assert memory.counts() == counts


def test_bullets_of_similarity_nine_tenths_merge_into_the_first() -> None:
    memory = made("playbook")
    goals = ("a b c d", "l m", "a b c x", "a b y x")
    for goal in goals:
        play(memory, goal, WON, ["go"])  # Goal: GOAL. Keep the order that won: "go".
    # 10 of 11 words in common: .91 joins; 9 of 11, .82, does not.
    assert [item.goal for item in items(memory)] == [goals[0], goals[1], goals[3]]


def test_best_bullets_are_shown_if_not_all_fit() -> None:
    memory = made("playbook", inner="none")
    for text, harmful in (("find the lamp", 4), ("eat the lamp", 0), ("find the key", 1)):
        memory.bank.add(Item(text, text, more=("1", str(harmful))))
    begin(memory, "find the lamp")
    # The nearest would be the first, but it did more harm than good.
    assert lessons(memory) == ["eat the lamp", "find the key", "find the lamp"]
    assert [text[3:] for text in memory.recall(Cue(""), 20).lessons] == ["eat the lamp"]


# --- all of them --------------------------------------------------------------------------------


def stream(memory: Any, chance: int = 0) -> None:
    for n in range(6):
        won = (n + chance) % 3 != 0
        play(memory, f"put {'potato' if n % 2 else 'mug'} in shelf", WON if won else LOST,
             WAY if won else DETOUR, f"house/{n % 3}")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_model_writes_and_rules_replace_failed_calls(name: str) -> None:
    with ScriptedServer(faults=Faults(["", "500", ""])) as server:
        model = OpenAIChat("scripted", server.base_url, retries=0, backoff=0.01)
        more = {} if name == "amem" else {"inner": "none"}
        memory = make_memory(name, **{"llm": model, "lifetime": "forever", **more})
        stream(memory)
        begin(memory, "put mug in shelf")
    stats = memory.stats()
    assert stats.extraction_calls >= 2
    assert stats.fallbacks == 1
    assert stats.lessons or stats.episodes
    assert memory.recall(Cue("You do look"), 1000).text
    other = make_memory(name, **{"lifetime": "forever", **more})
    other.load_state(json.loads(json.dumps(memory.state())))
    assert json.dumps(other.state()) == json.dumps(memory.state())


@pytest.mark.parametrize("name", NAMES[:-1])
def test_store_equals_the_object(name: str, tmp_path) -> None:
    path = str(tmp_path / "items.db")
    kept, own = made(name, lifetime="forever", store=path), made(name, lifetime="forever")
    for memory in (kept, own):
        stream(memory)
    other = made(name, lifetime="forever", store=path)
    assert begin(other, "put mug in shelf") == begin(own, "put mug in shelf")
    assert items(other) == items(own)
    frozen = made(name, lifetime="forever", store=path, learn=False)
    before = (tmp_path / "items.db").read_bytes()
    stream(frozen)
    assert (tmp_path / "items.db").read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_step_makes_at_most_five_calls_an_item(name: str) -> None:
    inner = {} if name == "amem" else {"inner": "none"}
    memory = make_memory(name, **{"lifetime": "forever", **inner})
    if name == "amem":
        memory.begin(Task("t", "g"), 0)
        for t in range(1000):
            memory.observe(Step(t, f"You are in room {t}. You see a red box {t % 7}.", "look"))
    else:
        kind = "gain" if name == "evotest" else "success"
        more = ("find <1>", "take(<1>) {}", "thing") if name == "workflows" else ()
        for n in range(1000):
            slots = tuple(part.format(n) for part in more)
            text, key = f'Do "take thing {n}".', f"find thing {n} in room {n % 9}"
            origins = (Origin("house", f"house/{n}"),)
            memory.bank.add(Item(text, key, kind, more=slots, origins=origins))
        begin(memory, "find thing 3")  # encodes the keys, once
        memory.begin(Task("t", "find thing 5", "alfworld"), 0)

    def play_steps() -> None:
        for t in range(20):
            memory.observe(Step(t, f"You see thing {t} on the shelf.", "look" if t else ""))
            memory.recall(Cue("You see thing 4"), 1000)

    assert calls(play_steps) < 20 * 5 * 1000


# --- EvoTest and A-MEM have files of their own: test_evotest.py, test_amem.py -------------------


def test_unknown_outcomes_are_failures() -> None:
    memory = made("workflows")
    play(memory, "put potato in shelf", Outcome(0.0, 0.0, 0.0, False, False, 3))
    assert items(memory) == []
