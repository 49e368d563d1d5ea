"""Jericho: our own story, a TextWorld story, damaged files, and the search for valid actions."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import CorruptGameError, InvalidArgumentError, MissingDependencyError

pytest.importorskip("jericho")

from gym_memory.games.jericho import Jericho
from gym_memory.games.jericho.engine import ParserEngine
from gym_memory.games.jericho.env import our_story
from gym_memory.games.jericho.meanings import Meanings, meanings
from gym_memory.games.jericho.trials import StateTrials
from gym_memory.games.jericho.vocabulary import (
    HELD,
    NOUN,
    WAY,
    Vocabulary,
    object_region,
    read_vocabulary,
)
from gym_memory.games.jericho.words import (
    GENERIC,
    PREFERRED,
    filled,
    fillings,
    names_in_view,
    story_text,
    templates_of,
    understood,
)
from gym_memory.games.textworld.games import cached_story
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

STANDING = ("look", "inventory", "wait")


@pytest.fixture(scope="module")
def story() -> Path:
    try:
        return our_story()
    except MissingDependencyError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def shared(story):
    env = Jericho(valid_actions=False, inventory=False)
    yield env
    env.close()


@pytest.fixture
def env(shared):
    shared.reset(seed=0)
    return shared


def play(env, *actions):
    for action in actions:
        obs, reward, terminated, _, info = env.step(action)
    return obs, reward, terminated, info


# ---------------------------------------------------------------- score and endings


def test_score_and_maximum_come_from_the_story(env):
    obs, info = env.reset(seed=0)
    assert (info["score"], info["max_score"]) == (0.0, 12.0)
    assert obs["text"].startswith("The tide turns at dusk")
    assert ">" not in obs["text"]
    assert "Causeway0/" not in obs["text"]  # the status line
    obs, reward, _, info = play(env, "north", "east", "open tin box", "take key")
    assert reward == 1.0
    assert info["score"] == 1.0
    obs, reward, _, info = play(env, "drop key", "take key")
    assert (reward, info["score"]) == (0.0, 1.0)


def test_drowning_loses_the_game(env):
    _, _, terminated, info = play(env, "north", "west", "west")
    assert terminated
    assert (info["won"], info["lost"], info["success"]) == (False, True, False)


def test_walkthrough_wins_with_every_action_valid(env):
    *_, terminated, info = play(env, *env.oracle().walkthrough)
    assert terminated
    assert (info["won"], info["score"], info["n_invalid"]) == (True, 12.0, 0)


@pytest.mark.parametrize(
    ("command", "valid"),
    [("look", True), ("take cap", True), ("take lantern", False), ("fly", False), ("west", False),
     ("take cap, lantern", False), ("cap, north", True), ("take the wool cap", True),
     ("", False), ("verbose", True), ("north; take cap", False), ("take cap. north", False),
     ("cap, quit", False), ("look then save", False), ("look then wait", True)],
)  # fmt: skip
def test_command_is_valid_if_the_parser_obeys_it(env, command, valid):
    assert play(env, command)[3]["is_action_valid"] is valid


# ---------------------------------------------------------------- valid actions


def test_valid_actions_change_the_world(env):
    assert set(env.valid_actions()) == {"north", "take wool cap", "wear wool cap", *STANDING}
    play(env, "north", "east")
    assert set(env.valid_actions()) >= {
        "west", "open tin box", "take brass lantern", "take tin box", *STANDING,
    }  # fmt: skip
    assert not any(action.startswith(("examine", "eat", "north")) for action in env.valid_actions())


def test_listing_does_not_change_the_story(env):
    play(env, "north", "east")
    snapshot = env.snapshot()
    before = [m.tobytes() for m in snapshot.native.engine.machine[:2]]
    first = env.valid_actions()
    assert [m.tobytes() for m in env.snapshot().native.engine.machine[:2]] == before
    assert env.snapshot().feedback == snapshot.feedback
    env.restore(snapshot)
    assert env.valid_actions() == first


def test_known_state_is_not_searched_again(env):
    play(env, "north")
    env.valid_actions()
    searched = env.engine.searches
    play(env, "look", "wait", "xyzzy", "examine door")
    first = env.valid_actions()
    assert env.engine.searches == searched
    for _ in range(3):  # the first visit to the shed changes the world
        play(env, "east")
        env.valid_actions()
        play(env, "west")
        assert env.valid_actions() == first
        assert env.engine.searches == searched + 2
    play(env, "south", "take cap", "north")
    assert env.valid_actions() != first
    assert env.engine.searches == searched + 3


def test_walkthrough_has_only_listed_effects(env):
    """An action that is not listed has the effect of another that is."""
    missing = []
    for action in env.oracle().walkthrough[:-1]:
        listed = env.valid_actions()
        if action not in listed:
            here = env.snapshot()
            wanted = outcome(env, here, action)
            verb = [other for other in listed if other.split()[-1] == action.split()[-1]]
            others = dict.fromkeys([*verb, *listed])
            if all(outcome(env, here, other) != wanted for other in others):
                missing.append(action)
            env.restore(here)
        env.step(action)
    assert missing == []


def outcome(env, here, action):
    env.restore(here)
    _, _, done, _, info = env.step(action)
    seen = () if done else [env.step(command)[0]["text"] for command in ("look", "inventory")]
    return info["won"], info["score"], seen


MAP = {
    ("yard", "is north of", "causeway"), ("shed", "is east of", "yard"),
    ("millrace", "is west of", "yard"), ("mill hall", "is north of", "yard"),
    ("loft", "is up of", "mill hall"), ("cellar", "is down of", "mill hall"),
}  # fmt: skip
THINGS = {
    ("you", "is in", "cellar"), ("wool cap", "is in", "inventory"),
    ("brass lantern", "is in", "inventory"), ("brass lantern", "is", "on"),
    ("iron key", "is in", "inventory"), ("coil of rope", "is on", "workbench"),
    ("workbench", "is in", "shed"), ("tin box", "is in", "shed"), ("tin box", "is", "open"),
    ("oak chest", "is in", "loft"), ("oak chest", "is", "open"), ("mill door", "is", "open"),
    ("sluice", "is in", "millrace"), ("millstone", "is in", "mill hall"),
    ("shaft lever", "is in", "cellar"),
}  # fmt: skip


def test_graph_has_the_whole_mill_after_walkthrough(story):
    """The graph has each fact that the text stated and that still holds, and no old places."""
    wrapped = MemoryObservation(Jericho(valid_actions=False), memory="arigraph")
    wrapped.reset(seed=0)
    for action in wrapped.unwrapped.oracle().walkthrough[:-1]:
        wrapped.step(action)
    wrapped.close()
    known = {tuple(fact) for fact in wrapped.memory.graph.live()}
    assert known >= MAP | THINGS
    placed = {fact for fact in known if fact[1] in ("is in", "is on")}
    assert placed - THINGS <= {("mill door", "is in", "mill hall"), ("grey cat", "is in", "loft")}


# ---------------------------------------------------------------- other stories


def test_textworld_story_keeps_its_score(tmp_path):
    from gym_memory.games.textworld.treasure_hunt import TreasureHunt

    real = TreasureHunt(level="easy", valid_actions=True)
    _, first = real.reset(seed=0)
    env = Jericho(path=real.story(real.task_id), valid_actions=False)
    obs, info = env.reset(seed=0)
    assert info["max_score"] == first["max_score"]
    world = [
        a for a in real.valid_actions() if not a.startswith(("examine", "look", "inv", "read"))
    ]
    assert set(world) & set(env.valid_actions())
    for action in real.oracle().walkthrough:
        *_, terminated, _, info = env.step(action)
    assert terminated
    assert info["success"]
    assert info["normalized_score"] == 1.0
    assert obs["task"]
    real.close()
    env.close()


BARE = """"Two Rooms"

Rule for printing the banner text: do nothing.

The Attic is a room. "A bare attic."

The Roof is up from the Attic. "Wind, and nothing else."

The kite is in the Attic.

Instead of going up in the Roof: end the story saying "You are gone".
"""


def test_folder_offers_its_stories_even_without_score(story, tmp_path):
    bare = tmp_path / "two_rooms.z8"
    bare.write_bytes(cached_story("jericho", BARE).read_bytes())
    (tmp_path / "mill.z8").write_bytes(story.read_bytes())
    (tmp_path / "notes.txt").write_text("no story")
    env = Jericho(path=tmp_path)
    assert env.task_ids == ("mill.z8", "two_rooms.z8")
    _, info = env.reset(options={"task_id": "two_rooms.z8"})
    assert (info["max_score"], info["normalized_score"]) == (0.0, None)
    assert set(env.valid_actions()) >= {"up", "take kite"}
    assert env.oracle().walkthrough == ()
    env.step("up")
    *_, terminated, _, info = env.step("up")
    assert terminated
    env.close()


@pytest.mark.parametrize("seed", [1, 7])
def test_story_seed_decides_the_texts(story, seed):
    texts = set()
    for _ in range(2):
        env = Jericho(path=story, story_seed=seed, valid_actions=False)
        env.reset(seed=0)
        texts.add(tuple(env.step(action)[0]["text"] for action in ("north", "wait", "east")))
        env.close()
    assert len(texts) == 1


# ---------------------------------------------------------------- broken stories

BROKEN = """"Broken House"

The Hall is a room. The lamp is in the Hall. The picture is scenery in the Hall.

Include (-
Verb meta 'purloin' * noun -> Take;
Verb 'trace' * noun -> Touch;
-) after "Grammar" in "Output.i6t".

Instead of jumping: while 1 is 1 begin; do nothing; end while.

To break: (- @get_parent 3000 -> sp; -).
Instead of pushing the lamp: now the lamp is nowhere; break.
"""


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.z8"
    path.write_bytes(cached_story("jericho", BROKEN).read_bytes())
    env = Jericho(path=path, valid_actions=False)
    env.reset(seed=0)
    yield env
    env.close()


def test_endless_command_loses_the_episode(broken):
    obs, _, terminated, _, info = broken.step("jump")
    assert obs["text"].endswith("ended in send: it used up its CPU time.")
    assert (terminated, info["lost"], "\n" in obs["text"]) == (True, True, False)
    assert "lamp" in broken.reset(seed=0)[0]["text"]


def test_interpreter_crash_loses_the_episode(broken):
    before = broken.snapshot()
    os.kill(broken.engine._host.pid, signal.SIGSEGV)
    obs, _, terminated, *_ = broken.step("look")
    assert terminated
    assert obs["text"].endswith("it died of SIGSEGV.")
    assert broken.oracle().facts == frozenset()
    broken.restore(before)
    assert "lamp" in broken.step("look")[0]["text"]


def test_listing_omits_endless_command(broken):
    assert "jump" not in broken.valid_actions()
    assert "take lamp" in broken.valid_actions()
    assert not broken.step("take lamp")[2]


def test_listing_omits_command_that_crashes_the_story(broken):
    assert "push lamp" not in broken.valid_actions()
    assert broken.step("push lamp")[2]


def test_debugging_verb_is_refused_but_namesake_is_not(broken):
    assert not broken.step("purloin lamp")[4]["is_action_valid"]
    assert "nothing" in broken.step("inventory")[0]["text"]
    assert broken.step("trace picture")[4]["is_action_valid"]


# ---------------------------------------------------------------- bad files


def damaged(story: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "short": story[:40],
        "cut": story[: len(story) // 2],
        "flipped": story[:9000] + bytes([story[9000] ^ 1]) + story[9001:],
        "version 9": b"\x09" + story[1:],
        "version 1": b"\x01" + story[1:],
        "glulx": b"Glul" + story[4:],
        "text": b"This is no story. " * 100,
    }


@pytest.mark.parametrize("kind", [*damaged(b"\x00" * 10_000)])
def test_damaged_file_is_refused(story, kind, tmp_path):
    path = tmp_path / "story.z8"
    path.write_bytes(damaged(story.read_bytes())[kind])
    with pytest.raises(CorruptGameError, match=r"story\.z8"):
        Jericho(path=path)


def test_error_names_the_wrong_argument(tmp_path):
    with pytest.raises(CorruptGameError, match="cannot read"):
        Jericho(path=tmp_path / "absent.z5")
    with pytest.raises(CorruptGameError, match="got none"):
        Jericho(path=tmp_path)
    with pytest.raises(InvalidArgumentError, match="path as text"):
        Jericho(path=3)  # type: ignore[arg-type]
    for seed in (-1, 0, True, "x"):
        with pytest.raises(InvalidArgumentError, match="story_seed"):
            Jericho(story_seed=seed)  # type: ignore[arg-type]


# ---------------------------------------------------------------- parts


def test_file_gives_dictionary_and_grammar(story):
    vocabulary = read_vocabulary(story.read_bytes(), PREFERRED)
    assert vocabulary.length == 9
    assert {"lantern", "millstone", "crank"} <= vocabulary.nouns
    assert vocabulary.knows("workbenches")  # the parser compares nine letters
    assert not vocabulary.knows("zebra")
    lines = {" ".join(line) for line in vocabulary.templates}
    assert {
        "unlock NOUN with HELD",
        "put NOUN in NOUN",
        "take NOUN",
        "drop HELD",
        "lift NOUN",
    } <= lines
    assert "hold NOUN" not in lines  # a synonym of take
    tried = templates_of(vocabulary)
    assert not any(line[0] in ("save", "quit", "undo", "north") for line in tried)
    assert all(sum(word in (NOUN, HELD) for word in line) <= 2 for line in tried)


def test_story_without_grammar_gets_common_verbs():
    words = Vocabulary(frozenset({"take", "open", "jump", "lamp", "put", "in"}), frozenset(), 6, ())
    assert {" ".join(line) for line in templates_of(words)} == {
        "take NOUN", "open NOUN", "jump", "put HELD in NOUN",
    }  # fmt: skip
    templates = templates_of(words, ["pray", "put OBJ in OBJ", "give OBJ OBJ", "quit"])
    assert templates == (("pray",), ("put", NOUN, "in", NOUN))
    assert GENERIC


def test_command_about_two_things_uses_a_carried_one():
    def made(*line):
        return [filled(line, names) for names in fillings(line, ["rope", "post", "key"], ["rope"])]

    assert made("take", NOUN) == ["take rope", "take post", "take key"]
    assert made("drop", HELD) == ["drop rope", "drop post", "drop key"]
    assert made("tie", NOUN, "to", NOUN) == [
        "tie rope to post", "tie key to rope", "tie rope to key", "tie post to rope",
    ]  # fmt: skip
    assert made("push", NOUN, WAY)[:3] == ["push rope north", "push post south", "push key east"]
    assert list(fillings(("take", NOUN), [], [])) == []


def test_status_line_is_cut_at_the_end_only():
    line = "Hall" + " " * 4000 + "Moves: 1"
    assert story_text(f"{line}\nA hall.") == f"{line}\nA hall."
    assert story_text(f"A hall.\n{line}") == "A hall.\nHall"


def test_things_inside_carried_things_are_carried():
    meant = Meanings({"lamp": 2, "sack": 3, "food": 4, "cave": 5, "air": -1}, ("",) * 6)
    holders = [0, 5, 1, 1, 3, 0]  # 1 is the player
    names = ["lamp", "sack", "food", "cave", "air"]
    assert meant.carried(names, holders) == ["lamp", "sack", "food", "air"]


def test_door_is_not_listed_beside_the_move_through():
    """Entering a door marks it as mentioned, which does not change the world."""
    truth = gym.make("gym_memory/Cooking-v0", memory="none", level="medium").unwrapped
    truth.reset(seed=0)
    env = Jericho(path=truth.story(truth.task_id), inventory=False)
    listed = env.reset(seed=0)[0]["valid_actions"]
    env.close()
    truth.close()
    assert "south" in listed
    assert not [action for action in listed if action.startswith("enter")]


def test_synonyms_mean_one_object(story):
    engine = ParserEngine()
    engine.start(story)
    engine.send("north")
    engine.send("east")
    trials = StateTrials(engine.machine, engine.facts_of_story.vocabulary, lambda command: True)
    names = ("tin box", "lantern", "brass lantern", "coil", "rope", "workbench")
    meant = meanings(story.read_bytes(), {name: trials.result(f"examine {name}") for name in names})
    engine.close()
    assert meant.best()["lantern"] == "brass lantern"
    assert meant.objects["coil"] == meant.objects["rope"]
    assert len(set(meant.best().values())) == 4
    assert meant.words()["coil"] == {"coil", "rope"}


OLD_GRAMMAR = """
Attribute container;
Object lamp "lamp" with name 'lamp' 'brass';
[ Main; move lamp to lamp; ];
[ TakeSub; rtrue; ]; [ PutSub; rtrue; ]; [ OilSub; rtrue; ]; [ ScoreSub; rtrue; ];
[ Filter; rtrue; ];
Verb 'take' 'hold' * multi -> Take * 'up' noun -> Take;
Verb 'put' * multiheld 'in' noun=Filter -> Put * 'in' container -> Put;
Verb 'oil' * container 'with' held -> Oil * 'à' noun -> Oil * held 'à' noun -> Put;
Verb 'count' * number -> Take;
Verb meta 'score' * -> Score;
"""


def test_old_grammar_with_fixed_lines_is_read(tmp_path):
    inform = pytest.importorskip("textworld.generator.inform7.world2inform7")
    compiler = Path(inform.I7_DEFAULT_PATH) / "share" / "inform7" / "Compilers" / "inform6"
    source, target = tmp_path / "old.inf", tmp_path / "old.z3"
    source.write_text(OLD_GRAMMAR, encoding="latin-1")
    subprocess.run([compiler, "-v3w", source, target], check=True, capture_output=True)
    vocabulary = read_vocabulary(target.read_bytes(), PREFERRED)
    assert vocabulary.nouns == {"lamp", "brass"}
    assert vocabulary.meta == {"score"}
    assert {" ".join(line) for line in vocabulary.templates} == {
        "take NOUN", "put HELD in NOUN", "put in NOUN", "oil NOUN with HELD",
    }  # fmt: skip


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(alphabet="abkey lamp.,()\n'", max_size=80))
def test_names_in_view_are_words_of_the_text(text):
    words = Vocabulary(frozenset(), frozenset({"key", "lamp", "a"}), 9, ())
    for name in names_in_view(text, words):
        assert all(word in ("key", "lamp") for word in name.split())
        assert name in text


def test_object_tree_is_in_dynamic_memory(story):
    data = story.read_bytes()
    start, end, objects, _ = object_region(data)
    assert int.from_bytes(data[0x0A:0x0C], "big") < start < end
    assert end <= int.from_bytes(data[0x0E:0x10], "big")
    assert end - start > 500
    assert 40 < objects < 400


@pytest.mark.parametrize("text", ["That's not a verb I recognise.", "You can't go that way."])
def test_parser_complaint_is_recognised(text):
    assert not understood(text)
    assert understood("Taken.")
