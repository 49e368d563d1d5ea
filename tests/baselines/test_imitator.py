"""The imitator: repeats demonstrations in other houses, with the help of its memory."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.rules.plan import track_novelty
from gym_memory.baselines.rules.scienceworld.demonstrations import (
    Demonstration,
    ShownKnowledge,
    is_demonstrated,
    learn,
    nearest,
    usual_pause,
)
from gym_memory.baselines.rules.scienceworld.guide import (
    DemonstrationProgress,
    Guide,
    choose,
    decide_object,
    estimate_progress,
)
from gym_memory.baselines.rules.scienceworld.imitator import SHIPPED, Imitator
from gym_memory.baselines.rules.scienceworld.phrases import (
    Translation,
    condition_of,
    fit,
    is_among,
    likeness,
    parse,
    recipe_in,
    things_in,
    translate_goal,
)
from gym_memory.baselines.rules.scienceworld.scene import Experiment, Pursuit, read_scene
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, ResultsError
from gym_memory.core.records import Observation, Triple
from gym_memory.games.scienceworld import catalog
from gym_memory.run import rollout

GOAL = "Your task is to find a(n) living thing. First, focus on the thing."


@pytest.fixture(scope="module")
def knowledge() -> ShownKnowledge:
    return learn(SHIPPED)


def shown(knowledge: ShownKnowledge, task: str) -> Demonstration:
    return next(one for one in knowledge.demonstrations if one.task == task)


MOVE = "First, focus on the thing. Then, move it to the {} box in the kitchen."


@pytest.mark.parametrize(
    ("goal", "known"),
    [
        ("find a(n) living thing. " + MOVE.format("red"), True),
        ("find a(n) living thing. " + MOVE.format("mauve"), True),
        ("find a(n) non-living thing. " + MOVE.format("red"), False),
        ("find a(n) animal. " + MOVE.format("red"), False),
        ("boil copper. For compounds without a boiling point, combusting the substance is also "
         "acceptable. First, focus on the substance. Then, take actions that will cause it to "
         "change its state of matter.", True),
        ("melt copper. First, focus on the substance. Then, take actions that will cause it to "
         "change its state of matter.", False),
    ],
)  # fmt: skip
def test_tasks_without_demonstration_are_known(
    knowledge: ShownKnowledge, goal: str, known: bool
) -> None:
    assert is_demonstrated(f"Your task is to {goal}", knowledge.demonstrations) is known


def play_dev(task: str, steps: int) -> tuple[Imitator, Any]:
    policy = Imitator(SHIPPED)
    try:
        env = gym.make(
            "gym_memory/ScienceWorld-v0", task=task, split="dev", max_steps=steps,
            valid_actions=False, memory="arigraph",
        )  # fmt: skip
        result = rollout(env, policy, 0)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    env.close()
    return policy, result


@pytest.mark.slow
def test_undemonstrated_focus_is_explored_for() -> None:
    policy, result = play_dev("find-animal", 30)
    assert not result.lost
    assert str(policy.focus.aim).startswith("later: explore, in the ")
    assert ", until: focus on " in str(policy.focus.aim)


@pytest.mark.slow
def test_similar_task_is_played_as_far_as_demonstrated() -> None:
    _, result = play_dev("melt", 60)
    assert result.score >= 70


@pytest.mark.slow
def test_named_focus_needs_no_demonstration() -> None:
    goal = "Your task is to turn on the red lamp. First, focus on the red lamp. Then, {}"
    view = (
        "This room is called the workshop. In it, you see: \n\ta red lamp\n"
        "\ta red box (containing nothing)\nYou also see:\n\tA door to the hallway (that is open)"
    )
    policy = Imitator(SHIPPED)
    policy.reset({}, 0)
    observed = seen(view, task=goal.format("create a circuit."))
    assert policy.act(observed, {}) == "focus on red lamp"
    done = seen(
        "You focus on the red lamp.", "", "you, focused on, red lamp", task=observed["task"]
    )
    assert policy.act(done, {}) != "focus on red lamp"


def seen(text: str, memory: str = "", *facts: str, task: str = GOAL, held: str = "") -> Any:
    triples = tuple(Triple(*fact.split(", ")) for fact in facts)
    inventory = f"In your inventory, you see:\n\ta {held}" if held else ""
    return Observation(
        text=text, task=task, inventory=inventory, valid_actions=(), memory=memory,
        triples=triples, episodes=(), lessons=(),
    )  # fmt: skip


@pytest.mark.slow
def test_demonstrations_are_of_train_variations_only() -> None:
    from gym_memory.core.trajectory import read_trajectory

    for trajectory in read_trajectory(SHIPPED):
        _, task, number = trajectory.task.id.split("/")
        assert int(number) in catalog.variations(task, "train")
    assert {one.task for one in learn(SHIPPED).demonstrations} == {r.task for r in catalog.CLIN}


@pytest.mark.parametrize(
    ("action", "parts"),
    [
        ("use thermometer in inventory on lead in metal pot", ("thermometer", "lead in metal pot")),
        ("pour cup containing red paint in art studio in jug", ("cup containing red paint", "jug")),
        ("move blue jay egg in inventory to red box", ("blue jay egg", "red box")),
        ("focus on unknown substance B in inventory", ("unknown substance b",)),
        ("wait1", ()),
    ],
)
def test_actions_are_parsed(action: str, parts: tuple[str, ...]) -> None:
    assert parse(action).things == parts


@pytest.mark.slow
@given(st.text(max_size=60), st.text(max_size=60))
def test_compares_any_text(one: str, other: str) -> None:
    first, second = parse(one), parse(other)
    assert 0.0 <= fit(first, second) <= 1.0
    assert likeness(one, other) == likeness(other, one)
    assert fit(first, first) == pytest.approx(1.0)


def test_reads_a_view() -> None:
    view = (
        "This room is called the kitchen. In it, you see: \n\ta substance called soap\n"
        "\ta table. On the table is: a glass cup (containing a substance called water).\n"
        "You also see:\n\tA door to the hallway (that is open)"
    )
    assert [thing.name for thing in things_in(view)] == ["soap", "table", "glass cup", "water"]


def test_demonstration_is_translated_to_another_goal() -> None:
    there = "Move lead to the red box in the kitchen."
    here = "Move ice cream to the blue box in the living room."
    act = parse("move lead to red box")
    assert str(translate_goal(there, here).apply(act)) == "move ice cream to blue box"
    planes = translate_goal("Which is steeper (paper, cloth)?", "Which is steeper (cloth, tin)?")
    assert str(planes.apply(parse("focus on cloth"))) == "focus on tin"
    goal = "If it is above 10.0 degrees, use the red box. If it is below 10.0 degrees, use the tin."
    assert condition_of(goal, "red box") == ("it is above 10.0 degrees", "use the tin")


@pytest.mark.slow
def test_prefers_the_demonstration_of_the_same_kind(knowledge: ShownKnowledge) -> None:
    for one in knowledge.demonstrations:
        assert nearest(one.goal, knowledge.demonstrations)[0][0].task == one.task


def test_recipe_decides_what_is_mixed() -> None:
    here = recipe_in("To make dough, you need to mix flour, water.")
    assert here == ("flour", "water")
    there = ("bread", "jam", "water")
    mixing = translate_goal("Make a sandwich.", "Make dough.", there, here)
    assert str(mixing.apply(parse("pick up bread"))) == "pick up flour"
    assert mixing.omits(parse("move jam to metal pot"))
    assert not mixing.omits(parse("move metal pot to sink"))


def told_by(moves: Any) -> str:
    lines = ["This room is called the hallway."]
    for move in moves:
        lines += [f"> {move.act}", move.answer]
    return "\n".join(lines[:-1])


def test_agent_finds_its_place_from_the_memory(knowledge: ShownKnowledge) -> None:
    one = shown(knowledge, "boil")
    observed = seen(one.moves[4].answer, told_by(one.moves[:5]), task=one.goal)
    scene = read_scene(observed, Pursuit(one.moves[4].act, "kitchen"))
    rng = np.random.default_rng(0)
    assert estimate_progress(one, Translation(), scene, rng).done == 5
    assert {number for _, number in estimate_progress(one, Translation(), scene, rng).pairs} == {
        *range(5)
    }


def test_action_is_repeated_until_the_answer_changes(knowledge: ShownKnowledge) -> None:
    one = shown(knowledge, "inclined-plane-friction-named-surfaces")
    first = next(i for i, move in enumerate(one.moves) if move.act.verb == "look at")
    last = next(i for i in range(first, len(one.moves)) if "bottom" in one.moves[i].answer)
    on_the_way, arrived = one.moves[last - 1], one.moves[last]
    rng = np.random.default_rng(0)
    for moves, done in (
        ([*one.moves[:first], *[on_the_way] * 30], last),
        ([*one.moves[:first], *[on_the_way] * 2, arrived], last + 1),
    ):
        observed = seen(moves[-1].answer, told_by(moves), task=one.goal)
        scene = read_scene(observed, Pursuit(on_the_way.act, "workshop"))
        assert estimate_progress(one, Translation(), scene, rng).done == done


def test_sees_the_rounds_of_a_demonstration(knowledge: ShownKnowledge) -> None:
    one = shown(knowledge, "boil")
    (start, end) = one.rounds[-1]
    assert end == len(one.moves)
    assert {move.act.verb for move in one.moves[start:]} == {"examine", "use"}


def decide(one: Demonstration, goal: str, text: str, plan: Pursuit) -> str:
    """Return the last move of a demonstration under another goal."""
    last = len(one.moves) - 1
    guide = Guide(one, translate_goal(one.goal, goal), DemonstrationProgress(last, 0.0, ()), {})
    scene = read_scene(seen(text, task=goal), plan)
    return str(decide_object(guide.here(last), goal, guide, scene))


@pytest.mark.parametrize(("reading", "box"), [(120, "green box"), (-20, "blue box")])
def test_measurement_decides(knowledge: ShownKnowledge, reading: int, box: str) -> None:
    one = shown(knowledge, "use-thermometer")
    goal = (
        "Your task is to measure the temperature of unknown substance B, which is located around "
        "the living room. First, focus on the thermometer. Next, focus on the unknown substance B. "
        "If the unknown substance B temperature is above 50.0 degrees celsius, place it in the "
        "green box. If the unknown substance B temperature is below 50.0 degrees celsius, place it "
        "in the blue box. The boxes are located around the kitchen."
    )
    text = f"the thermometer measures a temperature of {reading} degrees celsius"
    assert decide(one, goal, text, Pursuit(parse("use thermometer on it"))).endswith(f"to {box}")
    assert decide(one, goal, "You wait.", Pursuit(parse("wait"))) == "None"


@pytest.mark.parametrize(("height", "box"), [("short", "red box"), ("tall", "green box")])
def test_observation_decides(knowledge: ShownKnowledge, height: str, box: str) -> None:
    one = shown(knowledge, "mendelian-genetics-unknown-plant")
    goal = (
        "Your task is to determine whether short plant height is a dominant or recessive trait in "
        "the unknown E plant. If the trait is dominant, focus on the red box. If the trait is "
        "recessive, focus on the green box."
    )
    view = (
        "This room is called the greenhouse. In it, you see: \n\ta red box (containing nothing)\n"
        "\ta green box (containing nothing)\n\ta flower pot 1 (containing a unknown E plant "
        f"in the reproducing stage with a {height} height, soil)"
    )
    assert (
        decide(one, goal, view, Pursuit(parse("focus on red box"), deferred=True))
        == f"focus on {box}"
    )


def test_focuses_on_nothing_of_another_stage(knowledge: ShownKnowledge) -> None:
    one = shown(knowledge, "identify-life-stages-1")
    assert "turtle" in one.goal
    first = next(i for i, move in enumerate(one.moves) if move.act.verb == "focus on")
    policy = Imitator(SHIPPED)
    policy.reset({}, 0)
    policy.focus = Experiment(Pursuit(parse("focus on hatchling turtle"), "outside", deferred=True))
    view = "This outside location is called the outside. Here you see: \n\ta adult turtle"
    waited = one.moves[: first + 4]
    assert policy.act(seen(view, told_by([*waited, waited[-1]]), task=one.goal), {}) == "wait1"
    assert "until: focus on hatchling turtle" in str(policy.focus.aim)


def test_knows_the_house_and_the_room_from_facts(knowledge: ShownKnowledge) -> None:
    scene = read_scene(seen("The sink is now on.", "", "you, is in, kitchen"), Pursuit())
    assert scene.room == "kitchen"
    assert knowledge.house.way("hallway", "outside") in (
        ["greenhouse", "outside"],
        ["kitchen", "outside"],
    )
    assert knowledge.house.way("hallway", "moon") == []


def test_recent_actions_are_read_apart_from_old_ones() -> None:
    memory = (
        "you: is in greenhouse\n[step 2] > pick up jug\nYou move the jug to the inventory.\n"
        "[step 0]\nThis room is called the greenhouse. In it, you see: \n\ta bee hive\n"
        "[step 9] > move seed to pot\nAmbiguous request: Please enter the number\n"
        "[step 10] > 0\nYou move the seed to the pot.\n[step 11-13] > wait1\nYou decide to wait."
    )
    scene = read_scene(seen("You decide to wait.", memory), Pursuit(parse("wait1"), "greenhouse"))
    assert [str(act) for act, _ in scene.done] == [
        "pick up jug", "move seed to pot", *["wait1"] * 4
    ]  # fmt: skip
    assert scene.done[1][1] == "You move the seed to the pot."
    assert (scene.gap, scene.cut) == (1, True)
    assert scene.sights["bee hive"] == "greenhouse"
    whole = read_scene(
        seen("You wait.", "[step 1-3] > wait1\nYou wait."), Pursuit(parse("wait1"), "hall")
    )
    assert (whole.gap, whole.cut, len(whole.done)) == (0, False, 4)


def test_answer_to_question_belongs_to_the_move() -> None:
    memory = "[step 1] > move seed to pot\nAmbiguous request: Please enter the number"
    scene = read_scene(
        seen("You move the seed.", memory), Pursuit(parse("move seed to pot"), "greenhouse")
    )
    assert [answer for _, answer in scene.done] == ["You move the seed."]


def test_patience_counts_steps_without_anything_new(knowledge: ShownKnowledge) -> None:
    one = shown(knowledge, "mendelian-genetics-known-plant")
    assert usual_pause(one.goal, knowledge.demonstrations) >= 15
    assert usual_pause(GOAL, knowledge.demonstrations) <= 2


BOIL = (
    "Your task is to boil {}. For compounds without a boiling point, combusting the substance is "
    "also acceptable. First, focus on the substance. Then, take actions that will cause it to "
    "change its state of matter."
)
KITCHEN = (
    "This room is called the kitchen. In it, you see: \n\ta sink, which is turned off. In the sink "
    "is: nothing.\n\ta stove, which is turned off. On the stove is: nothing.{}\n"
    "You also see:\n\tA door to the hallway (that is open)"
)


def followed(knowledge: ShownKnowledge, obs: Any, plan: Pursuit, abandoned: Any = ()) -> str:
    """Return the next action by the demonstration that agrees best."""
    scene = read_scene(obs, plan)
    rng = np.random.default_rng(0)
    best = choose(knowledge.demonstrations, obs["task"], scene, rng, abandoned)[0]
    return str(best.here(best.progress.done))


def packed(knowledge: ShownKnowledge) -> str:
    """Return the actions until the pot is held, with which every boiling begins."""
    return told_by(shown(knowledge, "boil").moves[:3])


def test_named_thing_is_sought_before_other_demonstrations_continue(
    knowledge: ShownKnowledge,
) -> None:
    obs = seen(KITCHEN.format(""), packed(knowledge), task=BOIL.format("rubber"), held="metal pot")
    assert (
        followed(knowledge, obs, Pursuit(parse("focus on rubber"), "kitchen", deferred=True))
        == "focus on rubber"
    )


def test_substance_seen_outside_is_poured_from_no_cup(knowledge: ShownKnowledge) -> None:
    goal = (
        "Your task is to freeze rubber. First, focus on the substance. Then, take actions that "
        "will cause it to change its state of matter."
    )
    acts = ("open cupboard", "pick up metal pot", "open freezer", "open fridge", "focus on rubber")
    memory = "\n".join(f"[step {t}] > {act}\n{act}" for t, act in enumerate(acts, 1))
    facts = ("table in workshop, contains, rubber", "you, is in, workshop")
    for where, due in ((facts, "move rubber"), ((), "pour")):
        obs = seen("You focus on the rubber.", memory, *where, task=goal, held="metal pot")
        assert followed(knowledge, obs, Pursuit(parse("focus on rubber"), "workshop")).startswith(
            due
        )


def test_player_continues_in_its_room(knowledge: ShownKnowledge) -> None:
    one = next(
        d for d in knowledge.demonstrations if d.task == "boil" and d.moves[-1].room == "foundry"
    )
    here = shown(knowledge, "boil")
    assert here.moves[-1].room == "kitchen"
    standings = []
    for room in ("kitchen", "foundry"):
        act = one.moves[-1].act
        obs = seen(one.moves[-1].answer, "", f"you, is in, {room}", task=one.goal)
        scene = read_scene(obs, Pursuit(act, room))
        rng = np.random.default_rng(0)
        standings.append(estimate_progress(one, Translation(), scene, rng).value)
    assert standings[1] > standings[0]


def test_given_up_aim_is_sought_first_then_noted(
    knowledge: ShownKnowledge,
) -> None:
    policy = Imitator(SHIPPED)
    policy.reset({}, 0)
    view = KITCHEN.format("\n\ta metal pot (containing a substance called soap)")
    policy.focus = Experiment(Pursuit(parse("examine soap"), "kitchen"))
    actions = [
        policy.act(seen(text, task=BOIL.format("soap")), {})
        for text in [*["a substance called soap"] * 14, view, "a substance called soap", view]
    ]
    assert "look around" in actions
    deferred = Pursuit(parse("examine soap"), "kitchen", deferred=True)
    policy.focus = Experiment(deferred, idle=13, seen=track_novelty(Experiment(), view, "")[1])
    policy.act(seen(view, task=BOIL.format("soap")), {})
    assert "examine soap" in policy.focus.notes()["given up"]
    assert is_among(parse("examine soap"), policy.focus.abandoned)
    assert policy.focus.aim.act != parse("examine soap")


def test_latest_abandoned_action_is_kept() -> None:
    plan = Experiment().giving_up(parse(f"open door {number}") for number in range(20))
    assert plan.abandoned[-1] == parse("open door 19")
    assert len(plan.abandoned) == 12


def test_name_in_many_rooms_means_the_thing_here() -> None:
    facts = ("studio, contains, jug", "workshop, contains, jug", "jug, contains, lead")
    scene = read_scene(
        seen("You focus on the lead.", "", *facts, "you, is in, workshop"), Pursuit()
    )
    assert scene.sights["lead"] == "workshop"


def test_decides_by_the_observation_alone() -> None:
    policy = Imitator(SHIPPED)
    obs = seen("This room is called the hallway. In it, you see: \n\tthe agent")
    policy.reset({}, 3)
    twin = copy.deepcopy(policy)
    assert policy.act(obs, {}) == twin.act(obs, {})
    assert policy.focus == twin.focus != Experiment()


def test_answers_a_question_by_its_first_choice() -> None:
    policy = Imitator(SHIPPED)
    policy.reset({}, 0)
    assert policy.act(seen("Ambiguous request: Please enter the number"), {}) == "0"


def test_untrained_player_refuses_to_play(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="checkpoint"):
        Imitator().reset({}, 0)
    with pytest.raises(ResultsError):
        Imitator(tmp_path / "absent.jsonl.gz")


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", ["lifespan-longest-lived", "find-living-thing", "identify-life-stages-2"]
)
def test_dev_variation_is_played_like_shown_train_variations(task: str) -> None:
    _, result = play_dev(task, 150)
    assert result.success
    assert result.steps < 40


def test_after_giving_up_only_named_things_get_focus(
    knowledge: ShownKnowledge,
) -> None:
    view = (
        "This outside location is called the outside. Here you see: \n\ta giant tortoise egg\n"
        "\ta adult dove"
    )
    goal = GOAL + " Then, move it to the red box in the kitchen."
    actions = []
    for given_up in ((), (parse("open door"),)):
        policy = Imitator(SHIPPED)
        policy.reset({}, 0)
        deferred = Pursuit(parse("focus on blue jay"), "outside", deferred=True)
        policy.focus = Experiment(deferred, abandoned=given_up)
        actions.append(policy.act(seen(view, task=goal), {}))
    assert actions[0].startswith("focus on ")
    assert not actions[1].startswith("focus on ")
