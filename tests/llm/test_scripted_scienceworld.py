"""Test the scripted player of ScienceWorld, with a prompt and on the real engine."""

from __future__ import annotations

import json

import pytest

from gym_memory.baselines.llm.clin import Clin
from gym_memory.core.errors import MissingDependencyError
from gym_memory.games.scienceworld.engine import check_installed
from gym_memory.llm.base import Reply
from gym_memory.run import rollout
from gym_memory.testing.chat import answer
from gym_memory.testing.chat.scienceworld import IN_VAIN, ScienceNotes, Scientist, plan_for
from gym_memory.wrappers.make import make_env

pytestmark = pytest.mark.slow

TASK = (
    "Your task is to find a(n) plant. First, focus on the thing. Then, move it to the red box in "
    "the bedroom."
)
HALL = (
    "This room is called the hallway. In it, you see: \n\tthe agent\n\ta picture\nYou also see:\n"
    "\tA door to the bedroom (that is closed)\n\tA door to the greenhouse (that is open)"
)
KNOWN = (
    '1. "go to greenhouse" in the hallway MAY BE NECESSARY TO reaching the greenhouse.\n'
    "2. going to the greenhouse MAY BE NECESSARY TO finding the pea plant in the flower pot 1.\n"
    '3. "focus on pea plant" in the greenhouse MAY NOT CONTRIBUTE TO staying in the game.'
)


def slots(actions: str, observation: str = HALL, history: str = "", **more: str) -> dict[str, str]:
    found = {"task": TASK, "history": history, "observation": observation, "inventory": ""}
    return {**found, "memory": "", "actions": actions.replace("; ", "\n"), **more}


def test_player_goes_to_places_in_learnings() -> None:
    ways = "go to greenhouse; open door to bedroom"
    new = Scientist(slots(ways), "")
    assert new.act() == "open door to bedroom"
    assert new.notes.been == ("hallway",)
    assert Scientist(slots(ways, memory=KNOWN), "").act() == "go to greenhouse"
    assert Scientist(slots("go to greenhouse", observation="A picture."), "").act() == "look around"


def test_player_leaves_if_the_thing_is_gone() -> None:
    notes = str(ScienceNotes("plant", been=("hallway",), here="hallway"))
    arrived = {"observation": "You move to the greenhouse.", "memory": KNOWN}
    there = Scientist(
        slots("go to hallway", history="[step 2] > go to greenhouse", **arrived), notes
    )
    assert there.notes.been == ("hallway", "greenhouse")


def test_fatal_thing_is_avoided_and_focused_thing_carried() -> None:
    notes = str(ScienceNotes("plant", been=("greenhouse",), here="greenhouse"))
    near = "focus on bee hive; focus on pea plant; focus on adult apple tree; pick up apple tree"
    garden = {"observation": "You open the jug.", "memory": KNOWN}
    assert Scientist(slots(near, **garden), notes).act() == "focus on adult apple tree"
    seen = {"observation": "You focus on the apple tree.", "memory": KNOWN}
    then = Scientist(slots(near, history="[step 4] > focus on adult apple tree", **seen), notes)
    assert then.notes.focused == "apple tree"
    assert then.act() == "pick up apple tree"
    assert ScienceNotes.read(str(then.notes)) == then.notes
    held = slots("move apple tree to red box", inventory="an apple tree")
    there = then.notes._replace(been=("bedroom",), here="bedroom")
    assert Scientist(held, str(there)).act() == "move apple tree to red box"


def test_learning_is_applied_to_a_grown_thing() -> None:
    notes = str(ScienceNotes("plant", been=("greenhouse",), here="greenhouse"))
    player = Scientist(slots("focus on apple tree; go to hallway"), notes)
    assert player.carry_out("focus on adult apple tree", "greenhouse") == "focus on apple tree"
    assert player.carry_out("focus on baby wolf", "greenhouse") == IN_VAIN


def test_the_plan_ends_where_the_task_names_a_box() -> None:
    learnings = [
        '"open door to greenhouse" in the hallway MAY BE NECESSARY TO scoring.',
        '"focus on apple tree" in the greenhouse MAY BE NECESSARY TO scoring.',
        '"go to kitchen" in the hallway MAY BE NECESSARY TO scoring.',
    ]
    lessons = dict(enumerate(learnings, 1))
    assert plan_for(TASK, lessons) == [("focus on apple tree", "greenhouse")]
    assert len(plan_for("Your task is to boil lead.", lessons)) == 2


class Scripted:
    """The answers of the scripted server, without the server."""

    def complete(self, request):
        text, schema = answer(request.messages), request.schema
        return Reply(text, parsed=schema.model_validate(json.loads(text)) if schema else None)


def test_trials_avoid_a_wrong_focus() -> None:
    try:
        check_installed()
    except MissingDependencyError as absent:
        pytest.skip(str(absent))
    env = make_env(
        "ScienceWorld", memory="clin", task="Lifespan1", split="clin", max_steps=20, budget=2000
    )
    policy = Clin(Scripted(), encoder="")
    results = [rollout(env, policy, 0) for _ in range(3)]
    env.close()
    assert not results[0].success
    assert results[-1].success
