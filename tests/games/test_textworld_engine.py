"""Text, scores, story files: the engine's reading of the interpreter's output."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import (
    BackendError,
    CorruptGameError,
    InvalidArgumentError,
    UnknownNameError,
)
from gym_memory.games.textworld.challenges import StoryFile, make_textworld
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.engine import TextWorldEngine, load_game
from gym_memory.games.textworld.zmachine import Interpreter, check_story, clean_text


@pytest.fixture(scope="module")
def story():
    env = Cooking("rl-2", "train")
    path = env.story(env.task_ids[0])
    env.close()
    return path


@pytest.fixture
def lone_story(story, tmp_path):
    """Return a .z8 without its .json."""
    return shutil.copy(story, tmp_path / "lone.z8")


# ---------------------------------------------------------------- text


def test_trace_leaves_no_mark_on_the_text(story):
    """With and without the trace the player reads the same, on a whole episode."""
    plain, traced = Interpreter(story), TextWorldEngine("inform")
    assert traced.start(story).text == clean_text(plain.start())[0]
    commands = [*load_game(story).metadata["walkthrough"][:-1], "look", "get all", "drop all"]
    for command in [*commands, "take knife and cookbook", "eat knife", "sing", "prepare meal"]:
        raw = plain.send(command)
        text, tags, room, score = clean_text(raw)
        assert tags == []
        assert room
        answer = traced.send(command)
        assert answer.text == text
        assert answer.score == score
    plain.close()
    traced.close()


def test_first_text_has_neither_banner_nor_status_line(story):
    text = TextWorldEngine().start(story).text
    assert text.startswith("You are hungry!")
    assert "$$$" not in text
    assert ">" not in text
    assert text.splitlines()[-1].strip()


def test_clean_text_splits_the_answer():
    raw = (
        "\n[taking x]\nTaken.\n[taking x - succeeded]\n\n\n\nDone. \n\n>"
        + " " * 99
        + " -= Hall =-2/7"
    )
    assert clean_text(raw) == ("Taken.\n\nDone.", ["taking x", "taking x - succeeded"], "Hall", 2.0)
    assert clean_text("Nothing here") == ("Nothing here", [], "", None)


@settings(max_examples=100)
@given(st.text(st.sampled_from("ab \n[]->=0/*"), max_size=60))
def test_clean_text_reads_anything(raw):
    text, tags, room, score = clean_text(raw)
    assert text == text.rstrip()
    assert "\n\n\n" not in text
    assert score is None or room is not None
    assert isinstance(tags, list)


def test_final_score_counts_the_last_point():
    env = Cooking("rl-2", "train")
    env.reset(seed=0)
    *_, info = [env.step(action) for action in env.oracle().walkthrough][-1]
    assert (info["score"], info["max_score"], info["success"]) == (5.0, 5.0, True)


def test_losing_is_lost_not_won():
    env = Cooking("rl-1", "train")
    for seed in range(20):
        obs, _ = env.reset(seed=seed)
        food = env.oracle().walkthrough[-3].split(" with ")[0].split(" ", 1)[1]
        for action in env.oracle().walkthrough[:-3]:
            obs, *_ = env.step(action)
        if f"eat {food}" in obs["valid_actions"]:
            obs, reward, terminated, truncated, info = env.step(f"eat {food}")
            assert (terminated, truncated, info["lost"], info["success"]) == (
                True,
                False,
                True,
                False,
            )
            assert "*** You lost! ***" in obs["text"]
            assert "RESTART" not in obs["text"]
            assert obs["valid_actions"] == ()
            assert reward == 0.0
            return
    pytest.fail("no game with an ingredient that can be eaten raw")


# ---------------------------------------------------------------- what counts as valid


@pytest.mark.parametrize(
    ("action", "valid"),
    [
        ("look", True), ("inventory", True), ("i", True), ("examine fridge", True),
        ("open fridge", False), ("close fridge", True), ("go nowhere", False), ("fly", False),
        ("take fridge", False), ("take cookbook and knife", True), ("CLOSE FRIDGE", True),
        ("  close   fridge ", True), ("close", False), ("say hello", True), ("wait", True),
        ("eat cookbook", False), ("take moon", False),
    ],
)  # fmt: skip
def test_action_is_valid_when_the_game_carries_it_out(action, valid):
    env = Cooking("rl-1", "train")
    env.reset(seed=0)
    *_, info = env.step(action)
    assert info["is_action_valid"] is valid, env.render()
    env.close()


def test_two_things_in_one_command_are_both_tracked():
    env = Cooking("rl-1", "train")
    env.reset(seed=0)
    env.step("take cookbook and knife")
    held = {fact.subject for fact in env.oracle().facts if fact.object == "inventory"}
    assert {"cookbook", "knife"} <= held


# ---------------------------------------------------------------- lazy and kept


def test_valid_actions_are_computed_on_demand_once_a_state(monkeypatch):
    env = Cooking("rl-1", "train", valid_actions=False)
    env.reset(seed=0)
    calls = []
    match = type(env.game.world).admissible_commands
    monkeypatch.setattr(
        type(env.game.world),
        "admissible_commands",
        lambda self, state: calls.append(1) or match(self, state),
    )
    env.step("look")
    env.step("close fridge")
    assert calls == []
    first = env.valid_actions()
    assert env.valid_actions() is first
    assert len(calls) == 1
    env.step("")  # refused: the state is the same
    assert env.valid_actions() is first
    env.step("open fridge")
    assert env.valid_actions() != first
    assert len(calls) == 2


def test_the_inventory_needs_no_further_command(monkeypatch):
    env = Cooking("rl-1", "train", engine="inform")
    env.reset(seed=0)
    sent = []
    send = Interpreter.send
    monkeypatch.setattr(
        Interpreter, "send", lambda self, command: sent.append(command) or send(self, command)
    )
    for action in ("look", "close fridge", "examine cookbook"):
        env.step(action)
    assert sent == ["look", "close fridge", "examine cookbook"]
    obs, *_ = env.step("take knife")
    assert sent[3:] == ["take knife"]
    assert obs["inventory"] == "You are carrying: a knife."


def test_engine_lists_actions_that_the_state_allows(story, tmp_path, monkeypatch):
    monkeypatch.setattr("gym_memory.games.textworld.engine.read_native", lambda *_: None)
    shutil.copy(story, tmp_path / "other.z8")
    shutil.copy(Path(story).with_suffix(".json"), tmp_path / "other.json")
    env = StoryFile(tmp_path / "other.z8")
    env.reset(seed=0)
    assert env.step("take knife")[0]["inventory"] == "You are carrying: a knife."


def test_hidden_questions_leave_the_game_as_it_was():
    asking = Cooking("rl-4", "train", engine="inform")
    silent = Cooking("rl-4", "train", engine="inform", inventory=False)
    asking.reset(seed=3)
    silent.reset(seed=3)
    for action in asking.oracle().walkthrough:
        one, two = asking.step(action), silent.step(action)
        asking.oracle()
        assert one[0]["text"] == two[0]["text"]
        assert two[0]["inventory"] == ""
    one, two = asking.engine.save().machine, silent.engine.save().machine
    assert one[0].tolist() == two[0].tolist()


def machines():
    gc.collect()
    return sum(type(one) is Interpreter for one in gc.get_objects())


@pytest.mark.slow
def test_old_machines_are_released_and_restarted():
    before = machines()
    env = Cooking("rl-1", "train", engine="inform", valid_actions=False)
    first = env.reset(options={"task_id": env.task_ids[0]})[0]
    env.step("take knife")
    snapshot = env.snapshot()
    for task in env.task_ids[1:11]:
        env.reset(options={"task_id": task})
    assert machines() == before + 8
    assert env.restore(snapshot)[0]["inventory"] == "You are carrying: a knife."
    assert repr(env.reset(options={"task_id": env.task_ids[0]})[0]) == repr(first)
    env.close()
    assert machines() == before
    assert repr(env.reset(options={"task_id": env.task_ids[0]})[0]) == repr(first)


def test_engine_without_a_game_says_so():
    with pytest.raises(BackendError, match=r"call reset\(\) first"):
        TextWorldEngine().send("look")
    with pytest.raises(BackendError, match=r"call reset\(\) first"):
        Cooking("rl-1").oracle()


# ---------------------------------------------------------------- damaged files


def damaged(kind, story):
    content = bytearray(Path(story).read_bytes())
    if kind == "empty":
        return b""
    if kind == "short header":
        return bytes(content[:40])
    if kind == "cut":
        return bytes(content[: len(content) // 2])
    if kind == "no story":
        return b"PK\x03\x04" + bytes(1000)
    if kind == "noise":
        return bytes((i * 7919) % 251 for i in range(5000))
    if kind == "flipped bit":
        content[len(content) // 2] ^= 1
    if kind == "bad pointers":
        content[0x0A:0x0C] = b"\xff\xff"
        content[0x0E:0x10] = b"\x00\x01"
    return bytes(content)


@pytest.mark.parametrize(
    "kind",
    ["empty", "short header", "cut", "no story", "noise", "flipped bit", "bad pointers", "missing"],
)
def test_damaged_story_is_one_clear_line(kind, story, tmp_path):
    path = tmp_path / "damaged.z8"
    if kind != "missing":
        path.write_bytes(damaged(kind, story))
        shutil.copy(Path(story).with_suffix(".json"), path.with_suffix(".json"))
    with pytest.raises(CorruptGameError, match=r"damaged\.z8") as caught:
        StoryFile(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"world": []}', "null"])
def test_damaged_description_is_one_clear_line(content, lone_story):
    Path(lone_story).with_suffix(".json").write_text(content)
    env = StoryFile(lone_story)
    with pytest.raises(CorruptGameError, match=r"lone\.json") as caught:
        env.reset(seed=0)
    assert "\n" not in str(caught.value)


def test_folder_is_not_a_story(tmp_path):
    with pytest.raises(CorruptGameError, match="cannot read"):
        check_story(tmp_path)


# ---------------------------------------------------------------- story files


def test_file_with_description_plays_like_the_task(story, tmp_path):
    path = shutil.copy(story, tmp_path / "mine.z8")
    shutil.copy(Path(story).with_suffix(".json"), tmp_path / "mine.json")
    env, task = make_textworld(path), Cooking("rl-2", "train", hints=False)
    obs, info = env.reset(seed=0)
    expected, _ = task.reset(seed=0)
    assert (info["task_id"], info["split"]) == ("mine.z8", "")
    assert obs["text"] == expected["text"]
    assert obs["valid_actions"] == expected["valid_actions"]
    assert env.oracle() == task.oracle()


def test_file_without_description_is_scored_and_restored(lone_story):
    env = make_textworld(lone_story)
    obs, info = env.reset(seed=0)
    assert obs["valid_actions"] == ()
    assert env.oracle().facts == frozenset()
    assert env.oracle().walkthrough == ()
    assert info["max_score"] == 5.0
    assert obs["task"].startswith("You are hungry!")
    known = Cooking("rl-2", "train")
    known.reset(seed=0)
    walkthrough = known.oracle().walkthrough
    for i, action in enumerate(walkthrough):
        if i == 3:
            snapshot = env.snapshot()
        obs, _, terminated, _, info = env.step(action)
        assert info["is_action_valid"], action
    assert (terminated, info["success"], info["normalized_score"]) == (True, True, 1.0)
    env.restore(snapshot)
    *_, info = env.step("take the moon")
    assert not info["is_action_valid"]
    for action in walkthrough[3:]:
        *_, info = env.step(action)
    assert info["normalized_score"] == 1.0


PLAIN = """
! A story without a library: it complains about every line but "look"; "die" and "print" break it.
Array buffer -> 123;
Array parse -> 65;
[ Main key;
    print "You are in a bare room.^";
    buffer->0 = 120; parse->0 = 15;
    while (1) {
        print "^>";
        buffer->1 = 0;
        @aread buffer parse -> key;
        if (buffer->2 == 'd') { print "Oh no.^"; @call_1n 65535; }
        if (buffer->2 == 'p') { print "Oh no.^"; @print_paddr 65535; }
        if (buffer->2 == 'l') print "Still a bare room.^";
        else print "I don't know the word ~that~.^";
    }
];
"""


@pytest.fixture(scope="module")
def plain_story(tmp_path_factory):
    """Return a Z-machine story that TextWorld knows nothing of, compiled by its Inform 6."""
    inform = pytest.importorskip("textworld.generator.inform7.world2inform7")
    folder = tmp_path_factory.mktemp("plain")
    (folder / "plain.inf").write_text(PLAIN)
    compiler = Path(inform.I7_DEFAULT_PATH) / "share" / "inform7" / "Compilers" / "inform6"
    target = folder / "plain.z5"
    command = [str(compiler), "-v5w", str(folder / "plain.inf"), str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return target


def test_plain_story_plays_without_valid_actions(plain_story):
    env = make_textworld(plain_story, max_steps=20)
    obs, info = env.reset(seed=0)
    assert obs["text"] == "You are in a bare room."
    assert obs["valid_actions"] == ()
    assert env.valid_actions() == ()
    assert (info["score"], info["max_score"], info["normalized_score"]) == (0.0, 0.0, None)
    obs, *_, info = env.step("look")
    assert (obs["text"], info["is_action_valid"]) == ("Still a bare room.", True)
    snapshot = env.snapshot()
    obs, *_, info = env.step("frotz")
    assert not info["is_action_valid"]
    _, _, terminated, _, info = env.step("die")
    assert (terminated, info["won"], info["lost"]) == (True, False, True)
    assert env.restore(snapshot)[0]["text"] == "Still a bare room."
    assert env.step("look")[0]["text"] == "Still a bare room."
    assert env.reset(seed=0)[0]["text"] == "You are in a bare room."


BREAK = """
import sys
from gym_memory.games.textworld.zmachine import Interpreter
story, command = sys.argv[1:]
machine = Interpreter(story)
for begin in (lambda: None, machine.start):
    begin()
    print(machine.send(command).split(), machine.halted)
"""


@pytest.mark.parametrize("command", ["die", "print"])
def test_story_that_breaks_does_not_end_the_process(command, plain_story):
    # Otherwise the heap may happen to reach as far as the address, depending on what ran before.
    run = subprocess.run(
        [sys.executable, "-c", BREAK, str(plain_story), command],
        env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "1024"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "['>', 'Oh', 'no.'] True\n" * 2


# ---------------------------------------------------------------- challenges


@pytest.mark.parametrize(
    ("challenge", "level"),
    [("coin_collector", 5), ("treasure_hunter", 12), ("simple", "balanced-brief")],
)
def test_challenges_are_won_by_their_walkthrough(challenge, level):
    env = make_textworld(challenge=challenge, level=level, split="valid")
    assert env.max_steps == 150
    assert env.task_ids[3] == f"{challenge}/{level}/valid/3"
    obs, _ = env.reset(seed=3)
    for action in env.oracle().walkthrough:
        assert action in obs["valid_actions"]
        obs, _, terminated, _, info = env.step(action)
    assert (terminated, info["success"], info["normalized_score"]) == (True, True, 1.0)


def test_challenge_arguments_are_checked(lone_story):
    with pytest.raises(UnknownNameError, match=r"'coin_colector'.*Did you mean 'coin_collector'"):
        make_textworld(challenge="coin_colector")
    with pytest.raises(UnknownNameError, match="level of treasure_hunter '31'"):
        make_textworld(challenge="treasure_hunter", level=31)
    with pytest.raises(UnknownNameError, match="split 'dev'"):
        make_textworld(split="dev")
    with pytest.raises(InvalidArgumentError, match="got both"):
        make_textworld(lone_story, challenge="simple")
    with pytest.raises(InvalidArgumentError, match="path"):
        make_textworld(7)
