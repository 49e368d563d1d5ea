"""CLIN: learnings from traces, certainty, meta-memory, lifetimes, store, models."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from gym_memory.core.errors import InvalidArgumentError, StoreError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory import Memory, make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.memory.clin import Clin
from gym_memory.memory.lessons.abstractions import (
    ALIVE,
    SCORING,
    abstract_causes,
    generalize_causes,
)
from gym_memory.memory.lessons.causes import NEW
from gym_memory.memory.roles.base import CausalAbstraction, Learnings
from gym_memory.memory.roles.llm_lessons import LLMAbstractCauses, LLMGeneralizeCauses
from gym_memory.memory.stores.store import Store
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.fake_env import FakeHouse

HERE = str(Path(__file__).parent)
TASK = Task("house/a/0", "Find the golden key.")
DETOUR = ["look", "go north", "go south", "look", "open wooden door", "go east", "open fridge"]
DETOUR += ["close fridge", "open fridge", "take apple from fridge", "go west"]


def trial_of(actions: Iterable[str], seed: int = 0) -> tuple[list[Step], Outcome, Task]:
    """Return the observations after these actions in the house."""
    env = FakeHouse(max_steps=1000)
    obs, info = env.reset(seed=0, options={"task_id": f"fakehouse/train/{seed}"})
    task = Task(info["task_id"], obs["task"], env.dialect)
    trace = [Step(0, obs["text"], "", 0.0, obs["inventory"], obs["valid_actions"])]
    for t, action in enumerate(actions, 1):
        obs, reward, ended, _, info = env.step(action)
        trace.append(
            Step(t, obs["text"], action, reward, obs["inventory"], obs["valid_actions"], ended)
        )
        if ended:
            break
    score = info["score"]
    outcome = Outcome(score, 2.0, score / 2, info["success"], info["lost"], len(trace) - 1)
    return trace, outcome, task


def play(memory: Memory, actions: Iterable[str], seed: int = 0) -> None:
    """Play one trial as the wrapper would."""
    trace, outcome, task = trial_of(actions, seed)
    memory.begin(task, 0)
    for step in trace:
        memory.observe(step)
    memory.end(outcome)


def begin(memory: Clin, seed: int) -> None:
    trace, _, task = trial_of((), seed)
    memory.begin(task, 0)
    memory.observe(trace[0])


def lessons(memory: Clin, **cue: object) -> list[str]:
    """Return all lessons in the order of their ids, except these."""
    sentences = memory.recall(Cue("", **cue), 10_000).lessons
    numbered = sorted((int(line.partition(". ")[0]), line.partition(". ")[2]) for line in sentences)
    assert [number for number, _ in numbered] == list(range(1, len(sentences) + 1))
    return [line for _, line in numbered]


def scored(action: str, reward: float) -> list[Step]:
    here = ("look", action)
    return [
        Step(0, "-= Hall =-\nA hall.", valid_actions=here),
        Step(1, "You do it.", action, reward, valid_actions=here if not reward else ("look",)),
    ]


def wandering(rng: random.Random, steps: int, seed: int = 0) -> list[str]:
    """Return actions of a random walk that does not lose."""
    env = FakeHouse(max_steps=steps + 1)
    env.reset(seed=0, options={"task_id": f"fakehouse/train/{seed}"})
    actions = []
    for _ in range(steps):
        action = rng.choice([a for a in env.valid_actions() if not a.startswith("eat ")])
        actions.append(action)
        if env.step(action)[2]:
            break
    return actions


# --- meta-memory and lifetimes ------------------------------------------------------------------


def test_gen_env_keeps_learnings_that_agree() -> None:
    shared = CausalAbstraction('"prepare meal" in the kitchen', SCORING)
    one = [shared, CausalAbstraction('"take leek from shelf" in the shed', SCORING)]
    two = [shared, CausalAbstraction('"take yam" in the hall', SCORING)]
    two += [CausalAbstraction('"go up" in the hall', "reaching the attic")]
    archive = [Learnings("g", tuple(items), Outcome(1, 2, 0.5)) for items in (one, two)]
    assert [str(a) for a in generalize_causes(archive, TASK, True)] == [
        '"prepare meal" in the kitchen SHOULD BE NECESSARY TO scoring.',
        '"prepare ..." SHOULD BE NECESSARY TO scoring.',
        '"take ..." SHOULD BE NECESSARY TO scoring.',
    ]


def test_gen_env_tells_the_room_where_the_holder_differs() -> None:
    def learnt(*effects: str) -> Learnings:
        sentences = [CausalAbstraction("going to the shed", effect) for effect in effects]
        return Learnings("g", tuple(sentences), Outcome(1, 2, 0.5))

    one = learnt("finding the fern in the pot 1", "finding the nail in the jar")
    two = learnt("finding the fern in the pot 4", "finding the nail in the jar")
    assert [a.effect for a in generalize_causes([one, two], TASK, True)] == [
        "finding the fern",
        "finding the nail in the jar",
    ]


def test_gen_task_keeps_the_environment_without_certainty() -> None:
    learnt = (
        CausalAbstraction('"open fridge" in the pantry', '"take egg from fridge"', certain=True),
        CausalAbstraction('"go up" in the hall', "reaching the attic", certain=True),
        CausalAbstraction('"take egg from fridge" in the pantry', SCORING, certain=True),
        CausalAbstraction('"eat egg" in the pantry', ALIVE, necessary=False, certain=True),
    )
    found = generalize_causes([Learnings("g", learnt, Outcome())], TASK, False)
    assert found == [a._replace(certain=False) for a in learnt[:2]]


def test_gen_task_starts_from_what_looked_same_at_first() -> None:
    memory = Clin(lifetime="forever")
    trace, outcome, task = trial_of(DETOUR)
    start, *way = trial_of(["look", "go north", "go east"])[0]
    for number, steps in ((7, trace), (8, [start._replace(text="A porch."), *way])):
        memory.begin(task._replace(id=f"house/apple/{number}"), 0)
        for step in steps:
            memory.observe(step)
        memory.end(outcome)
    memory.begin(Task("house/pear/7", "Another task."), 0)  # the number says nothing
    memory.observe(Step(0, "A porch."))
    one = lessons(memory)
    assert one
    assert not any("fridge" in lesson for lesson in one)
    memory.begin(Task("house/pear/8", "Another task."), 0)
    memory.observe(Step(0, "A cave."))  # nobody was there: from both
    assert any("fridge" in lesson for lesson in lessons(memory))


def test_gen_task_starts_from_the_same_seed_where_nothing_looked_same() -> None:
    memory = Clin(lifetime="forever")
    trace, outcome, task = trial_of(DETOUR)
    other = trial_of(["look", "go north", "go east"])[0]
    for seed, steps in ((0, trace), (1, other)):
        memory.begin(task._replace(id=f"house/apple/{20 + seed}"), seed)
        for step in steps:
            memory.observe(step)
        memory.end(outcome)
    for seed, opened in ((0, True), (1, False)):
        memory.begin(Task(f"house/pear/{70 + seed}", "Another task."), seed)
        memory.observe(Step(0, "A cave."))
        one = lessons(memory)
        assert one
        assert any("fridge" in lesson for lesson in one) is opened


def test_lost_trial_never_replaces_one_of_equal_score() -> None:
    memory = Clin(lifetime="forever")
    trace, _, task = trial_of(DETOUR)
    for text, lost in (("open fridge", False), ("go north", True)):
        memory.begin(task, 0)
        for step in [*trace, Step(len(trace), "So be it.", text, -1.0)]:
            memory.observe(step)
        memory.end(Outcome(lost=lost))
    memory.begin(Task("other/x/1", "Another task."), 0)
    memory.begin(task, 0)
    memory.observe(trace[0])
    assert not any("staying in the game" in lesson for lesson in lessons(memory))


def test_contents_of_scienceworld_rooms_are_learnt() -> None:
    task = Task("scienceworld/find-plant/1", "Find a plant.", "scienceworld")
    hall = (
        "This room is called the hallway. In it, you see: \n\ta picture\n\ta table. On the table "
    )
    hall += (
        "is: a bowl (containing an orange).\nYou also see:\n\tA door to the kitchen (that is open)"
    )
    hall += "\n\tA door to the workshop (that is closed)"
    texts = [("", hall), ("go to kitchen", "You move to the kitchen."), ("0", "That is no answer.")]
    trace = [Step(t, text, action, float(t == 1)) for t, (action, text) in enumerate(texts)]
    memory = abstract_causes(trace, Outcome(), (), task)
    sentences = [str(a) for a in memory]
    assert "going to the hallway MAY BE NECESSARY TO finding the orange in the bowl." in sentences
    assert '"go to workshop" in the hallway MAY BE NECESSARY TO finding something new.' in sentences
    assert not any("finding the table" in line or '"0"' in line for line in sentences)
    # Where the agent itself put something is no place to find it.
    acts = [("pick up orange", "You move the orange to the inventory.", "an orange")]
    acts += [("go to kitchen", "You move to the kitchen.", "an orange")]
    kitchen = "This room is called the kitchen. In it, you see: \n\ta box (containing nothing)\n"
    acts += [("look around", kitchen, "an orange")]
    acts += [("move orange to box", "You move the orange to the box.", "nothing")]
    moved = [trace[0]._replace(text=hall.replace("bowl (containing an orange)", "bowl"))]
    for t, (action, text, carried) in enumerate(acts, 1):
        held = f"In your inventory, you see:\n\t{carried}"
        moved.append(Step(t, text, action, float(t == 1), held))
    later = [str(a) for a in abstract_causes(moved, Outcome(), (), task)]
    assert any("finding the picture" in line for line in later)
    assert not any("finding the orange" in line for line in later)
    # Known ways are not untaken exits again, in a trial that only passes by.
    known = [*memory, CausalAbstraction('"go to workshop" in the hallway', "reaching the workshop")]
    later = abstract_causes(trace, Outcome(), [known], task)
    assert not any(a.effect == NEW for a in later if "workshop" in a.cause)


def test_lifetime_trial_forgets_the_instance() -> None:
    memory = Clin()
    play(memory, DETOUR)
    begin(memory, 0)
    assert lessons(memory)
    begin(memory, 1)
    assert not lessons(memory)


def test_lifetime_forever_makes_a_meta_memory() -> None:
    memory = Clin(lifetime="forever")
    play(memory, DETOUR)
    play(memory, ["look"])  # a worse trial of the same episode is not the one that is kept
    begin(memory, 1)
    sentences = lessons(memory)
    assert '"take ..." MAY BE NECESSARY TO scoring.' in sentences
    assert '"open ..." MAY BE NECESSARY TO "take ...".' in sentences
    begin(memory, 0)  # an instance that comes back starts from its own best trial
    assert '"take apple from fridge" in the pantry MAY BE NECESSARY TO scoring.' in lessons(memory)


def test_lifetime_task_lasts_as_long_as_the_goal() -> None:
    memory = Clin(lifetime="task")
    trace, outcome, task = trial_of(DETOUR)
    for name, goal, kept in (("b", task.goal, True), ("c", "Something else.", False)):
        memory.begin(task, 0)
        for step in trace:
            memory.observe(step)
        memory.end(outcome)
        memory.begin(Task(name, goal), 0)
        memory.observe(trace[0])
        assert bool(lessons(memory)) == kept


def test_model_sees_best_lists_first_and_goals_behind_actions() -> None:
    with ScriptedServer() as server:
        asked: list[str] = []

        class Kept(OpenAIChat):
            def complete(self, request):
                asked.append(request.messages[1]["content"])
                return super().complete(request)

        model = Kept("scripted", server.base_url)
        long = CausalAbstraction("Walking " + "on " * 12_000, "arriving")
        archive = [
            Learnings(f"goal {n}", (long,), Outcome(1, 1, score)) for n, score in ((0, 1.0), (1, 0))
        ]
        LLMGeneralizeCauses(model, generalize_causes)(archive, TASK, True)
        assert "goal 0" in asked[0], "the best of the archive is not cut"
        steps = [Step(0, "A hall."), Step(1, "A den.", "go east", thought="see the den (near)")]
        LLMAbstractCauses(model, abstract_causes)(steps, Outcome(), [], TASK)
        assert "Thought: see the den (near)\nAction: go east" in asked[1]


def test_archive_keeps_the_best_of_a_kind() -> None:
    memory = Clin(lifetime="forever", archive=3)
    for number in range(12):
        score = number % 7 / 7
        memory.begin(Task(f"house/a/{number}", "A goal."), 0)
        for step in scored("press button", 1.0):
            memory.observe(step)
        memory.end(Outcome(score, 1.0, score))
        memory.end(Outcome(0.0, 1.0, 0.0))
    kept = memory.state()["archive"]
    assert sorted(entry["outcome"][0] for entry in kept) == pytest.approx([4 / 7, 5 / 7, 6 / 7])
    memory.begin(Task("other/a/0", "Another goal."), 0)
    memory.observe(Step(0, "A room."))
    memory.observe(Step(1, "A room.", "wait"))
    memory.end(Outcome())
    assert len(memory.state()["archive"]) == 4  # another kind has places of its own


def test_past_memories_are_bounded() -> None:
    memory = Clin(past=2)
    for _ in range(5):
        play(memory, DETOUR)
    assert len(memory.state()["memories"]) == 2


def test_fork_and_snapshot_learn_apart() -> None:
    memory = Clin(lifetime="forever")
    play(memory, DETOUR)
    snapshot, state = memory.snapshot(), json.dumps(memory.state())
    twin = memory.fork()
    play(twin, ["look", "look"], seed=1)
    assert json.dumps(memory.state()) == state
    play(memory, ["look"], seed=2)
    memory.restore(snapshot)
    assert json.dumps(memory.state()) == state


# --- store --------------------------------------------------------------------------------------


def test_store_outlives_the_object(tmp_path: Path) -> None:
    path = str(tmp_path / "clin.db")
    spec = Spec.of("clin", {"lifetime": "forever", "store": path})
    play(make_memory(spec), DETOUR)
    later = make_memory(spec)
    begin(later, 0)
    assert '"take apple from fridge" in the pantry MAY BE NECESSARY TO scoring.' in lessons(later)
    begin(later, 1)
    assert '"take ..." MAY BE NECESSARY TO scoring.' in lessons(later)
    [record] = Store(path).records("clin")
    assert record.key == "fakehouse/train"
    assert record.payload["outcome"][0] == 1.0


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_clin import DETOUR, play
from gym_memory.memory.clin import Clin
memory = Clin(lifetime="forever", store=sys.argv[2])
for number in map(int, sys.argv[3].split(",")):
    play(memory, ["look"] if number % 2 else DETOUR, number)
"""


@pytest.mark.slow
def test_two_processes_write_one_store(python, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = str(tmp_path / "clin.db")
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(python, WRITER, HERE, path, part) for part in ("0,1,2,3", "3,4,5,0")]
        for run in runs:
            run.result()
    tasks = [record.payload["task"] for record in Store(path).records("clin")]
    assert sorted(tasks) == [f"fakehouse/train/{number}" for number in range(6)]


def test_wrong_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clin.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 10)
    with pytest.raises(StoreError):
        Clin(lifetime="forever", store=str(path))


# --- recall -------------------------------------------------------------------------------------


def test_lessons_on_possible_actions_come_first() -> None:
    memory = Clin(inner="none")
    play(memory, DETOUR)
    cue = Cue("", valid_actions=("open fridge", "look"))
    full = memory.recall(cue, 10_000)
    assert full.lessons[0].startswith('3. "open fridge"')
    numbers = [int(line.partition(".")[0]) for line in full.text.splitlines()[1:]]
    assert numbers == sorted(numbers)  # the text reads in the order of the ids
    short = memory.recall(cue, 30)
    assert short.lessons == full.lessons[:1]
    assert count_tokens(short.text) <= 30
    planned = memory.recall(Cue("", focus='plan: "go east"'), 10_000)
    assert '"go east" in the hall' in planned.lessons[0]


def test_the_present_trial_is_shown_below() -> None:
    memory = Clin()
    play(memory, DETOUR)
    trace, _, task = trial_of(["look"])
    memory.begin(task, 0)
    for step in trace:
        memory.observe(step)
    recall = memory.recall(Cue("elsewhere"), 1000)
    assert recall.text.index("scoring.") < recall.text.index("> look")
    assert len(recall.episodes) == 2
    inner = make_memory("clin?inner=arigraph")
    play(inner, DETOUR)
    assert inner.recall(Cue("elsewhere"), 1000).triples


# --- models -------------------------------------------------------------------------------------


def chat(server: ScriptedServer) -> OpenAIChat:
    return OpenAIChat("scripted", server.base_url, retries=0, timeout=5.0)


def test_a_model_writes_the_memory() -> None:
    with ScriptedServer() as server:
        memory = Clin(lifetime="forever", llm=chat(server))
        play(memory, DETOUR)
        goal = "making progress with the task"
        assert f"take apple from fridge MAY BE NECESSARY TO {goal}." in lessons(memory)
        play(memory, DETOUR)
        assert f"take apple from fridge SHOULD BE NECESSARY TO {goal}." in lessons(memory)
        begin(memory, 1)  # the meta-memory, by the model too
        assert f"take apple from fridge MAY BE NECESSARY TO {goal}." in lessons(memory)
    stats = memory.stats()
    assert (stats.extraction_calls, stats.fallbacks) == (3, 0)


def test_a_model_by_its_spec() -> None:
    with ScriptedServer() as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        memory = make_memory(Spec.of("clin", {"llm": llm, "past": 2}))
        play(memory, DETOUR)
        assert memory.stats().extraction_calls == 1
        assert any("take apple from fridge MAY BE NECESSARY" in line for line in lessons(memory))


def test_rules_replace_a_failing_model() -> None:
    with ScriptedServer(faults=Faults(["500"] * 5)) as server:
        memory, rules = Clin(llm=chat(server)), Clin()
        for one in (memory, rules):
            play(one, DETOUR)
        assert lessons(memory) == lessons(rules)
    assert memory.stats().fallbacks == 1


def test_advice_has_no_form() -> None:
    memory = Clin(advice=True, lifetime="forever")
    play(memory, [*DETOUR[:-1], "eat apple"])
    sentences = lessons(memory)
    assert sentences[0].startswith('Do this first, in this order: "open wooden door", "go east",')
    assert 'Do not do "eat apple" then: it lost the game.' in sentences
    assert not any(CausalAbstraction.parse(line) for line in sentences)
    play(memory, DETOUR)
    assert 'Do not do "eat apple" then: it lost the game.' in lessons(memory)
    assert sum(line.startswith("Do this first") for line in lessons(memory)) == 1
    begin(memory, 1)
    assert lessons(memory)
    with ScriptedServer() as server:
        model = Clin(advice=True, llm=chat(server))
        play(model, DETOUR)
        assert "Do: take apple from fridge." in lessons(model)


@pytest.mark.parametrize(
    "wrong",
    [
        {"past": 0}, {"archive": True}, {"advice": 1}, {"store": "x.db"},
        {"store": 3, "lifetime": "forever"}, {"inner": "arigraph?lifetime=forever"},
        {"inner": "oracle"}, {"inner": "clin"},
    ],
)  # fmt: skip
def test_wrong_values_are_refused(wrong: dict) -> None:
    with pytest.raises(InvalidArgumentError, match=f"expected {next(iter(wrong))}"):
        Clin(**wrong)


def test_unknown_lifetime_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="trail"):
        Clin(lifetime="trail")


# --- places -------------------------------------------------------------------------------------


def test_places_follow_the_needed_things() -> None:
    memory = Clin()
    play(memory, DETOUR)
    sentences, plain = lessons(memory), Clin(places=False)
    play(plain, DETOUR)
    needed = [line for line in lessons(plain) if "NECESSARY" in line]
    assert sentences[: len(needed)] == needed
    assert '"go north" in the hall MAY BE NECESSARY TO reaching the study.' in sentences
    assert '"go south" in the study MAY BE NECESSARY TO reaching the hall.' in sentences, (
        "the way back"
    )
    assert (
        "going to the pantry MAY BE NECESSARY TO finding the fridge, which is closed." in sentences
    ), "as it was at first, not as the trial left it"
    play(memory, DETOUR)
    assert '"go north" in the hall SHOULD BE NECESSARY TO reaching the study.' in lessons(memory)


def test_unused_exit_is_listed_until_it_is_taken() -> None:
    task = Task("maze/0", "Find the exit.", "textworld")
    hall = (
        "-= Hall =-\nYou are in a hall. There is an exit to the east. There is an exit to the west."
    )
    attic = "-= Attic =-\nYou are in an attic. There is an exit to the {}."
    new = '"go west" in the hall MAY BE NECESSARY TO finding something new.'
    memory = Clin()
    for direction, back, sentences in (("east", "west", True), ("west", "east", False)):
        memory.begin(task, 0)
        memory.observe(Step(0, hall))
        memory.observe(Step(1, attic.format(back), f"go {direction}"))
        memory.end(Outcome(steps=1, max_score=1.0))
        assert (new in lessons(memory)) == sentences


def test_read_texts_and_keys_of_locks_are_listed() -> None:
    memory = Clin()
    memory.begin(Task("hunt/0", "Find the treasure.", "textworld"), 0)
    memory.observe(Step(0, "-= Hall =-\nYou are in a hall. There is an exit to the east."))
    recipe = "Recipe #1\n\nIngredients:\n  carrot\n\nDirections:\n  fry the carrot\n  prepare meal"
    memory.observe(Step(1, recipe, "examine cookbook"))
    memory.observe(Step(2, "You have to unlock the chest with the red key first.", "open chest"))
    memory.end(Outcome(steps=2, max_score=1.0))
    assert {
        "having the carrot MAY BE NECESSARY TO following the recipe.",
        "making the carrot fried MAY BE NECESSARY TO following the recipe.",
        "having the red key MAY BE NECESSARY TO opening the chest.",
    } <= set(lessons(memory))


def test_an_archive_is_read_or_written(tmp_path: Path) -> None:
    path = str(tmp_path / "archive.db")
    trained = [Clin(lifetime="forever", store=path, use="write") for _ in range(2)]
    for seed, memory in enumerate(trained):
        play(memory, DETOUR, seed)
    begin(trained[0], 1)
    assert not lessons(trained[0]), "each trains from nothing"
    reader = Clin(lifetime="forever", store=path, use="read")
    begin(reader, 2)
    start = lessons(reader)
    assert '"go east" in the hall SHOULD BE NECESSARY TO reaching the pantry.' in start
    play(reader, DETOUR, 2)
    assert lessons(reader) != start, "it adapts to its instance"
    another = Clin(lifetime="forever", store=path, use="read")
    begin(another, 2)
    assert lessons(another) == start, "and leaves the archive as it is"
    with pytest.raises(UnknownNameError):
        Clin(use="never")
