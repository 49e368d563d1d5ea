"""Items and their bank: search, merges, state, and a store that several processes share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stream import LOST, WON, WORDS, begin, items, made, play, steps
from work import calls

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.experience.items import Bank, Item, Origin, script, write_lesson
from gym_memory.memory.stores.store import Store

MEMORIES = [
    "memp?key=facts",
    "memrl",
    "simutil",
    "skills?paired=never",
    "memp",
    "exprag",
    "exprecent",
]


def test_a_search_ranks_by_cosine_then_by_age() -> None:
    bank = Bank(WORDS)
    for key in ("mug shelf", "mug", "pan", "mug"):
        bank.add(Item(key, key, kind=key))
    found = bank.nearest("mug")
    assert [(near.item.id, round(near.similarity, 3)) for near in found] == [
        (2, 1.0), (4, 1.0), (1, 0.707), (3, 0.0),
    ]  # fmt: skip
    assert [near.item.id for near in bank.nearest("mug", 1)] == [2]
    assert [near.item.id for near in bank.nearest("mug", least=0.5)] == [2, 4, 1]
    assert [near.item.id for near in bank.nearest("mug", where=lambda i: i.kind == "pan")] == [3]


def test_a_search_follows_changes() -> None:
    bank = Bank(WORDS)
    one, two = bank.add(Item("a", "mug")), bank.add(Item("b", "pan"))
    bank.nearest("mug")
    bank.remove(one.id)
    bank.put(two._replace(key="mug"))
    assert [(near.item.id, near.similarity) for near in bank.nearest("mug")] == [(2, 1.0)]
    assert bank.add(Item("c", "pot")).id == 3, "no id is used again"


def test_a_merge_keeps_every_origin() -> None:
    bank = Bank(WORDS)
    bank.episode = 1
    first = bank.add(Item("a", "mug", origins=(Origin("house", "house/1"),)))
    bank.episode = 2
    merged = bank.merge(first, Item("b", "mug", origins=(Origin("house", "house/2"),)))
    assert [(o.task, o.run) for o in merged.origins] == [("house/1", 1), ("house/2", 2)]
    other = bank.add(Item("c", "mug", origins=(Origin("house", "house/3"),)))
    assert len(bank.merge(merged, other).origins) == 3
    assert list(bank.items) == [first.id]


def test_payloads_come_back_in_any_order() -> None:
    bank, twin = Bank(WORDS), Bank(WORDS)
    for key in ("mug", "pan"):
        bank.add(Item(key, key, actions=("go",), origins=(Origin("house", "house/1"),)))
    twin.load(json.loads(json.dumps(bank.payloads()))[::-1])
    assert twin.payloads() == bank.payloads()
    with pytest.raises(TypeError):
        twin.load([[1, 2]])
    wrong = bank.items[1]._replace(uses="3").payload()  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="uses"):
        twin.load([wrong])


def test_scripts_cut_repeats_of_numbered_things_only() -> None:
    walk = ["go to shelf 1", "go to shelf 2", "go north", "go north", "take mug 1 from shelf 2"]
    assert script(walk) == ["go to shelf", "go north", "go north", "take mug from shelf"]


def test_lessons_by_rules() -> None:
    memory = made("memrl")
    play(memory, "put a potato in shelf", WON)
    play(memory, "put a pan in shelf", LOST)
    won, lost = (item.text for item in items(memory))
    assert won == (
        'Goal: put a potato in shelf.\nThese steps won: "go to fridge", "take potato from fridge", '
        '"go to shelf", "move potato to shelf".'
    )
    assert 'Do not do "take potato 1 from fridge 1": Nothing happens.' in lost
    assert "These steps won" not in lost
    goal = "put a pan in shelf"
    task = Task(f"house/{goal}", goal, "alfworld")
    text = write_lesson(steps(goal, LOST), LOST, task, ("go to fridge 1", "open fridge 1"))
    assert 'Do "open fridge 1" then.\nDo not do "take potato 1 from fridge 1" then.' in text
    assert 'These steps won: "go to fridge", "open fridge".' in text


@pytest.mark.parametrize("spec", MEMORIES)
def test_learnt_items_are_shown_credited_and_traced(spec: str) -> None:
    memory = made(spec, k=1, inner="none")
    assert play(memory, "put a potato in shelf", LOST) == ""
    play(memory, "put a potato in shelf", WON)
    shown = begin(memory, "put a potato in shelf")
    assert "potato" in shown
    memory.end(WON)
    for item in items(memory):
        if item.text:
            origin = item.origins[0]
            assert (origin.game, origin.task) == ("house", "house/put a potato in shelf")
            assert origin.author == "rules"
            assert origin.run in (1, 2)


@pytest.mark.parametrize("spec", MEMORIES)
def test_a_frozen_memory_changes_nothing(spec: str, tmp_path: Path) -> None:
    place = str(tmp_path / "items.db")
    play(made(spec, store=place), "put a potato in shelf", WON)
    before = Store(place).records()
    frozen = made(spec, store=place, learn=False)
    for goal in ("put a potato in shelf", "put a pan in shelf"):
        play(frozen, goal, WON)
    assert Store(place).records() == before
    assert "potato" in begin(frozen, "put a potato in shelf")


@pytest.mark.parametrize("spec", MEMORIES)
def test_a_store_gives_the_items_to_the_next_process(spec: str, tmp_path: Path) -> None:
    place = str(tmp_path / "items.db")
    one, two = made(spec, store=place), made(spec, store=place)
    for goal in ("put a potato in shelf", "put a pan in shelf", "put a potato in fridge"):
        play(one, goal, WON)
        play(two, goal, LOST)
    begin(one, "put a potato in shelf")
    begin(two, "put a potato in shelf")
    assert one.bank.payloads() == two.bank.payloads()
    assert one.bank.episode == 6


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from stream import *
memory = make_memory(f"exprag?store={sys.argv[2]}")
for n in range(int(sys.argv[4])):
    play(memory, f"put a thing {sys.argv[3]} {n} in shelf", WON)
    print(n, flush=True)
"""


@pytest.mark.slow
def test_several_processes_and_a_kill_lose_no_item(tmp_path: Path) -> None:
    place, here = str(tmp_path / "items.db"), str(Path(__file__).parent)

    def start(name: str, count: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", PROGRAM, here, place, name, str(count)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    whole, killed = start("a", 8), start("b", 10_000)
    assert killed.stdout is not None
    for _ in range(3):
        killed.stdout.readline()
    time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    reported = 3 + len(killed.stdout.read().splitlines())
    assert whole.wait(600) == 0
    memory = made(f"exprag?store={place}")
    begin(memory, "put a thing in shelf")
    goals = [item.goal for item in items(memory)]
    assert sum(goal.startswith("put a thing a") for goal in goals) == 8
    assert sum(goal.startswith("put a thing b") for goal in goals) in (reported, reported + 1)
    assert memory.bank.episode == len(goals)


def test_full_bank_drops_the_least_useful_item() -> None:
    memory = made("exprag?capacity=2")
    for goal in ("a mug", "a pan", "a pot"):
        play(memory, goal, WON)
    assert [item.goal for item in items(memory)] == ["a pan", "a pot"]


@pytest.mark.parametrize(
    ("spec", "held", "kept"),
    [
        # Guidance never goes, though its utility is the least.
        ("evotest?capacity=2", [("guidance", 0.0, ()), ("gain", 2.0, ()), ("gain", 1.0, ())], "ab"),
        # An example goes before a rule, though its utility is higher.
        ("expel?capacity=2", [("success", 9.0, ()), ("rule", 2.0, ()), ("rule", 1.0, ())], "bc"),
        # The balance of helpful and harmful uses counts, not the utility.
        (
            "playbook?capacity=3",
            [("", 9.0, ("0", "2")), ("", 0.0, ("3", "1")), ("", 0.0, ())],
            "bc",
        ),
    ],
)
def test_items_are_dropped_in_the_papers_order(
    spec: str, held: list[tuple[str, float, tuple[str, ...]]], kept: str
) -> None:
    memory = made(spec, lifetime="forever")
    origins = (Origin("house", "house/1"),)
    for name, (kind, utility, more) in zip("abc", held, strict=True):
        memory.bank.add(Item(name, "0", kind, utility=utility, more=more, origins=origins))
    begin(memory, "find the lamp")
    memory.observe(Step(1, "", "look"))
    memory.end(WON)
    assert "".join(item.text for item in items(memory) if len(item.text) == 1) == kept


def test_every_item_gets_share_and_the_best_is_last() -> None:
    memory = made("exprag?k=3&inner=none")
    for goal in ("mug shelf", "mug", "mug sink"):
        play(memory, goal, WON, [f"wait {n}" for n in range(30)])
    begin(memory, "mug")
    text = memory.recall(Cue("", "mug"), 150).text
    assert [line[0] for line in text.splitlines() if "Goal" in line] == ["1", "2", "3"]
    assert "3. Goal: mug." in text
    assert memory.recall(Cue("", "mug"), 150).lessons[0].startswith("3. Goal: mug.")


def test_a_wrong_setting_gives_one_line() -> None:
    with pytest.raises(InvalidArgumentError, match="expected k as an int >= 1, got 0"):
        make_memory("memrl?k=0")
    with pytest.raises(InvalidArgumentError, match="lifetime='forever', got 'trial'"):
        make_memory("memp?lifetime=trial&store=x.db")
    with pytest.raises(StoreError):
        make_memory("memp?store=/")


@pytest.mark.parametrize("spec", MEMORIES)
def test_episode_begins_with_at_most_twenty_calls_an_item(spec: str) -> None:
    memory = make_memory(spec)
    for n in range(1000):
        memory.bank.add(
            Item(f"Do {n}.", f"put thing {n} in shelf {n % 7}", "success" if n % 2 else "task",
                 f"goal {n}", uses=1)
        )  # fmt: skip
    begin(memory, "put thing 3 in shelf 3")
    for t in range(1, 4):
        assert calls(lambda t=t: begin(memory, f"put thing {t} in shelf 3")) < 20 * 1000
