"""The memory ``belief``: reading, state, recall, and the weights that it accepts."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.core.errors import CheckpointError, InvalidArgumentError, StoreError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory.base import count_tokens
from gym_memory.testing.fake_env import FakeHouse
from gym_memory_belief.memory import HEAD, Belief, relation_name
from gym_memory_belief.reading import find_names, mentions, names_in_action, read
from gym_memory_belief.sight import FLAGS, PAIRS, look, new_names
from gym_memory_belief.updater import row_of
from gym_memory_belief.weights import (
    DEFAULT_WEIGHTS,
    Sizes,
    load_weights,
    save_weights,
    shapes,
)

TASK = Task("house/0", "Find the key.")
ROOM = "-= Kitchen =-\nYou see a fridge. The fridge contains {}. On the counter is a knife.\n"
ACTIONS = ("go east", "take {} from fridge", "take knife from counter")


def room(food: str) -> Step:
    return Step(0, ROOM.format(food), "", 0.0, "", tuple(a.format(food) for a in ACTIONS))


def random_weights(path: Path, seed: int = 0, relations: int = 3) -> str:
    """Return an untrained updater with an empty table of words, as for unseen words."""
    rng = np.random.default_rng(seed)
    sizes = Sizes(relations=relations, rows=64, dim=8, hidden=8)
    arrays = {name: rng.normal(0, 0.5, shape) for name, shape in shapes(sizes).items()}
    arrays["words"][:] = 0
    save_weights(path, sizes, arrays, {"made": "at random"})
    return str(path)


def begun(weights: str = "", **arguments: object) -> Belief:
    memory = Belief(weights, **arguments)  # type: ignore[arg-type]
    memory.begin(TASK, 0)
    return memory


# ---------------------------------------------------------------- reading


def test_names_of_actions_headings_and_lists() -> None:
    assert names_in_action("insert the red apple into oven") == ("red apple", "oven")
    assert names_in_action("take block of cheese from table") == ("block of cheese", "table")
    text = read(
        "-= Living Room =-\nIngredients:\n  red potato\n\nDirections:\n  dice the leek\n", 99
    )
    assert text.heading == "living room"
    assert list(find_names(text, {}, phrases=False)) == ["living room", "red potato", "leek"]
    assert list(find_names(text, {"potato": 1}, phrases=False)) == ["living room", "leek"]


def test_noun_phrases_are_names_without_listed_actions() -> None:
    step = Step(0, "You see a raw carrot and an old lamp.")
    assert new_names(step, {"you": 0, "carrot": 1}) == ["old lamp"]
    assert new_names(step._replace(valid_actions=("take carrot",)), {"you": 0}) == ["carrot"]


def test_the_longest_name_is_mentioned() -> None:
    text = read("You put the red hot pepper on a pepper mill.", 99)
    known = dict.fromkeys(("pepper", "red hot pepper", "mill"))
    assert [m.name for m in mentions(text, known)] == ["you", "red hot pepper", "pepper", "mill"]


@given(st.text(max_size=300), st.integers(1, 40))
def test_any_text_can_be_read(text: str, most: int) -> None:
    words = read(text, most)
    assert len(words.words) == len(words.sentences) <= most
    assert list(words.sentences) == sorted(words.sentences)
    known = dict.fromkeys(find_names(words, {}, phrases=True))
    end = 0
    for mention in mentions(words, known):
        assert end <= mention.start < mention.end <= len(words.words)
        assert " ".join(words.words[mention.start : mention.end]) == mention.name
        end = mention.end


def test_step_becomes_arrays() -> None:
    names = ["you", *new_names(room("leek"), {"you": 0})]
    index = {name: i for i, name in enumerate(names)}
    assert set(names) == {"you", "east", "leek", "fridge", "knife", "counter", "kitchen"}
    sight = look(room("leek"), index)
    flags = {name: sight.flags[i].nonzero()[0].tolist() for name, i in index.items()}
    where = {name: [FLAGS[f] for f in found] for name, found in flags.items()}
    assert where["kitchen"] == ["text", "heading"]
    assert where["leek"] == ["text", "valid"]
    assert where["east"] == ["valid"]
    kinds = {(one, two): PAIRS[kind] for one, two, kind in sight.pairs.tolist() if kind < 4}
    assert kinds[index["fridge"], index["leek"]] == "near after"
    assert kinds[index["leek"], index["fridge"]] == "near before"
    assert (index["leek"], index["knife"]) not in kinds  # of another sentence


# ---------------------------------------------------------------- what is kept


def test_unknown_names_are_treated_alike(tmp_path: Path) -> None:
    """Another food in its place gives the same belief."""
    weights = random_weights(tmp_path / "w")
    one, two = begun(weights), begun(weights)
    for memory, food in ((one, "leek"), (two, "papaya")):
        for _ in range(3):
            memory.observe(room(food))
    assert [n.replace("leek", "papaya") for n in one.names] == list(two.names)
    assert (one.strengths == two.strengths).all()
    assert one.strengths.std() > 0.01


def test_step_changes_only_edges_of_named_nodes() -> None:
    memory = begun()
    memory.observe(room("leek"))
    before = memory.strengths
    memory.observe(Step(1, "Nothing happens.", "wait"))
    assert (memory.strengths[1:, 1:] == before[1:, 1:]).all()
    memory.observe(Step(2, "The leek is rotten.", "look"))
    changed = (memory.strengths != before).any(2)
    leek, others = memory.names.index("leek"), ("knife", "fridge", "counter")
    assert changed[leek].any()
    assert not any(changed[memory.names.index(a), memory.names.index(b)]
                   for a in others for b in others)  # fmt: skip


def test_strengths_stay_in_0_to_1_as_float16() -> None:
    memory = begun()
    env = FakeHouse()
    obs, _ = env.reset(seed=0)
    for t in range(30):
        actions = obs["valid_actions"]
        memory.observe(Step(t, obs["text"], "", 0.0, obs["inventory"], actions))
        obs = env.step(actions[t % len(actions)])[0]
    edges = memory.strengths
    assert edges.min() >= 0
    assert edges.max() <= 1
    assert (edges.astype(np.float16) == edges).all()
    assert edges.shape == (len(memory.names),) * 2 + (memory.weights.sizes.relations,)


def test_new_name_replaces_the_least_recent_one(tmp_path: Path) -> None:
    memory = begun(random_weights(tmp_path / "w"), nodes=8)
    for t in range(12):
        memory.observe(Step(t, "", f"take thing{t} from shelf"))
    assert len(memory.names) == 8
    assert memory.names[:2] == ("you", "shelf")
    assert memory.names[2:] == tuple(f"thing{t}" for t in range(6, 12))
    snapshot = memory.snapshot()
    memory.observe(Step(12, "", "take thing3 from shelf"))
    assert "thing6" not in memory.names
    memory.restore(snapshot)
    assert "thing6" in memory.names
    many = Step(13, "", "", 0.0, "", tuple(f"take item{i}" for i in range(50)))
    memory.observe(many)
    assert len(memory.names) == 8


# ---------------------------------------------------------------- what is recalled


def holding(table: np.ndarray, weights: str, **arguments: object) -> Belief:
    """Return a memory with these edges; its names are ``you``, ``a``, ``b``, ..."""
    names = ["you", *"abcdefgh"][: len(table)]
    memory = begun(weights, **arguments)
    coded = base64.b64encode(table.astype("<f2").tobytes()).decode()
    state = {**memory.state(), "names": names, "last": [0] * len(names), "belief": coded}
    memory.load_state(state)
    return memory


def test_recall_has_edges_that_stand_out(tmp_path: Path) -> None:
    """State a relation to all others once, as one of the name itself."""
    edges = np.zeros((5, 5, 3), dtype=np.float32)
    edges[:, 3, 0] = 1.0  # all of them to c
    edges[1, 2, 0] = 0.6  # a to b
    edges[2, 1, 1] = 0.9
    edges[4, 4, 2] = 0.4  # too weak
    memory = holding(edges, random_weights(tmp_path / "w"), edges=1)
    recall = memory.recall(Cue(""), 1000)
    assert recall.text.splitlines() == [HEAD, "c: belief 1 c", "b: belief 2 a", "a: belief 1 b"]
    assert recall.triples[0] == ("c", "belief 1", "c")
    assert "latent" in HEAD
    assert relation_name(1) == "belief 2"
    few = memory.recall(Cue(""), count_tokens(HEAD) + 5)
    assert few.triples == recall.triples[:1]


def test_recall_has_edges_of_every_relation(tmp_path: Path) -> None:
    edges = np.random.default_rng(0).uniform(0.5, 1.0, (6, 6, 3))
    shown = holding(edges, random_weights(tmp_path / "w"), edges=4).recall(Cue(""), 1000).triples
    for relation in ("belief 1", "belief 2", "belief 3"):
        mine = [t for t in shown if t.relation == relation]
        assert len([t for t in mine if t.subject == t.object]) == 4
        assert len([t for t in mine if t.subject != t.object]) == 4


def test_weak_edges_are_not_recalled(tmp_path: Path) -> None:
    memory = begun(random_weights(tmp_path / "w"), edges=10_000)
    memory.observe(room("leek"))
    shown = memory.recall(Cue(""), 100_000).triples
    assert len(shown) == memory.stats().facts == (memory.strengths >= 0.5).sum() > 0
    assert not begun(random_weights(tmp_path / "w"), threshold=1).recall(Cue(""), 1000).text


# ---------------------------------------------------------------- weights


def test_shipped_weights_are_small_and_state_their_training() -> None:
    assert DEFAULT_WEIGHTS.stat().st_size < 300_000
    weights = load_weights()
    measured = weights.about["measured"]
    assert measured["accuracy"] > 2 * measured["chance"]
    assert weights.about["config"]["envs"]


def test_weights_are_in_the_safetensors_format() -> None:
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(DEFAULT_WEIGHTS, framework="numpy") as file:
        assert set(file.keys()) == set(load_weights().arrays)
        gate = file.get_tensor("gate")
    assert (gate.astype(np.float32) == load_weights().arrays["gate"]).all()


@pytest.mark.parametrize("content", [None, b"", b"not weights at all", b"\x02\0\0\0\0\0\0\0{}"])
def test_wrong_weights_are_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match="gym-memory memory pretrain"):
        Belief(str(path))


def test_weights_of_other_sizes_are_refused(tmp_path: Path) -> None:
    path = Path(random_weights(tmp_path / "w"))
    path.write_bytes(path.read_bytes().replace(b'\\"hidden\\": 8', b'\\"hidden\\": 9'))
    with pytest.raises(CheckpointError, match="of shape"):
        Belief(str(path))


def test_a_state_of_other_weights_is_refused(tmp_path: Path) -> None:
    memory = begun(random_weights(tmp_path / "one"))
    memory.observe(room("leek"))
    memory.save(tmp_path / "memory.json")
    other = begun(random_weights(tmp_path / "two", seed=1))
    with pytest.raises(StoreError, match="made by weights"):
        other.load(tmp_path / "memory.json")
    assert other.names == ("you",)


@pytest.mark.parametrize(
    "arguments", [{"edges": 0}, {"nodes": 3}, {"threshold": 2}, {"threshold": "x"}, {"weights": 3}]
)
def test_wrong_arguments_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        Belief(**arguments)  # type: ignore[arg-type]


def test_a_word_has_the_same_row_everywhere() -> None:
    assert [row_of(word, 2048) for word in ("carrot", "", "\ud83d")] == [1230, 0, 313]
