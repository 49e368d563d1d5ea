"""The rules that play TextWorld's games, compared with the interpreter."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from benchmarks.engines import FAMILIES, Game, Pair, compare, fresh
from gym_memory.core.errors import UnknownNameError
from gym_memory.games.textworld import engine as engine_module
from gym_memory.games.textworld.challenges import StoryFile, make_textworld
from gym_memory.games.textworld.cooking import Cooking, Kitchen
from gym_memory.games.textworld.engine import ENGINES, TextWorldEngine, load_game
from gym_memory.games.textworld.errands import Errands
from gym_memory.games.textworld.games import GameKey, cached_game, generate
from gym_memory.games.textworld.native_game import word_key
from gym_memory.games.textworld.native_text import Holdings, UnknownTextError, View, Wording
from gym_memory.games.textworld.treasure_hunt import TreasureHunt
from gym_memory.games.textworld.zmachine import Interpreter

PLAYERS = ("random", "walkthrough", "adversary")
PLAN = dict.fromkeys(PLAYERS, 60)


def listed(family, level, split="train", number=0):
    env = family(level, split)
    return Game(f"{family.family}/{level}", lambda: env.description(env.task_ids[number]), False)


# ---------------------------------------------------------------- equal answers


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.family)
def test_rules_answer_what_the_interpreter_answers(family):
    levels = list(family.listed_levels or family.levels)[:4]
    plan = dict.fromkeys(PLAYERS, 720 // 3 // len(levels))
    rows = [compare(listed(family, level), plan) for level in levels]
    assert [row["unequal"] for row in rows] == [[]] * len(rows)
    assert all(row["rules"] for row in rows)
    assert sum(row["steps"] for row in rows) == 720  # 5,040 of the seven families together
    assert sum(row["native"] for row in rows) > 0.8 * sum(row["steps"] for row in rows)


@pytest.mark.slow
def test_games_of_no_other_test_are_answered_equally():
    """Seeds and settings that appear nowhere else in the tests."""
    chance = random.Random("no other test")
    for family, level in ((Cooking, "voices"), (Cooking, "hardest"), (TreasureHunt, "voices-easy")):
        seed = chance.randrange(10**7, 10**8)
        key = GameKey(family.family, 1, family.levels[level], "valid", seed)
        game = Game(
            f"{family.family}/{seed}",
            lambda key=key, family=family: cached_game(
                key, lambda: generate(family, key.settings, key.split, key.seed)
            ),
            False,
        )
        assert compare(game, PLAN)["unequal"] == []
    row = compare(fresh(0), PLAN)
    assert (row["made"], row["unequal"]) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize(("family", "level"), [(Cooking, "rl-4"), (TreasureHunt, "easy")])
def test_free_text_is_answered_equally(family, level):
    row = compare(listed(family, level), {"text": 200})
    assert row["unequal"] == []
    assert 0 < row["native"] < row["steps"]


# ---------------------------------------------------------------- who answers


@pytest.fixture
def started(monkeypatch):
    """Return the list of started interpreters."""
    machines = []
    begin = Interpreter.__init__
    monkeypatch.setattr(
        Interpreter, "__init__", lambda self, path: machines.append(path) or begin(self, path)
    )
    return machines


def test_a_walkthrough_needs_no_interpreter(started):
    env = Cooking("rl-2", "train")
    env.reset(seed=0)
    *_, info = [env.step(action) for action in env.oracle().walkthrough][-1]
    assert (info["score"], info["success"]) == (5.0, True)
    assert started == []


def test_free_text_starts_the_interpreter_which_catches_up(started):
    auto, inform = Cooking("rl-1", "train"), Cooking("rl-1", "train", engine="inform")
    seen = []
    for env in (auto, inform):
        env.reset(seed=0)
        episode = (
            "take knife",
            "sing",
            "examine it",
            "drop all",
            "inventory",
            "take cookbook and knife",
        )
        seen.append([env.step(action)[0] for action in (*episode, "look", "eat the knife")])
        seen[-1].append(env.oracle().facts)
    assert seen[0] == seen[1]
    assert len(started) == 2  # one for each engine


def test_an_answer_to_a_question_is_the_interpreters():
    auto, inform = Cooking("rl-1", "train"), Cooking("rl-1", "train", engine="inform")
    for env in (auto, inform):
        env.reset(seed=0)
    for action in ("open", "fridge", "take", "knife", "inventory"):
        assert auto.step(action)[0] == inform.step(action)[0]


@pytest.mark.slow
def test_option_of_story_is_the_interpreters_from_then_on():
    auto, inform = Cooking("rl-1", "train"), Cooking("rl-1", "train", engine="inform")
    for env in (auto, inform):
        env.reset(seed=0)
    for action in ("enable print state option", "look", "take knife", "look"):
        assert auto.step(action)[0] == inform.step(action)[0]


@pytest.mark.parametrize("command", ["superbriefly", "transcripts", "TRANSCRIPTION"])
def test_command_to_interpreter_is_known_by_its_first_letters(command):
    env = Cooking("rl-1", "train")
    env.reset(seed=0)
    assert env.step(command)[0]["text"] == "That is not something to do in this world."


def test_versions_name_the_engine():
    assert Cooking("rl-1").versions()["native"] == engine_module.NATIVE_VERSION
    assert "native" not in Cooking("rl-1", engine="inform").versions()
    with pytest.raises(UnknownNameError, match="inform"):
        Cooking("rl-1", engine="informs")


def test_a_new_game_needs_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path))
    env = Errands("short", "train")
    env.reset(seed=0)
    env.step("look")
    (folder,) = (tmp_path / "textworld" / "errands").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["game.json", "sha256.json"]


@pytest.mark.slow
def test_new_challenge_needs_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path))
    monkeypatch.setattr("textworld.generator.compile_game", pytest.fail)
    for challenge in ("coin_collector", "simple"):
        env = make_textworld(challenge=challenge, split="train")
        env.reset(seed=0)
        assert env.step("look")[0]["text"]


def changed(tmp_path, change):
    """Return a hunt's description after a change."""
    env = TreasureHunt("hard", "train")
    data = json.loads(Path(env.description(env.task_ids[0])).read_text())
    change(data)
    (tmp_path / "changed.json").write_text(json.dumps(data))
    return load_game(tmp_path / "changed.json")


@pytest.mark.parametrize("named", ["match", "west_of"])
def test_quest_with_fixed_fact_is_played_natively(named, tmp_path):
    def add_condition(data):
        links = [
            tuple(a["name"] for a in f["arguments"]) for f in data["world"] if f["name"] == "link"
        ]
        doors = {frozenset((rooms[0], rooms[-1])) for rooms in links}
        fixed = next(
            f
            for f in data["world"]
            if f["name"] == named and frozenset(a["name"] for a in f["arguments"]) not in doors
        )
        data["quests"][0]["win_events"][0]["condition"]["preconditions"].append(fixed)

    assert changed(tmp_path, add_condition).native is not None


@pytest.mark.parametrize(("name", "is_native"), [("Henderson's chest", True), ("kids' bed", False)])
def test_apostrophe_in_name_is_known_between_letters(name, is_native, tmp_path):
    def rename(data):
        next(info for _, info in data["infos"] if info["type"] == "c")["name"] = name

    assert (changed(tmp_path, rename).native is not None) is is_native


def test_other_rules_are_the_interpreters(tmp_path):
    env = Cooking("rl-1", "train")
    story = env.story(env.task_ids[0])
    data = json.loads(Path(story).with_suffix(".json").read_text())
    data["KB"]["logic"] += "\ntype z {\n}\n"
    shutil.copy(story, tmp_path / "other.z8")
    (tmp_path / "other.json").write_text(json.dumps(data))
    other = StoryFile(tmp_path / "other.z8")
    other.reset(seed=0)
    assert other.game.native is None
    assert other.step("open fridge")[0]["text"] == "That's already open."


# ---------------------------------------------------------------- state


@pytest.mark.parametrize("engine", ENGINES)
def test_drunk_thing_is_gone(engine):
    env = Cooking("rl-3", "test", engine=engine)
    env.reset(options={"task_id": "cooking/rl-3/test/4"})
    world = env.game.world
    facts = [(f[0], *(world.names.get(e, e) for e in f[1:])) for f in env.engine.facts]
    types = {world.names.get(e, e): kind for e, kind in world.types.items()}
    way = Kitchen(facts, types, capacity=10)
    way.go(way.room_of("water"))
    way.take("water")
    for command in way.commands:
        obs, *_ = env.step(command)
    assert obs["inventory"].endswith("water.")
    assert "drink water" in obs["valid_actions"]
    obs, *_ = env.step("drink water")
    assert obs["text"] == "You drink the water. Not bad."
    assert "water" not in obs["inventory"]
    assert not any("water" in action for action in obs["valid_actions"])


def test_snapshot_has_the_changes():
    env = Cooking("hard", "train")
    env.reset(seed=0)
    for action in env.oracle().walkthrough[:8]:
        env.step(action)
    state = env.engine.save()
    assert state.machine is None
    assert len(state.facts[0]) + len(state.facts[1]) < 30
    assert len(state.holdings[1]) < 10


def test_snapshot_is_restored_on_either_side_of_free_text():
    env = Cooking("rl-4", "train")
    env.reset(seed=0)
    plan = env.oracle().walkthrough
    env.step(plan[0])
    early = env.snapshot()
    texts = [env.step(action)[0] for action in ("sing", *plan[1:])]
    late = env.snapshot()
    env.restore(early)
    assert [env.step(action)[0] for action in ("sing", *plan[1:])] == texts
    assert env.restore(late)[0] == texts[-1]
    env.restore(early)
    assert [env.step(action)[0] for action in plan[1:]] == texts[1:]


# ---------------------------------------------------------------- text


def described(text, kind="r"):
    info = {"name": "hall", "desc": text, "type": kind}
    chest = {"name": "chest", "desc": "", "type": "c"}
    return Wording({"r_0": info, "c_0": chest}, (), ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a 'b' c's.", 'a "b" c\'s.'),
        ("one\n two\n\n\n three", "one two\n\nthree"),
        ("[if c_0 is open]an open[otherwise]a closed[end if] chest", "a closed chest"),
        (
            "It is [if c_0 is open]open.[else if c_0 is locked]locked.[otherwise]shut.",
            "It is shut.",
        ),
        ("[if there is something in the c_0]full[end if]empty", "empty"),
        ("It holds [a list of things in the c_0].", "It holds nothing."),
    ],
)
def test_a_description_is_printed_as_inform_prints_it(text, shown):
    view = View(set(), Holdings({}))
    assert described(text).room("r_0", view, ()) == f"-= Hall =-\n{shown}"


@pytest.mark.parametrize(
    "text", ["[if the moon is full]x[end if]", "[one of]a[or]b[at random]", "[end if]", "a ] b"]
)
def test_an_unknown_description_is_refused(text):
    with pytest.raises(UnknownTextError):
        described(text).check()


@pytest.mark.slow
def test_empty_list_is_worded_as_the_interpreter_words_it(tmp_path):
    env = Cooking("rl-1", "test")
    data = json.loads(Path(env.description(env.task_ids[0])).read_text())
    infos = dict(data["infos"])
    fridge = next(entity for entity, info in infos.items() if info["name"] == "fridge")
    inside = [
        infos[fact["arguments"][0]["name"]]["name"]
        for fact in data["world"]
        if fact["name"] == "in" and fact["arguments"][1]["name"] == fridge
    ]
    room = next(info for info in infos.values() if info["type"] == "r")
    room["desc"] += f" There [is-are a list of things in the {fridge}] in the fridge."
    (tmp_path / "list.json").write_text(json.dumps(data))
    engines = TextWorldEngine("auto"), TextWorldEngine("inform")
    assert len({engine.start(tmp_path / "list.json") for engine in engines}) == 1
    for command in ("look", *(f"take {thing} from fridge" for thing in inside), "look"):
        one, two = (engine.send(command).text for engine in engines)
        assert one == two, command
    assert len(inside) > 1
    assert "There are nothing in the fridge." in one


def test_used_slot_without_thing_in_hand_is_the_interpreters(tmp_path):
    env = Cooking("hardest", "test")
    data = json.loads(Path(env.description(env.task_ids[0])).read_text())
    story = tmp_path / "slots.json"
    for changes, is_native in ((0, True), (1, False)):
        free = [f for f in data["world"] if f["name"] == "free" and len(f["arguments"]) == 1]
        for slot in free[:changes]:
            slot["name"] = "used"
        story.write_text(json.dumps(data))
        assert (load_game(story).native is not None) is is_native


@pytest.mark.parametrize("change", ["[if open]" * 10_000, "[one of]", 'a "quote"', "\\"])
def test_a_game_with_an_unknown_description_is_the_interpreters(change, tmp_path):
    env = Cooking("rl-1", "train")
    data = json.loads(Path(env.description(env.task_ids[0])).read_text())
    next(info for _, info in data["infos"] if info["type"] == "r")["desc"] += change
    (tmp_path / "odd.json").write_text(json.dumps(data))
    assert load_game(tmp_path / "odd.json").native is None


def test_words_are_compared_by_their_dictionary_form():
    assert word_key("refrigerator") == word_key("refrigeration")
    assert word_key("box12") == "box12"


def test_challenges_are_played_by_the_rules():
    for challenge in ("coin_collector", "treasure_hunter", "simple"):
        env = make_textworld(challenge=challenge, split="train")
        assert load_game(env.description(env.task_ids[0])).native is not None


def test_pair_reports_a_difference(monkeypatch):
    env = Cooking("rl-1", "train")
    pair = Pair(env.description(env.task_ids[0]))
    pair.begin()
    send = TextWorldEngine.send
    monkeypatch.setattr(
        TextWorldEngine,
        "send",
        lambda self, command: send(self, command)._replace(text=f"{self._answers}"),
    )
    assert not pair.play("look")
    assert pair.unequal == [["look", "auto", "inform"]]
