"""The learner: reading of lessons, its state, and gains by lessons."""

from __future__ import annotations

import numpy as np
import pytest

from gym_memory.baselines.rules.learner import Advice, Course, LessonFollower
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.run.config import Job
from gym_memory.run.play import play_job

CAUSES = (
    '3. "take key" in the hall MAY BE NECESSARY TO scoring.',
    '1. "go east" in the attic MAY BE NECESSARY TO reaching the hall.',
    '2. "open box" in the hall SHOULD BE NECESSARY TO "take key".',
    '4. "eat key" in the hall MAY NOT CONTRIBUTE TO staying in the game.',
    '5. "put ..." MAY NOT CONTRIBUTE TO scoring.',
    '6. "look" DOES NOT CONTRIBUTE TO getting anywhere.',
    '7. "open ..." SHOULD BE NECESSARY TO scoring.',
)


def seen(actions: tuple[str, ...], text: str = "", memory: str = "", **more: object) -> Observation:
    obs = {"text": text, "task": "", "inventory": "", "valid_actions": actions, "memory": memory}
    return {**obs, "triples": (), "episodes": (), "lessons": (), **more}  # type: ignore[return-value]


def test_reads_causes() -> None:
    advice = Advice.read(CAUSES)
    assert advice.plan == [("open box", "hall"), ("take key", "hall")]
    assert advice.ways == {"attic": {"hall": "go east"}}
    assert advice.avoid == {"eat key", "look"}
    assert advice.doubt == {"put ..."}
    assert advice.verbs == {"open"}
    assert advice.rejects("put key on table", doubtful=True)
    assert not advice.rejects("put key on table", doubtful=False)


def test_reads_plans() -> None:
    one = '1. Do "a b" and "c d". After "e f" the game was lost; do not repeat it.'
    two = '2. These lead on; do them first: "g h", "c d", "g h". Do not waste steps on "i ...".'
    advice = Advice.read([two, one])
    assert advice.plan == [("g h", ""), ("c d", ""), ("g h", "")]  # the last plan counts
    assert advice.avoid == {"e f"}
    assert advice.doubt == {"i ..."}


def test_player_finds_the_way_to_planned_places() -> None:
    policy = LessonFollower()
    policy.reset({}, 0)
    attic = "-= Attic =-\nYou are in an attic."
    assert policy.act(seen(("go east", "go up"), attic, lessons=CAUSES), {}) == "go east"
    hall = "-= Hall =-\nYou are in a hall."
    assert policy.act(seen(("take key", "open box"), hall, lessons=CAUSES), {}) == "open box"
    # The plan is in the focus, so nothing else need be told again; what cannot be done is left.
    assert policy.focus == Course.of([("take key", "hall")], "hall")
    assert policy.act(seen(("wait",), "You open it."), {}) == "wait"
    assert policy.focus == Course.of([], "hall")


def test_player_keeps_only_its_focus() -> None:
    actions = ("take key", "open box", "go up", "sit", "wait")
    one, two = LessonFollower(), LessonFollower()
    one.reset({}, 3)
    one.act(seen(actions, lessons=CAUSES), {})
    two.reset({}, 3)
    two.focus = one.focus
    assert one.act(seen(actions), {}) == two.act(seen(actions), {})


def test_new_things_are_explored_unless_advised_against() -> None:
    policy = LessonFollower(boldness=0.0)
    actions = ("look", "put key on box", "eat key", "sit", "wait", "open lid")
    chosen = set()
    for seed in range(30):
        policy.reset({}, seed)
        chosen.add(policy.act(seen(actions, memory="> sit\nOk.", lessons=CAUSES[3:6]), {}))
    assert chosen == {"wait", "open lid"}
    assert {LessonFollower().act(seen(actions, lessons=CAUSES[3:]), {}) for _ in range(9)} == {
        "open lid"
    }
    assert LessonFollower().act(seen(("eat key",), lessons=CAUSES), {}) == "eat key"
    assert LessonFollower(fallback="wait").act(seen(()), {}) == "wait"


def test_boldness_is_a_share() -> None:
    with pytest.raises(InvalidArgumentError, match="boldness"):
        LessonFollower(boldness=2)


@pytest.fixture(scope="module")
def scores() -> dict[str, np.ndarray]:
    """Score by game and trial, five trials of ten games, for each memory."""
    found = {}
    for memory in ("history", "clin?inner=history", "reflexion?inner=history", "placebo"):
        jobs = [Job("FakeHouse", memory, "learner", seed, "trials?k=5") for seed in range(10)]
        rows = [[row.result for row in play_job(job)] for job in jobs]
        assert not any(result.failed for row in rows for result in row)
        found[memory.partition("?")[0]] = np.array([[r.normalized for r in row] for row in rows])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["clin", "reflexion"])
def test_lessons_raise_the_score(scores: dict[str, np.ndarray], memory: str) -> None:
    learnt = scores[memory]
    assert learnt[:, -1].mean() >= learnt[:, 0].mean() + 0.2
    for control in ("history", "placebo"):
        assert learnt[:, -1].mean() >= scores[control][:, -1].mean() + 0.2


@pytest.mark.slow
def test_the_first_trial_is_the_same_without_lessons(scores: dict[str, np.ndarray]) -> None:
    assert (scores["clin"][:, 0] == scores["history"][:, 0]).all()
    assert (scores["reflexion"][:, 0] == scores["history"][:, 0]).all()


def test_things_of_a_kind_are_tried_in_turn() -> None:
    lessons = ('1. These steps won: "go to shelf", "take mug from shelf", "go to sink".',)
    policy, rooms = (
        LessonFollower(),
        ("go to shelf 1", "go to shelf 2", "go to desk 1", "go to sink 1"),
    )
    policy.reset({}, 0)
    assert policy.act(seen(rooms, lessons=lessons), {}) == "go to shelf 1"
    assert policy.act(seen(rooms, lessons=lessons), {}) == "go to shelf 2", "no mug in the first"
    assert policy.act(seen(rooms, lessons=lessons), {}) == "go to desk 1", "nor in the second"
    there = (*rooms, "take pen 1 from desk 1", "take mug 3 from desk 1")
    assert policy.act(seen(there, lessons=lessons), {}) == "take mug 3 from desk 1"
    assert policy.focus.left == (("go to sink", ""),)
    assert policy.act(seen(rooms, lessons=lessons), {}) == "go to sink 1"
    assert policy.focus.left == ()
    assert policy.act(seen(("go north",), lessons=lessons), {}) == "go north", "kinds need numbers"
