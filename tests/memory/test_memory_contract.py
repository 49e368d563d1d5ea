"""One contract for every memory in the table; a new memory is tested by being listed there."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from work import calls, guarded

from gym_memory.core.errors import StoreError
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task, Triple
from gym_memory.memory import MEMORIES, Memory, make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.testing.fake_env import FakeHouse

TASK = Task("house/0", "Find the golden key.", "textworld")
OUTCOME = Outcome(1.0, 2.0, 0.5, False, False, 12)
VARIANTS = [
    "history?window=3",
    "history?full=true",
    "arigraph?episodic=false",
    "arigraph?semantic=false&exploration=false",
    "arigraph?lifetime=trial",
    "arigraph?recall=semantic&encoder=hash",
    "stma?encoder=hash&buffer=3&size=100",
    "stma?summarizer=false&spatial_summarizer=false&aggregator=false&buffer=5",
    "stma?spatial=false",
    "rag?recent=3&order=rank",
    "rag?by=hash&k=5",
    "simulacra?threshold=9&recent=1",
    "clin?lifetime=forever&advice=true",
    "reflexion?inner=arigraph",
]
"""Parameters worth the whole contract, besides every name with its defaults."""

SPECS = [*MEMORIES.names(), *VARIANTS]
HERE = str(Path(__file__).parent)

pytestmark = pytest.mark.parametrize("spec", SPECS)


class Walk:
    """A random walk through the fake house: what a wrapper would hand to a memory."""

    def __init__(self, memory: Memory, seed: int = 0):
        self.memory, self.random = memory, random.Random(seed)
        self.env = FakeHouse(max_steps=1_000_000)
        if memory.uses_oracle:
            memory.oracle = self.env.oracle

    def reset(self, number: int = 0) -> Cue:
        obs, info = self.env.reset(seed=number)
        self.memory.begin(Task(info["task_id"], obs["task"], self.env.dialect), number)
        return self._see(obs, "", 0.0, 0)

    def step(self) -> Cue:
        # Eating the food or putting it on the table would end the walk.
        action = self.random.choice(
            [a for a in self.env.valid_actions() if "eat " not in a and not a.endswith("on table")]
        )
        obs, reward, terminated, _, info = self.env.step(action)
        assert not terminated
        self.memory.write(f"note: {action}")  # where the policy writes; elsewhere nothing
        return self._see(obs, action, reward, info["moves"])

    def _see(self, obs: dict, action: str, reward: float, t: int) -> Cue:
        self.memory.observe(
            Step(t, obs["text"], action, reward, obs["inventory"], obs["valid_actions"])
        )
        return Cue(obs["text"], obs["task"], obs["inventory"], obs["valid_actions"])


def walked(spec: str, steps: int = 25, seed: int = 0) -> tuple[Memory, Cue]:
    memory = make_memory(spec)
    walk = Walk(memory, seed)
    cue = walk.reset()
    for _ in range(steps):
        cue = walk.step()
    return memory, cue


def dump(memory: Memory) -> str:
    return json.dumps(memory.state())


def begun(spec: str) -> Memory:
    memory = make_memory(spec)
    if memory.uses_oracle:
        env = FakeHouse()
        env.reset(seed=0)
        memory.oracle = env.oracle
    memory.begin(TASK, 0)
    return memory


def test_names_and_lifetimes(spec: str) -> None:
    memory = make_memory(spec)
    assert isinstance(memory, Memory)
    assert memory.name == spec.partition("?")[0]
    assert set(memory.lifetimes.values()) <= {"step", "episode", "trial", "task", "forever"}


def test_recall_has_the_declared_types(spec: str) -> None:
    memory, cue = walked(spec)
    recall = memory.recall(cue, 1000)
    assert isinstance(recall, Recall)
    assert isinstance(recall.text, str)
    for fact in recall.triples:
        assert isinstance(fact, Triple)
        assert all(isinstance(part, str) and part for part in fact)
    assert isinstance(recall.triples, tuple)
    for texts in (recall.episodes, recall.lessons):
        assert isinstance(texts, tuple)
        assert all(isinstance(text, str) for text in texts)
    stats = memory.stats()
    assert isinstance(stats, MemoryStats)
    assert 0 <= stats.live_facts <= stats.facts


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_memory_contract import fingerprint
print(json.dumps({spec: fingerprint(spec) for spec in sys.argv[2:]}))
"""


def fingerprint(spec: str) -> list[str]:
    try:
        memory, cue = walked(spec, 60)
        return [dump(memory), repr(memory.recall(cue, 200)), repr(memory.recall(cue, 2000))]
    except Exception as error:  # the other memories must still be compared
        return [repr(error)]


@pytest.fixture(scope="session")
def processes(python) -> list[dict[str, list[str]]]:
    """Return the states and recalls of every memory in two processes with different hash seeds."""
    outputs = [python(PROGRAM, HERE, *SPECS, hashseed=seed) for seed in (1, 2)]
    return [json.loads(output) for output in outputs]


@pytest.mark.slow
def test_same_in_any_process(spec: str, processes: list[dict[str, list[str]]]) -> None:
    one, two = (process[spec] for process in processes)
    assert one == two
    assert one == fingerprint(spec)
    assert len(one) == 3, one


def test_reset_clears_layers_by_lifetime(spec: str) -> None:
    """The next task has another goal, so only what lives forever may be left."""
    memory, _ = walked(spec)
    memory.end(OUTCOME)
    fresh = make_memory(spec)
    cue = Walk(memory).reset(3)
    assert cue == Walk(fresh).reset(3)
    if "forever" in memory.lifetimes.values():
        for layer, lifetime in memory.lifetimes.items():
            if lifetime != "forever" and layer in memory.state():
                assert memory.state()[layer] == fresh.state()[layer]
    else:
        assert dump(memory) == dump(fresh)
        assert memory.recall(cue, 500) == fresh.recall(cue, 500)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 1, 50, 1000])
def test_budget_is_kept(spec: str, budget: int) -> None:
    memory = make_memory(spec)
    walk = Walk(memory)
    cue = walk.reset()
    for _ in range(40):
        for asked in (cue, cue._replace(text="elsewhere"), cue._replace(focus="find the key")):
            recall = memory.recall(asked, budget)
            assert count_tokens(recall.text) <= budget or not memory.keeps_budget
        cue = walk.step()


@pytest.mark.slow
def test_recall_is_pure(spec: str) -> None:
    memory = make_memory(spec)
    silent = make_memory(spec)
    walk, quiet = Walk(memory), Walk(silent)
    cue = walk.reset()
    quiet.reset()
    for _ in range(20):
        before = dump(memory)
        first = memory.recall(cue, 300)
        memory.recall(Cue("a kitchen", focus="go north"), 10)
        assert memory.recall(cue, 300) == first
        assert dump(memory) == before
        cue = walk.step()
        assert quiet.step() == cue
    # Nor does it change what is learnt later.
    assert dump(memory) == dump(silent)
    assert memory.recall(cue, 300) == silent.recall(cue, 300)


def test_snapshot_and_restore(spec: str) -> None:
    memory = make_memory(spec)
    walk = Walk(memory)
    walk.reset()
    for _ in range(10):
        cue = walk.step()
    state, recall, below = dump(memory), memory.recall(cue, 400), walk.env.snapshot()
    snapshot = memory.snapshot()
    for branch in range(3):
        walk.random.seed(branch)
        for _ in range(8):
            walk.step()
        if memory.lifetimes:
            assert dump(memory) != state
        memory.restore(snapshot)
        walk.env.restore(below)
        assert dump(memory) == state
        assert memory.recall(cue, 400) == recall


def test_restored_memory_learns_like_the_first(spec: str) -> None:
    memory = make_memory(spec)
    walk = Walk(memory)
    walk.reset()
    for _ in range(10):
        walk.step()
    snapshot, below, chance = memory.snapshot(), walk.env.snapshot(), walk.random.getstate()
    ends = []
    for _ in range(2):
        cues = [walk.step() for _ in range(10)]
        ends.append((dump(memory), memory.recall(cues[-1], 400)))
        memory.restore(snapshot)
        walk.env.restore(below)
        walk.random.setstate(chance)
    assert ends[0] == ends[1]


def test_fork_is_independent(spec: str) -> None:
    memory, cue = walked(spec, 10)
    state, recall = dump(memory), memory.recall(cue, 400)
    twin = memory.fork()
    assert type(twin) is type(memory)
    assert dump(twin) == state
    assert twin.recall(cue, 400) == recall
    step = Step(11, "-= Attic =-\nYou are in an attic. You see a chest.\n", "go up")
    twin.observe(step)
    assert dump(memory) == state
    forked = dump(twin)
    memory.observe(step._replace(text="-= Cellar =-\nYou are in a cellar.\n", action="go down"))
    assert dump(twin) == forked


@pytest.mark.slow
def test_save_and_load(spec: str, tmp_path) -> None:
    memory, cue = walked(spec)
    path = tmp_path / "memory.json"
    memory.save(path)
    memory.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["memory.json"]
    other = begun(spec)
    other.load(path)
    assert dump(other) == dump(memory)
    if not memory.uses_oracle:
        assert other.recall(cue, 300) == memory.recall(cue, 300)
    # What was loaded goes on like what was saved.
    step = Step(26, "-= Attic =-\nYou are in an attic. You see a chest.\n", "go up")
    for m in (memory, other):
        m.oracle = memory.oracle
        m.observe(step)
    assert dump(other) == dump(memory)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"[]",
        b'"text"',
        b"{}",
        b'{"format": 1, "memory": "some other", "state": {}}',
        b'{"format": 99, "memory": "NAME", "state": {}}',
        b'{"format": 1, "memory": "NAME", "state": [1]}',
    ],
)
def test_wrong_file_is_refused(spec: str, content: bytes, tmp_path) -> None:
    memory, _ = walked(spec, 5)
    state = dump(memory)
    path = tmp_path / "wrong.json"
    path.write_bytes(content.replace(b"NAME", memory.name.encode()))
    if memory.lifetimes or b"[1]" not in content:
        with pytest.raises(StoreError, match=r"wrong\.json"):
            memory.load(path)
    assert dump(memory) == state


def test_missing_file_is_reported(spec: str, tmp_path) -> None:
    memory = begun(spec)
    with pytest.raises(StoreError, match=r"absent\.json"):
        memory.load(tmp_path / "absent.json")
    with pytest.raises(StoreError, match="nowhere"):
        memory.save(tmp_path / "nowhere" / "memory.json")


ODD = {
    "empty": "",
    "blank": " \n\t ",
    "control": "\x00\x01\x07\x1b[31m You see \x7f a \r\n key \u2028 here \x85",
    "surrogate": "a broken \ud83d smile",
    "unicode": "Straße, naïve café, 日本語, 🗝️ on the table.",
    "banner": "-= =-\n-= -= =- =-\n",
    "quotes": 'He said "you see, a, key, here" and \\ left; {"a": [1]}',
    "commas": "You see a red, blue and green, big key.",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD)
def test_odd_text_is_accepted(spec: str, kind: str, tmp_path) -> None:
    memory = begun(spec)
    text = ODD[kind]
    for t in range(4):
        memory.observe(Step(t, text, text if t else "", 0.0, text, (text, "look")))
        for cue in (Cue(text, text, text, (text,), text), Cue("")):
            assert count_tokens(memory.recall(cue, 30).text) <= 30 or not memory.keeps_budget
    memory.end(OUTCOME)
    memory.save(tmp_path / "memory.json")
    other = begun(spec)
    other.load(tmp_path / "memory.json")
    assert dump(other) == dump(memory)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["nethack", "textworld", "alfworld", "scienceworld", "webshop"])
def test_blank_names_are_accepted(spec: str, dialect: str) -> None:
    """A name that is blank is no fact, and no end of the episode."""
    if spec.startswith("oracle"):
        pytest.skip("does not read")
    gaps = (
        "b - a ",
        "b - ",
        "b -  (weapon in hand)",
        "c -  (being worn)",
        "You are carrying: a ,  .",
    )
    memory = make_memory(spec)
    memory.begin(Task("t", "Find  in .", dialect), 0)
    for t, gap in enumerate(gaps):
        text = f"You are in room 1 of level 2.\nRoom 1, .\n- items: {gap}; ;  \nOn the  you see a ."
        step = Step(t, text, "take  from ", 0.0, gap)
        memory.observe(step)
        memory.recall(Cue(text, "", gap, (), " "), 500)
    memory.end(OUTCOME)


@pytest.mark.slow
def test_megabyte_of_text(spec: str) -> None:
    memory = begun(spec)
    room = "-= Hall =-\nYou are in a hall. "
    texts = [
        room + "You see a key. " * 70_000,
        "x" * 1_000_000,
        "There is a door " * 60_000,
        "," * 1_000_000,
        "\n" * 1_000_000,
        "-= " * 330_000,
    ]

    def observe_and_recall() -> None:
        for t, text in enumerate(texts):
            memory.observe(Step(t, text, "look", 0.0, "You are carrying nothing."))
            recall = memory.recall(Cue(text), 1000)
            assert count_tokens(recall.text) <= 1000 or not memory.keeps_budget

    guarded(observe_and_recall)


def _cost(memory: Memory, walk: Walk, steps: int) -> int:
    def step() -> None:
        memory.recall(walk.step(), 1000)

    return sum(calls(step) for _ in range(steps))


@pytest.mark.slow
def test_cost_of_a_step_stays_constant(spec: str) -> None:
    """3,000 steps in one house: a step at the end costs about what one at the start did."""
    memory = make_memory(spec)
    walk = Walk(memory)
    memory.recall(walk.reset(), 1000)
    for _ in range(200):
        memory.recall(walk.step(), 1000)
    early = _cost(memory, walk, 100)
    for at in range(2_600):
        cue = walk.step()
        if at % 10 == 0:
            memory.recall(cue, 1000)
    late = _cost(memory, walk, 100)
    # What grows with the steps would have grown tenfold; a whole transcript does.
    assert late < 3 * early or not memory.keeps_budget
    assert late / 100 < 10_000
