"""A story file has equal scores under every name and path, equal to the stock engine's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gym_memory.core.errors import CorruptGameError
from gym_memory.games.textworld.challenges import StoryFile
from gym_memory.games.textworld.cooking import Cooking

NAMES = (
    "x.z8", "tw-x.z8", "tw-.z8", "TW-X.z8", "my tw-x.z8", "tw-%s%n.z8", "tw-x.y.z8", "tw-'q\".z8",
    "tw-ünï.z8", os.fsdecode(b"tw-\xff.z8"), "tw-" + "x" * 200 + ".z8", "tw-a/x.z8", "a/tw-x.z8",
    "/".join(["d" * 200] * 8) + "/tw-x.z8",
)  # fmt: skip


@pytest.fixture(scope="module")
def game():
    env = Cooking("rl-2", "train")
    env.reset(seed=0)
    story, walkthrough = Path(env.story(env.task_ids[0])), env.oracle().walkthrough
    env.close()
    return story, walkthrough


@pytest.fixture(params=NAMES, ids=lambda name: ascii(name)[1:25])
def named(request, game, tmp_path):
    """Return the story under another name, with its .json beside it."""
    path = tmp_path / request.param
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(game[0], path)
    except OSError as error:
        pytest.skip(f"this file system has no such name: {error.strerror}")
    shutil.copy(game[0].with_suffix(".json"), path.with_suffix(".json"))
    return path


def scores(path, commands):
    env = StoryFile(path)
    _, info = env.reset(seed=0)
    found = [info["score"]]
    for command in commands:
        *_, terminated, _, info = env.step(command)
        found.append(info["score"])
        if terminated:
            break
    env.close()
    return found, (info["success"], info["lost"])


def stock(path, commands):
    textworld = pytest.importorskip("textworld")
    env = textworld.start(str(path), textworld.EnvInfos(score=True))
    found = [float(env.reset().score)]
    for command in commands:
        _, score, done = env.step(command)
        found.append(float(score))
        if done:
            break
    env.close()
    return found


@pytest.mark.slow
def test_every_file_name_gives_equal_scores(named, game):
    expected, ended = scores(*game)
    assert expected[0] == 0
    assert 0 < expected[len(expected) // 2 + 1] < expected[-1] == 5  # there are steps to tell apart
    assert ended == (True, False)
    assert scores(named, game[1]) == (expected, ended)
    named.with_suffix(".json").unlink()
    assert scores(named, game[1]) == (expected, ended)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Game .* is not fully supported")
@pytest.mark.parametrize("name", ["x.z8", "tw-x.z8"])
@pytest.mark.parametrize("play", ["won", "lost", "cut"])
def test_scores_are_the_stock_engines(name, play, game, tmp_path):
    story, walkthrough = game
    path = tmp_path / name
    shutil.copy(story, path)
    shutil.copy(story.with_suffix(".json"), path.with_suffix(".json"))
    meal = walkthrough.index("prepare meal")
    food = next(a for a in walkthrough if " with " in a).split(" with ")[0].split(" ", 1)[1]
    commands = {
        "won": walkthrough,
        "lost": [*walkthrough[: meal - 2], f"cook {food} with stove", f"eat {food}"],
        "cut": [*walkthrough[: meal - 1], "look", "xyzzy", "inventory", "drop all", "go nowhere"],
    }[play]
    found, ended = scores(path, commands)
    assert found == stock(path, commands)
    assert ended == {"won": (True, False), "lost": (False, True), "cut": (False, False)}[play]
    assert max(found) > 0


def test_relative_path_survives_a_change_of_folder(game, tmp_path, monkeypatch):
    shutil.copy(game[0], tmp_path / "tw-x.z8")
    shutil.copy(game[0].with_suffix(".json"), tmp_path / "tw-x.json")
    monkeypatch.chdir(tmp_path)
    env = StoryFile("tw-x.z8")
    monkeypatch.chdir("/")
    env.reset(seed=0)
    for action in game[1]:
        *_, info = env.step(action)
    assert info["score"] == 5


def test_a_link_plays_like_its_target(game, tmp_path):
    (tmp_path / "tw-link.z8").symlink_to(game[0])
    (tmp_path / "tw-link.json").symlink_to(game[0].with_suffix(".json"))
    assert scores(tmp_path / "tw-link.z8", game[1]) == scores(*game)


# ---------------------------------------------------------------- Glulx

GLULX = b"Glul\x00\x03\x01\x02" + bytes(250)


@pytest.mark.slow
def test_a_glulx_game_is_played_from_its_description(game, tmp_path, monkeypatch):
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tw-old.ulx"
    path.write_bytes(GLULX)
    shutil.copy(game[0].with_suffix(".json"), path.with_suffix(".json"))
    env = StoryFile(path)
    assert env.task_ids == ("tw-old.ulx",)
    assert scores(path, game[1]) == scores(*game)


def test_glulx_game_without_description_names_the_remedy(tmp_path):
    path = tmp_path / "tw-old.ulx"
    path.write_bytes(GLULX)
    what_to_do = r"tw-old\.json .*`tw-make \.\.\. --output tw-old\.z8`"
    with pytest.raises(CorruptGameError, match=what_to_do) as caught:
        StoryFile(path)
    assert "\n" not in str(caught.value)
    path.with_suffix(".json").write_text('{"world": []}')
    with pytest.raises(CorruptGameError, match=r"description of the game at .*tw-old\.json"):
        StoryFile(path)
