"""Stories of other authors: equal to bare Jericho, with scores, endings, truth and grammar.

``GYM_MEMORY_STORIES`` names a folder of stories; without one, these tests skip.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import pytest

pytest.importorskip("jericho")

import jericho

from gym_memory.games.jericho import Jericho
from gym_memory.games.jericho.vocabulary import read_vocabulary
from gym_memory.games.jericho.words import PREFERRED

pytestmark = pytest.mark.slow

FOLDER = Path(
    os.environ.get("GYM_MEMORY_STORIES")
    or Path(__file__).parents[3] / "shared" / "data" / "stories"
)
STORIES = sorted(FOLDER.glob("*.z[3-8]"))
STATUS = re.compile(r"^>.*Moves: \d+\s*$", re.MULTILINE)
"""Status line that the bare interpreter leaves in the text."""
SOLUTIONS = {known["name"]: known for known in jericho.defines.BINDINGS_DICT.values()}


def solution(name: str) -> list[str]:
    return SOLUTIONS[name]["walkthrough"].split("/")


def play(env: Jericho, actions: list[str]) -> tuple[list[float], dict]:
    scores = []
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        scores.append(info["score"])
        if terminated or truncated:
            break
    return scores, info


@pytest.fixture
def zork():
    if not (FOLDER / "zork1.z3").exists():
        pytest.skip(f"no zork1.z3 in {FOLDER}")
    env = Jericho(
        path=FOLDER / "zork1.z3", story_seed=12, max_steps=1000, valid_actions=False,
        inventory=False,
    )  # fmt: skip
    env.reset(seed=0)
    yield env
    env.close()


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.name)
def test_walkthrough_scores_as_in_bare_jericho(story):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = jericho.FrotzEnv(str(story))
        if not bare.is_fully_supported:
            pytest.skip(f"jericho does not know {story.name}")
        bare.reset()
    expected = []
    for action in bare.get_walkthrough():
        _, _, done, info = bare.step(action)
        expected.append(info["score"])
        if done:
            break
    env = Jericho(path=story, max_steps=10_000, valid_actions=False, inventory=False)
    env.reset(seed=0)
    scores, info = play(env, list(env.oracle().walkthrough))
    assert (scores, info["won"]) == (expected, bare.victory())
    assert info["max_score"] == bare.get_max_score()


@pytest.mark.parametrize(("name", "seed"), [("zork1", 12), ("zork3", 1)])
def test_unsupported_story_reads_as_in_bare_interpreter(name, seed):
    path = FOLDER / f"{name}.z3"
    if not path.exists():
        pytest.skip(f"no {name}.z3 in {FOLDER}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = jericho.FrotzEnv(str(path), seed=seed)
    bare.reset()
    env = Jericho(
        path=path, story_seed=seed, max_steps=1000, valid_actions=False, inventory=False
    )  # fmt: skip
    env.reset(seed=0)
    steps = 0
    for action in solution(name):
        text = STATUS.sub("", bare.step(action)[0])
        obs, _, terminated, *_ = env.step(action)
        assert obs["text"].split() == text.split()
        steps += 1
        if terminated:
            break
    assert steps > 200


def test_unsupported_infocom_story_is_won(zork):
    scores, info = play(zork, solution("zork1"))
    assert (scores[-1], info["max_score"], info["won"]) == (350.0, 350.0, True)


def test_potential_score_is_the_maximum():
    if not (FOLDER / "zork3.z3").exists():
        pytest.skip(f"no zork3.z3 in {FOLDER}")
    env = Jericho(path=FOLDER / "zork3.z3", valid_actions=False)
    assert env.reset(seed=0)[1]["max_score"] == 7.0


def test_crashing_command_says_that_the_story_cannot_continue():
    if not (FOLDER / "zork3.z3").exists():
        pytest.skip(f"no zork3.z3 in {FOLDER}")
    env = Jericho(path=FOLDER / "zork3.z3", valid_actions=False)
    env.reset(seed=0)
    for action in ("take lamp", "turn on lamp", *["south"] * 4):
        assert not env.step(action)[2]
    obs, _, terminated, _, info = env.step("take lake")
    assert (terminated, info["lost"]) == (True, True)
    assert obs["text"] == "The story cannot continue: this command breaks it."


def test_text_has_no_status_line(zork):
    obs, *_ = zork.step("open mailbox")
    assert obs["text"] == "Opening the small mailbox reveals a leaflet."


@pytest.mark.parametrize("verbose", [True, False])
def test_verbose_describes_visited_rooms(verbose, zork):
    env = Jericho(path=FOLDER / "zork1.z3", verbose=verbose, valid_actions=False)
    env.reset(seed=0)
    env.step("north")
    obs, *_ = env.step("west")
    assert obs["text"].startswith("West of House")
    assert ("open field" in obs["text"]) is verbose


def test_true_facts_follow_the_player(zork):
    play(zork, ["open mailbox", "take leaflet"])
    before = [part.tobytes() for part in zork.snapshot().native.engine.machine[:2]]
    facts = {tuple(fact) for fact in zork.oracle().facts}
    assert [part.tobytes() for part in zork.snapshot().native.engine.machine[:2]] == before
    assert facts >= {
        ("you", "is in", "west of house"), ("leaflet", "is in", "inventory"),
        ("small mailbox", "is in", "west of house"), ("west of house", "has exit", "north"),
        ("north of house", "is north of", "west of house"),
    }  # fmt: skip
    exits = {way for _, relation, way in facts if relation == "has exit"}
    assert exits == {"north", "northeast", "south", "southeast", "west"}
    play(zork, ["north", "east", "open window", "in"])
    assert ("you", "is in", "kitchen") in {tuple(fact) for fact in zork.oracle().facts}


def test_command_that_puts_thing_into_itself_is_undone(zork):
    """The story allows it, but then never answers again."""
    up_the_tree = ["north", "north", "up", "take egg", "drop egg", "take nest", "down"]
    play(zork, [*up_the_tree, "take egg", "take canary from egg", "put nest in egg"])
    obs, _, _, _, info = zork.step("put egg in nest")
    assert (obs["text"], info["is_action_valid"]) == ("That would put a thing into itself.", False)
    assert "egg" in zork.step("inventory")[0]["text"]


def test_infocom_grammar_is_read(zork):
    vocabulary = read_vocabulary((FOLDER / "zork1.z3").read_bytes(), PREFERRED)
    lines = {" ".join(line) for line in vocabulary.templates}
    assert lines >= {"take NOUN from NOUN", "turn on NOUN", "attack NOUN with HELD", "open NOUN"}
    assert {"mailbo", "sword", "trap"} <= vocabulary.nouns
    assert "the" not in vocabulary.nouns
    assert set(zork.valid_actions()) >= {"open small mailbox", "north", "south", "west"}
    assert not any("forest" in action for action in zork.valid_actions())


def test_listing_omits_actions_that_fail_or_come_too_late(zork):
    """The parser refuses to put out the house, and the troll's last blow cannot be avoided."""
    assert not any(action.startswith("put out") for action in zork.valid_actions())
    to_the_troll = (
        "south/east/open window/west/west/take lamp/take sword/turn on lamp/move rug"
        "/open trap door/down/north"
    )
    env = Jericho(path=FOLDER / "zork1.z3", story_seed=4, valid_actions=False)
    env.reset(seed=0)
    play(env, [*to_the_troll.split("/"), *["attack troll with sword"] * 4])
    listed = env.valid_actions()
    assert "south" in listed  # away from the troll
    assert "north" not in listed
    assert len(listed) < 20
    assert env.step("wait")[2]
    env.close()
