"""Graphs in a file and on a real server: as of any step, shared by writers, searched by meaning."""

from __future__ import annotations

import multiprocessing
import pickle
import random

import pytest

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, StoreError
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Outcome, Step, Task, Triple
from gym_memory.graph import Source, TemporalGraph
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.stores import facts as module
from gym_memory.memory.stores.episodes import EpisodeStore
from gym_memory.memory.stores.facts import FactStore, Mark, replay

pytestmark = pytest.mark.slow

ROOMS = ("kitchen", "hall", "garden", "cellar")
THINGS = ("apple", "key", "lamp", "knife", "coin")
TASK = Task("house/7", "Find the coin.", "plain")


@pytest.fixture(params=["file", "server"])
def place(request, tmp_path):
    if request.param == "server":
        return request.getfixturevalue("postgres")
    return str(tmp_path / "facts.db")


@pytest.fixture
def elsewhere(monkeypatch):
    """Forget this process's replicas, as another process would not have them."""
    return module.forget_replicas


def play(memory: AriGraph, seed: int, task: Task = TASK, steps: int = 12) -> None:
    chance = random.Random(seed)
    memory.begin(task, 0)
    for t in range(steps):
        room, thing = chance.choice(ROOMS), chance.choice(THINGS)
        text = f"You are in the {room}. The {thing} is on the table."
        memory.observe(Step(t, text, f"go {room}" if t else "", valid_actions=("look", "north")))
        memory.recall(Cue(text, task.goal), 200)
    memory.end(Outcome(steps=steps))


def content(memory: AriGraph) -> dict:
    return {key: value for key, value in memory.state().items() if key != "calls"}


def test_stored_memory_equals_the_one_in_its_process(place, elsewhere):
    alone = AriGraph(lifetime="trial")
    for seed in range(3):
        play(alone, seed)
        elsewhere()  # every episode as in a process of its own
        play(AriGraph(lifetime="trial", store=place), seed)
    elsewhere()
    kept = AriGraph(lifetime="trial", store=place)
    for memory in (alone, kept):
        memory.begin(TASK, 0)
    assert content(kept) == content(alone)
    store = FactStore(place)
    for t in (0, 5, 11, 12, 30):
        assert store.as_of("house", TASK.id, t) == alone.graph.as_of(t)


def test_facts_added_by_others_are_kept(place):
    memories = [AriGraph(lifetime="task", store=place) for _ in range(3)]
    for memory in memories:
        memory.begin(TASK, 0)
    for at, memory in enumerate(memories):
        memory.observe(Step(0, f"You are in the {ROOMS[at]}. The {THINGS[at]} is on the table."))
    for memory in memories:
        memory.end(Outcome())
    graph, episodes, last = FactStore(place).partition("house", TASK.goal).copy()
    assert [(e.id, e.t) for e in episodes] == [(0, 0), (1, 1), (2, 2)]
    assert last == TASK.id
    for at in range(3):
        assert Triple(THINGS[at], "is on", "table") in graph
        assert Triple(THINGS[at], "is on", "table") in episodes[at].triples
    rebuilt = TemporalGraph()
    rebuilt.load_state(graph.state())
    assert rebuilt.state() == graph.state()


def test_confirmed_and_ended_facts_survive_changes_by_others():
    way, lamp = Triple("hall", "has exit", "east"), Triple("lamp", "is on", "table")
    states = [(TemporalGraph(), EpisodeStore()) for _ in range(2)]
    for graph, _ in states:
        for fact in (way, lamp):
            graph.add(fact, 0)
    (graph, episodes), (other, _) = states
    mark = Mark.of(graph, episodes)
    other.retire(way, 0)
    episodes.add(1, "An exit leads east.", "look", [way])
    graph.mention(way, Source(0, 0, 19))
    graph.retire(lamp, 1)
    replay(states[0], mark, states[1], 2)
    assert [(e.t, e.text) for e in states[1][1]] == [(3, "An exit leads east.")]
    assert set(other.live()) == {way}
    assert [fact.intervals for fact in map(other.fact, (way, lamp))] == [[(3, None)], [(0, 3)]]


def test_interrupted_episode_adds_nothing(place):
    memory = AriGraph(lifetime="forever", store=place)
    memory.begin(TASK, 0)
    memory.observe(Step(0, "You are in the hall. The key is on the table."))
    assert FactStore(place).partitions() == {}

    def fail(graph, episodes, last):
        graph.add(Triple("a", "is in", "b"), 0)
        raise RuntimeError("no")

    part = FactStore(place).partition("house", "")
    with pytest.raises(RuntimeError):
        part.append(fail)
    assert part.copy()[0].events == []
    assert FactStore(place).partitions() == {}
    play(memory, 1)
    assert FactStore(place).partitions()["house", ""] > 3


def test_each_task_and_environment_has_a_partition(place):
    for task in (TASK, TASK._replace(id="house/8"), TASK._replace(id="ship/1", goal="Sail.")):
        play(AriGraph(lifetime="trial", store=place), 1, task)
        play(AriGraph(lifetime="forever", store=place), 1, task)
    assert list(FactStore(place).partitions()) == [
        ("house", ""), ("house", "house/7"), ("house", "house/8"), ("ship", ""), ("ship", "ship/1"),
    ]  # fmt: skip
    with pytest.raises(InvalidArgumentError, match="lifetime of 'trial'"):
        AriGraph(store=place)


def test_search_equals_that_of_the_process(place, elsewhere):
    encoder = make_encoder("hash")
    store = FactStore(place)
    by_task = {
        task: [Triple(f"{thing} {n}", "is in", room) for n in range(6) for thing in THINGS]
        for task, room in zip(("t1", "t2"), ROOMS, strict=False)
    }
    for task, facts in by_task.items():
        store.partition("house", task, encoder).append(
            lambda graph, episodes, last, facts=facts: [graph.add(f, 0) for f in facts]
        )
    store.partition("house", "t1", encoder).append(
        lambda graph, episodes, last: graph.retire(Triple("key 3", "is in", "kitchen"), 1)
    )
    found = store.search(encoder, "key 3", 4, "house", "t1")
    assert Triple("key 3", "is in", "kitchen") not in [f.triple for f in found]
    index = module_index(encoder, [f for f in by_task["t1"] if f.subject != "key 3"])
    assert [(f.triple, f.similarity) for f in found] == index("key 3", 4)
    everywhere = store.search(encoder, "key 3", 1)
    assert everywhere[0][:3] == ("house", "t2", Triple("key 3", "is in", "hall"))
    store.index(encoder)
    assert store.search(encoder, "key 3", 1) == everywhere
    assert store.search(encoder, "key", 3, env="ship") == []
    elsewhere()
    encoder.encode(["warm"])
    graph, *_ = FactStore(place).partition("house", "t2", encoder).copy()
    assert list(graph.live()) == by_task["t2"]
    with pytest.raises(StoreError, match="written with 'hash-256'"):
        FactStore(place).partition("house", "t2").copy()


def module_index(encoder, facts):
    from gym_memory.memory.encoders.vectors import VectorIndex

    index = VectorIndex(encoder.dim)
    index.add(range(len(facts)), encoder.encode([str(f) for f in facts]))
    return lambda text, k: [
        (facts[at], value) for at, value in index.search(encoder.encode([text]), k)[0]
    ]


def _writer(place: str, name: str) -> None:
    for seed in range(5):
        play(AriGraph(lifetime="task", store=place), seed, TASK._replace(id=f"house/{name}"), 3)


def test_processes_append_whole_episodes(place):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_writer, args=(place, str(n))) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)
        assert writer.exitcode == 0
    graph, episodes, _ = FactStore(place).partition("house", TASK.goal).copy()
    assert [e.t for e in episodes] == list(range(30))
    assert [e.action for e in episodes][::3] == [""] * 10  # no two episodes are mixed
    rebuilt = TemporalGraph()
    rebuilt.load_state(graph.state())
    assert rebuilt.state() == graph.state()


def test_a_password_is_in_no_message(postgres, monkeypatch):
    secret = postgres.replace("postgres:@", "postgres:s3cret@")
    store = FactStore(secret)
    assert "s3cret" not in store.place
    assert FactStore(pickle.loads(pickle.dumps(secret))).partitions() == {}
    wrong = [
        secret.replace("/test_", "/none_"),
        "postgresql://u:s3cret@localhost:1/db?connect_timeout=2",
        "postgresql://u:s3cret@h:port/db",
        "postgresql://u:s3cret@h/db?nothing=1",
    ]
    for url in wrong:
        with pytest.raises(StoreError) as error:
            FactStore(url, timeout=2)
        assert "s3cret" not in "".join(map(str, (error.value, error.value.__cause__)))
    for make in (
        lambda: Spec(f"arigraph?lifetime=task&store={secret}"),
        lambda: Spec.of("arigraph", {"store": secret}),
        lambda: Spec("arigraph?store=postgresql%3A%2F%2Fu%3As3cret%40h%2Fdb"),
        lambda: Spec("arigraph?store=postgresql:///db?password=s3cret"),
    ):
        with pytest.raises(GymMemoryError, match="PGPASSWORD") as error:
            make()
        assert "s3cret" not in str(error.value)
    spec = Spec("clin?store=postgresql://u@h:5432/db")
    assert Spec(Spec.of(*spec.parts)) == spec
