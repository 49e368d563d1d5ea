"""Generated games: the cache under fire, digests, manifests."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from gym_memory.core.errors import BackendError
from gym_memory.core.files import cache_dir
from gym_memory.games.textworld import games, list_games
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.games import (
    SIZES,
    SPLITS,
    GameKey,
    ListedGame,
    Manifest,
    cached_game,
    compiled,
    entries,
    game_sha256,
    generate,
    load_manifest,
)
from gym_memory.games.textworld.zmachine import check_story

LEVEL = Cooking.levels["rl-1"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache folder."""
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def key(seed=0, **changes):
    return GameKey(**{"family": "cooking", "generator": 1, "settings": LEVEL, "split": "train",
                      "seed": seed, **changes})  # fmt: skip


def make(seed=0):
    return generate(Cooking, LEVEL, "train", seed)


def leftovers(cache):
    return [p.name for p in (cache / "textworld" / "cooking").iterdir() if p.name.startswith(".")]


# ---------------------------------------------------------------- cache


def test_cache_folder_is_the_users_choice(cache, monkeypatch):
    assert cache_dir() == cache
    monkeypatch.delenv("GYM_MEMORY_CACHE")
    assert cache_dir().name == "gym-memory"


@pytest.mark.slow
def test_a_game_is_compiled_once(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = []
    path = cached_game(key(), lambda: made.append(1) or make())
    assert sorted(p.name for p in path.parent.iterdir()) == ["game.json", "sha256.json"]
    story = compiled(path)
    written = story.stat().st_mtime_ns
    assert cached_game(key(), lambda: made.append(1) or make()) == path
    assert made == [1]
    assert compiled(path) == story
    assert story.stat().st_mtime_ns == written
    check_story(story)
    assert sorted(p.name for p in story.parent.iterdir()) == ["game.json", "game.z8", "sha256.json"]
    assert leftovers(cache) == []
    assert [p.name for p in tmp_path.iterdir()] == ["cache"]  # nothing in the working folder


@pytest.mark.parametrize(
    "change",
    [
        {"family": "baking"}, {"generator": 2}, {"settings": {**LEVEL, "go": 6}},
        {"split": "test"}, {"seed": 1},
    ],
)  # fmt: skip
def test_everything_that_decides_a_game_is_in_its_key(change, monkeypatch):
    assert key(**change).digest() != key().digest()
    assert key(settings=dict(reversed(LEVEL.items()))).digest() == key().digest()
    before = key().digest()
    monkeypatch.setattr(games, "textworld_version", lambda: "9.9")
    assert key().digest() != before


def _race(number, barrier, queue):
    barrier.wait()
    story = compiled(cached_game(key(), make))
    queue.put((str(story), game_sha256(json.loads(story.with_suffix(".json").read_text()))))


@pytest.mark.slow
def test_processes_that_race_get_the_same_whole_game(cache):
    context = multiprocessing.get_context("fork")
    barrier, queue = context.Barrier(3), context.Queue()
    racers = [context.Process(target=_race, args=(i, barrier, queue)) for i in range(3)]
    for racer in racers:
        racer.start()
    results = {queue.get(timeout=300) for _ in racers}
    for racer in racers:
        racer.join()
        assert racer.exitcode == 0
    assert len(results) == 1
    check_story(results.pop()[0])
    assert leftovers(cache) == []


_BUILD = """
from gym_memory.games.textworld.cooking import Cooking
env = Cooking("rl-1", "train")
print("ready", flush=True)
for task in env.task_ids:
    env.story(task)
"""


@pytest.mark.slow
def test_a_killed_compile_leaves_only_whole_games(cache, monkeypatch):
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILD], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    folder = cache / "textworld" / "cooking"
    deadline = time.monotonic() + 300
    while not (folder.is_dir() and leftovers(cache)) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.15)  # in the middle of it
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    whole = [p for p in folder.iterdir() if not p.name.startswith(".")]
    for game in whole:
        if (game / "game.z8").exists():
            check_story(game / "game.z8")
        json.loads((game / "game.json").read_text())
    assert leftovers(cache) != []
    env = Cooking("rl-1", "train")
    env.reset(seed=0)
    assert env.step("look")[0]["text"]
    for leftover in folder.glob(".building-*"):
        os.utime(leftover, (0, 0))  # long ago
    env.reset(seed=50)
    assert leftovers(cache) == []


@pytest.fixture(scope="module")
def whole_cache(tmp_path_factory):
    """Return a cache with one game of Inform, to be copied."""
    with pytest.MonkeyPatch.context() as variables:
        made = tmp_path_factory.mktemp("compiled")
        variables.setenv("GYM_MEMORY_CACHE", str(made))
        Cooking("rl-1", "train", engine="inform").reset(seed=0)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("game.z8", "cut"), ("game.z8", "empty"), ("game.z8", "gone"), ("game.z8", "flipped"),
        ("game.json", "cut"), ("game.json", "empty"), ("game.json", "gone"),
        ("game.json", "other"), ("game.json", "deep"), ("game.json", "flipped"),
        ("game.json", "hollow"), ("sha256.json", "flipped"), ("sha256.json", "empty"),
    ],
)  # fmt: skip
def test_damaged_game_is_made_again(cache, whole_cache, name, damage):
    shutil.copytree(whole_cache, cache)
    env = Cooking("rl-1", "train", engine="inform")
    first = env.reset(seed=0)[0]
    (folder,) = (cache / "textworld" / "cooking").iterdir()
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    path, content = folder / name, whole[name]
    middle = len(content) // 2
    damaged = {
        "cut": content[:middle],
        "empty": b"",
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "other": b"[1]",
        "deep": b"[" * 100_000,
        "hollow": b'{"KB": {}, "infos": [], "quests": [], "world": []}',
    }
    if damage == "hollow":  # as a version without digests left it
        (folder / "sha256.json").unlink()
    path.unlink()
    if damage in damaged:
        path.write_bytes(damaged[damage])
    again = Cooking("rl-1", "train", engine="inform")
    assert again.reset(seed=0)[0] == first
    assert sorted(p.name for p in folder.iterdir()) == ["game.json", "game.z8", "sha256.json"]
    check_story(folder / "game.z8")
    assert leftovers(cache) == []


@pytest.mark.slow
def test_failing_generator_leaves_no_files(cache):
    def fail():
        raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        cached_game(key(), fail)
    assert leftovers(cache) == []
    assert cached_game(key(), make).is_file()


@pytest.mark.slow
def test_error_of_inform_is_one_error(cache):
    def broken():
        game = make()
        game.objective = 'an "open [bracket'
        return game

    with pytest.raises(BackendError, match=r"Inform 7 could not compile game\.z8") as caught:
        compiled(cached_game(key(), broken))
    assert "\n" not in str(caught.value)
    assert leftovers(cache) == []


def test_cache_that_cannot_be_written_is_one_clear_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / "file"))
    with pytest.raises(BackendError, match=r"set GYM_MEMORY_CACHE to a folder") as caught:
        Cooking("rl-1").reset(seed=0)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- the same game everywhere


_DIGEST = """
import json
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.games import game_sha256, generate
for level in ("rl-1", "hardest"):
    game = generate(Cooking, Cooking.levels[level], "train", 4)
    print(game_sha256(game.serialize()), game_sha256(json.loads(json.dumps(game.serialize()))))
"""


@pytest.mark.slow
def test_digest_does_not_depend_on_the_process(python):
    """The manifest was written by others; test_worldgen.py compares hash seeds."""
    listed = [entries("cooking", 1, level, "train")[4].sha256 for level in ("rl-1", "hardest")]
    found = python(_DIGEST, hashseed=3).split()
    assert found == [digest for digest in listed for _ in range(2)]


@pytest.mark.slow
def test_digest_covers_everything_a_player_sees():
    data = make().serialize()
    for change in ("world", "objective", "infos", "walkthrough"):
        other = json.loads(json.dumps(data))
        if change == "world":
            other["world"].pop()
        elif change == "objective":
            other["objective"] += "!"
        elif change == "infos":
            other["infos"][5][1]["desc"] = "otherwise"
        else:
            other["metadata"]["walkthrough"].append("look")
        assert game_sha256(other) != game_sha256(data)
    other = json.loads(json.dumps(data))
    other["metadata"]["uuid"] = "another"
    other["world"].reverse()
    assert game_sha256(other) == game_sha256(data)


@pytest.mark.slow
def test_generating_is_what_tw_make_does():
    """Our short cuts (one parse, no trial run) do not change a letter of the game."""
    import textworld
    from textworld.challenges.tw_cooking import cooking

    asked = {**Cooking.levels["rl-4"], "split": "train", "recipe_seed": 0}
    asked.pop("steps")
    options = textworld.GameOptions()
    options.seeds = 7
    with pytest.warns(UserWarning, match="not fully supported"):  # the trial run
        theirs = cooking.make(asked, options).serialize()
    ours = generate(Cooking, Cooking.levels["rl-4"], "train", 7).serialize()
    assert ours["infos"] == theirs["infos"]
    assert ours["objective"] == theirs["objective"]
    for data in (ours, theirs):
        data["metadata"]["walkthrough"] = []
    assert game_sha256(ours) == game_sha256(theirs)


class Wrong(Cooking):
    """Lists another game than it makes."""


def test_game_that_is_not_the_listed_one_is_refused(cache, monkeypatch):
    other = [ListedGame(0, "0" * 64)]
    monkeypatch.setattr("gym_memory.games.textworld.env.entries", lambda *level: other)
    env = Wrong("rl-1", "train")
    task = env.task_ids[0]
    with pytest.raises(BackendError, match=f"task {task} came out as another game"):
        env.reset(seed=0)
    assert list((cache / "textworld" / "cooking").iterdir()) == []
    listed = load_manifest("cooking")
    monkeypatch.setattr(
        "gym_memory.games.textworld.env.load_manifest",
        lambda family: listed._replace(textworld="1.6.0"),
    )
    with pytest.warns(UserWarning, match=r"made with TextWorld 1\.6\.0"):
        env.reset(seed=0)


# ---------------------------------------------------------------- manifests


FAMILIES = sorted(p.name.removesuffix(".json")
                  for p in (games.files("gym_memory.games.textworld") / "manifests").iterdir()
                  if p.name.endswith(".json"))  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_listed_games_are_distinct_and_splits_disjoint(family):
    listed = load_manifest(family)
    assert (listed.family, listed.textworld) == (family, "1.7.0")
    for level, record in listed.levels.items():
        splits = [split for split in SPLITS if split in record]
        assert splits[:3] == ["train", "valid", "test"]
        seeds = [seed for split in splits for seed, _ in record[split]]
        digests = [digest for split in splits for _, digest in record[split]]
        assert len(set(seeds)) == len(seeds), level
        assert len(set(digests)) == len(digests), level
        assert all(len(digest) == 64 for digest in digests)
        for split in splits:
            assert 0 < len(record[split]) <= SIZES[split]


def test_cooking_lists_all_levels_with_their_settings():
    listed = load_manifest("cooking")
    assert list(listed.levels) == list(Cooking.levels)
    for level, settings in Cooking.levels.items():
        assert listed.levels[level]["settings"] == settings
        assert {split: len(listed.levels[level][split]) for split in SPLITS} == SIZES


def test_an_unlisted_level_has_seeds_by_rule():
    splits = [entries("baking", 1, "easy", split) for split in SPLITS]
    assert [len(s) for s in splits] == list(SIZES.values())
    seeds = [entry.seed for split in splits for entry in split]
    assert len(set(seeds)) == len(seeds)
    assert not any(entry.sha256 for split in splits for entry in split)
    assert entries("cooking", 2, "rl-1", "train") == splits[0]  # a newer generator


class Tiny(TextWorldFamily):
    """Half of the seeds give the same game; one cannot be won in time."""

    family = "tiny"
    levels = {"only": {**LEVEL, "steps": 7}}  # noqa: RUF012
    sizes = {"train": 3, "valid": 1, "test": 1}  # noqa: RUF012

    @classmethod
    def make_game(cls, settings, split, seed):
        game = Cooking.make_game(settings, split, seed // 2)
        if seed == 2:
            game.metadata["walkthrough"] = ["look"] * 8
        return game


@pytest.mark.slow
def test_duplicates_and_too_long_games_are_skipped(tmp_path, monkeypatch):
    from gym_memory.games.base import ENVIRONMENTS

    monkeypatch.setitem(ENVIRONMENTS.loaded, "Tiny", Tiny)
    assert list_games.main(["Tiny", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tiny.json").read_text()
    written = Manifest(**json.loads(text))
    assert [seed for seed, _ in written.levels["only"]["train"]] == [0, 3, 4]
    assert '    [0, "' in text  # one game a line
    assert list_games.verify(Tiny, written) == []
    written.levels["only"]["test"][0][1] = "0" * 64
    assert list_games.verify(Tiny, written) == ["tiny/only/test/0"]


def test_unknown_names_are_reported(capsys):
    from gym_memory.core.errors import UnknownNameError

    with pytest.raises(UnknownNameError, match="Cokking"):
        list_games.main(["Cokking"])
