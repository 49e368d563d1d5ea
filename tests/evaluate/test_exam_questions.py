"""Questions of the exam, their answers, and grading."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Cue, Outcome, Recall, Step, Task, Triple
from gym_memory.evaluate.exam import (
    KINDS,
    Account,
    ExamConfig,
    ExamQuestion,
    Moment,
    RecallReading,
    ask,
    examine,
    record,
)
from gym_memory.evaluate.exam.questions import QuestionText, templates
from gym_memory.graph.schema import LOCATIONS
from gym_memory.memory.base import MEMORIES, Memory
from gym_memory.run.config import Job

LONG = 100_000
"""A budget that no transcript of these tests fills."""


@pytest.fixture(scope="module")
def accounts() -> list[Account]:
    """Return accounts of random play in the fake house after different numbers of steps."""
    found = []
    for seed in range(4):
        recording = record(Job("FakeHouse?max_steps=60", "none", "random", seed))
        for length in (12, 30, 60):
            moments = recording.moments[: length + 1]
            found.append(Account(moments))
    return found


def asked(account: Account, seed: int = 0, per_kind: int = 4) -> list[ExamQuestion]:
    return ask(account, random.Random(seed), per_kind)


def transcript(account: Account) -> str:
    return "\n".join(
        f"[step {m.step.t}]{' > ' + m.step.action if m.step.action else ''}\n{m.step.text.strip()}"
        for m in account.moments[:-1]
    )


# ---------------------------------------------------------------- the whole


def test_complete_memory_answers_every_question(accounts: list[Account]) -> None:
    kinds: Counter[str] = Counter()
    for account in accounts:
        reading = RecallReading(Recall(transcript(account)), account)
        for question in asked(account):
            assert question.grade(reading) == "right", question
            kinds[question.kind] += 1
    assert set(kinds) == set(KINDS) - {"read", "pitfall"}  # nothing is read or fails here
    assert min(kinds.values()) >= 8


def test_present_observation_answers_no_question(accounts: list[Account]) -> None:
    for account in accounts:
        reading = RecallReading(Recall(), account)
        for question in asked(account):
            right = question.grade(reading) == "right"
            assert right == question.wants_silence


def test_false_belief_is_a_wrong_answer(accounts: list[Account]) -> None:
    elsewhere = tuple(
        Triple(thing, "is in", "cellar")
        for account in accounts
        for thing in account.places()
        if thing != "you"
    )
    for account in accounts:
        reading = RecallReading(Recall("", elsewhere), account)
        verdicts = {
            question.kind: question.grade(reading)
            for question in asked(account)
            if question.kind in ("where", "near", "past")
        }
        assert verdicts["where"] == "wrong"
        assert verdicts.get("past", "silent") == "silent"


def test_answers_equal_the_games_facts(accounts: list[Account]) -> None:
    for account in accounts:
        for question in asked(account, per_kind=20):
            facts = account.moment.facts
            if question.kind == "where":
                thing: Any = question
                places = {f.object for f in facts if f[0] == thing.thing and f[1] in LOCATIONS}
                assert places == {question.answer}
            if question.kind == "past":
                then: Any = question
                facts = account.moments[then.t].facts
                places = {f.object for f in facts if f[0] == then.thing and f[1] in LOCATIONS}
                assert places == {question.answer}
            if question.kind == "did":
                done: Any = question
                assert account.moments[done.t].step.action == question.answer
            if question.age is not None:
                assert 0 <= question.age <= account.now


def test_limit_is_kept_and_repeats_are_equal(accounts: list[Account]) -> None:
    account = accounts[-1]
    few = asked(account, per_kind=2)
    assert max(Counter(q.kind for q in few).values()) == 2
    assert few == asked(account, per_kind=2)
    assert few != asked(account, seed=1, per_kind=2)


@pytest.mark.slow
def test_questions_do_not_depend_on_the_hash_seed(python: Any) -> None:
    code = """
from gym_memory.testing.fake_env import register_fake
register_fake()
from gym_memory.evaluate.exam import ExamConfig, examine
config = ExamConfig(("FakeHouse",), ("history", "arigraph"), ("random",), (0, 1), (100,), (30,))
for a in examine(config):
    print(*a.question.text, a.wording, a.question.answer, a.question.age, a.verdict, a.tokens)
"""
    first = python(code, hashseed=1)
    assert first.count("\n") > 40
    assert first == python(code, hashseed=2)


# ---------------------------------------------------------------- kind by kind


def moment(t: int, known: set[tuple[str, str, str]], **more: Any) -> Moment:
    facts = frozenset(Triple(*fact) for fact in known)
    extra = frozenset(Triple(*fact) for fact in more.get("unseen", ()))
    step = Step(t, more.get("text", "You see nothing."), more.get("action", "wait" if t else ""))
    return Moment(step, facts | extra, facts, facts)


KNOWN = {
    ("you", "is in", "attic"),
    ("hall", "is east of", "kitchen"),
    ("kitchen", "is west of", "hall"),
    ("attic", "is up of", "hall"),
    ("hall", "is down of", "attic"),
    ("egg", "is in", "fridge"),
    ("fridge", "is in", "kitchen"),
    ("stove", "used for", "frying"),
}


@pytest.fixture(autouse=True)
def _first_wording(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the first of the seen wordings, so that a test can name questions."""

    def first(sort: str, rng: random.Random, **named: Any) -> QuestionText:
        return QuestionText(templates()[sort]["seen"][0].format(**named), sort)

    monkeypatch.setattr("gym_memory.evaluate.exam.questions.draw_wording", first)


def only(kind: str, *moments: Moment) -> dict[str, ExamQuestion]:
    found = KINDS[kind].make(Account(moments), random.Random(0))
    return {question.text.seen: question for question in found}


def grade(question: ExamQuestion, *facts: tuple[str, str, str], text: str = "", t: int = 9) -> str:
    """Return the verdict on facts and a text for an agent that sees nothing."""
    later = Account([Moment(Step(i, ""), *[frozenset[Triple]()] * 3) for i in range(t + 1)])
    return question.grade(RecallReading(Recall(text, tuple(Triple(*f) for f in facts)), later))


def test_where() -> None:
    question = only("where", moment(0, KNOWN))["Where is the egg?"]
    assert grade(question, ("egg", "is in", "fridge")) == "right"
    assert grade(question, ("egg", "is in", "pan")) == "wrong"
    assert grade(question, ("egg", "is", "raw")) == "silent"


def test_near() -> None:
    question = only("near", moment(0, KNOWN))["Which rooms does one get to from the hall?"]
    up, west = ("attic", "is up of", "hall"), ("kitchen", "is west of", "hall")
    assert question.answer == "attic, kitchen"
    assert grade(question, up, west) == "right"
    assert grade(question, ("hall", "is down of", "attic"), west) == "right"
    assert grade(question, up) == "silent"
    assert grade(question, up, west, ("cellar", "is south of", "hall")) == "wrong"


def test_true_fact_beyond_knowledge_is_unproven() -> None:
    cellar, shed = ("cellar", "is south of", "hall"), ("shed", "is east of", "hall")
    hidden = moment(0, KNOWN, unseen=[cellar, ("key", "is in", "cellar")])
    ways = [("attic", "is up of", "hall"), ("kitchen", "is west of", "hall")]
    near = only("near", hidden)["Which rooms does one get to from the hall?"]
    assert grade(near, *ways, cellar) == "unproven"
    assert grade(near, *ways, cellar, shed) == "wrong"
    route = only("route", hidden)["How does one get from the kitchen to the attic?"]
    assert grade(route, ("attic", "is up of", "kitchen")) == "wrong"
    unseen = only("unseen", hidden)["Where is the key?"]
    assert grade(unseen, ("key", "is in", "cellar")) == "unproven"
    assert grade(unseen, ("key", "is in", "hall")) == "wrong"


def test_route() -> None:
    question = only("route", moment(0, KNOWN))["How does one get from the kitchen to the attic?"]
    east, up = ("hall", "is east of", "kitchen"), ("attic", "is up of", "hall")
    assert question.answer == "kitchen - hall - attic"
    assert grade(question, east, up) == "right"
    assert grade(question, up) == "silent"
    assert grade(question, ("attic", "is north of", "kitchen")) == "wrong"


def test_inside() -> None:
    question = only("inside", moment(0, KNOWN))["In which room is the thing that holds the egg?"]
    assert grade(question, ("egg", "is in", "fridge"), ("fridge", "is in", "kitchen")) == "right"
    assert grade(question, ("egg", "is in", "fridge"), ("fridge", "is in", "hall")) == "wrong"
    assert grade(question, ("egg", "is in", "pan"), ("pan", "is in", "hall")) == "wrong"
    assert grade(question, ("egg", "is in", "fridge")) == "silent"
    assert grade(question, ("fridge", "is in", "kitchen")) == "silent"


def test_count() -> None:
    question = only("count", moment(0, KNOWN))["How many things are right in or on the fridge?"]
    assert question.answer == "1"
    assert grade(question, ("egg", "is in", "fridge")) == "right"
    assert grade(question, ("pear", "is in", "fridge")) == "wrong"  # one, but not that one
    assert grade(question) == "silent"
    hidden = moment(0, KNOWN, unseen=[("key", "is in", "fridge")])
    assert "How many things are right in or on the fridge?" not in only("count", hidden)


def test_read() -> None:
    questions = only("read", moment(0, KNOWN))
    assert list(questions) == ["What is the stove used for?"]
    question = questions["What is the stove used for?"]
    assert grade(question, ("stove", "used for", "frying")) == "right"
    assert grade(question) == "silent"


def test_read_a_note() -> None:
    known = {*KNOWN, ("red key", "opens", "chest"), ("chest", "is in", "hall")}
    text = "The red key opens the chest in the hall."
    question = only("read", moment(0, KNOWN), moment(1, known, action="read note", text=text))[
        "What did the note say?"
    ]
    opens, place = ("red key", "opens", "chest"), ("chest", "is in", "hall")
    assert grade(question, opens, place) == "right"
    assert grade(question, opens) == "silent"


def test_past_asks_only_about_changed_facts() -> None:
    before = KNOWN - {("egg", "is in", "fridge")} | {("egg", "is in", "pan")}
    questions = only("past", moment(0, before), moment(1, KNOWN))
    text = "Where was the egg at step 0? (It is step 1 now.)"
    assert list(questions) == [text]
    assert questions[text].answer == "pan"
    assert grade(questions[text], ("egg", "is in", "fridge")) == "silent"
    assert grade(questions[text], text="[step 0] egg: is in pan") == "right"
    assert grade(questions[text], text="[step 0] egg: is in fridge") == "wrong"


def test_order() -> None:
    start = KNOWN - {("you", "is in", "attic")} | {("you", "is in", "kitchen")}
    hall = start - {("you", "is in", "kitchen")} | {("you", "is in", "hall")}
    questions = only("order", moment(0, start), moment(1, hall), moment(2, KNOWN))
    assert [q.answer for q in questions.values()] == ["hall"]  # nobody entered the kitchen
    question = next(iter(questions.values()))
    first, then = "[step 1] you: is in hall", "[step 2] you: is in attic"
    assert grade(question, text=f"{first}\n{then}") == "right"
    assert grade(question, text=f"{then}\n[step 5] you: is in hall") == "wrong"
    assert grade(question, text=then) == "silent"


def test_saw() -> None:
    texts = ["A hall.", "It is locked.", "Nothing happens.", "Nothing happens.", "You win."]
    actions = ["", "open box", "wait", "wait", "eat egg"]
    played = [
        moment(t, KNOWN, text=x, action=a)
        for t, (x, a) in enumerate(zip(texts, actions, strict=True))
    ]
    questions = only("saw", *played)
    assert list(questions) == ['What came of "open box"?']
    question = questions['What came of "open box"?']
    assert grade(question, text="[step 1] > open box\nIt is\nlocked.") == "right"
    assert grade(question, text="[step 1] > open box") == "silent"
    read = [moment(0, KNOWN)]
    read += [
        moment(t, KNOWN, text=f"{name}\nIt lies north.", action="read next")
        for t, name in ((1, "Saltmere"), (2, "Gull Rock"), (3, "Fennick"))
    ]
    titled = only("saw", *read)
    assert set(titled) == {
        f'What does the text called "{n}" say?' for n in ("Saltmere", "Gull Rock")
    }
    assert {question.about for question in titled.values()} == {("Saltmere",), ("Gull Rock",)}


def test_plan_asks_about_the_things_it_names() -> None:
    there = [moment(0, KNOWN), moment(1, KNOWN)._replace(focus="fetch egg, by hall | last: wait")]
    account = Account([m._replace(shown=frozenset()) for m in there])
    found = asked(account, per_kind=1)
    by_plan = [question for question in found if question.text.focus]
    assert {question.kind for question in by_plan} == {"where", "near", "inside"}
    assert {question.about for question in by_plan} == {("egg",), ("hall",)}
    assert {question.text.focus for question in by_plan} == {"fetch egg, by hall | last: wait"}
    assert max(Counter(q.kind for q in found if q.text.seen).values()) == 1


def test_unseen() -> None:
    hidden = moment(0, KNOWN, unseen=[("key", "is in", "cellar")])
    question = only("unseen", hidden)["Where is the key?"]
    assert grade(question) == "right"
    assert grade(question, ("key", "opens", "chest")) == "right"
    assert grade(question, ("key", "is in", "hall")) == "wrong"
    in_text = moment(
        0, KNOWN, unseen=[("key", "is in", "cellar")], text="The key is in the cellar."
    )
    assert only("unseen", in_text) == {}


def test_age_is_that_of_the_oldest_evidence_needed() -> None:
    first = moment(0, KNOWN)
    nothing: frozenset[Triple] = frozenset()
    later = [moment(t, KNOWN)._replace(shown=nothing) for t in (1, 2, 3)]
    again = moment(4, KNOWN)._replace(shown=frozenset([Triple("egg", "is in", "fridge")]))
    questions = only("where", first, *later, again)
    assert questions["Where is the egg?"].age == 0
    assert questions["Where is the fridge?"].age == 4
    inside = only("inside", first, *later, again)
    assert inside["In which room is the thing that holds the egg?"].age == 4


def carried(t: int, place: str, action: str, **more: Any) -> Moment:
    """Return a moment at which the egg is in a place."""
    known = KNOWN - {("egg", "is in", "fridge")} | {("egg", "is in", place)}
    return moment(t, known, action=action, **more)


EGG = (
    carried(0, "pan", ""),
    carried(1, "inventory", "take egg"),
    carried(2, "fridge", "put egg in fridge"),
    carried(3, "fridge", "wait here"),
    carried(4, "fridge", "look"),
)


def test_moved() -> None:
    question = only("moved", *EGG)["Where was the egg before it came to where it is now?"]
    assert question.answer == "pan"
    assert grade(question, text="[step 0] egg: is in pan") == "right"
    assert grade(question, text="[step 0] egg: is in fridge") == "wrong"
    assert grade(question, ("egg", "is in", "fridge")) == "silent"


def test_dropped() -> None:
    question = only("dropped", *EGG)["Where did you last put down the egg?"]
    assert question.answer == "fridge"
    assert grade(question, ("egg", "is in", "fridge")) == "right"  # it is still there
    assert grade(question, text="[step 2] egg: is in pan") == "wrong"
    gone = only("dropped", *EGG, carried(5, "pan", "look"))
    question = gone["Where did you last put down the egg?"]
    assert grade(question, ("egg", "is in", "fridge")) == "silent"


def test_next_and_there() -> None:
    following = only("next", *EGG)
    assert set(following) == {
        f'What did you do right after "{action}"?' for action in ("take egg", "put egg in fridge")
    }
    question = following['What did you do right after "take egg"?']
    assert question.answer == "put egg in fridge"
    there = only("there", *EGG)["What did you do in the attic at step 2?"]
    for each in (question, there):
        assert grade(each, text="[step 2] > put egg in fridge\nDone.") == "right"
        assert grade(each, text="[step 2] > take egg\nDone.") == "wrong"
        assert grade(each, text="[step 1] > take egg\nDone.") == "silent"


def test_pitfall() -> None:
    cost = carried(2, "fridge", "put egg in fridge", text="It breaks.")
    cost = cost._replace(step=cost.step._replace(reward=-1.0))
    vain = carried(3, "fridge", "push wall", text="The wall stays.")
    found = only("pitfall", *EGG[:2], cost, vain, EGG[4])
    assert {q.answer for q in found.values()} == {"it breaks.", "the wall stays."}
    question = found['What went wrong with "push wall"?']
    assert grade(question, text="[step 3] > push wall\nThe wall stays.") == "right"
    assert grade(question, text="[step 3] > push wall") == "silent"


def test_premise() -> None:
    found = only("premise", *EGG)
    assert "When did you take the egg?" not in found
    question = found["When did you take the fridge?"]
    assert grade(question) == "right"
    assert grade(question, ("fridge", "is in", "inventory")) == "wrong"
    assert grade(question, text="[step 2] fridge: is in inventory") == "wrong"


# ---------------------------------------------------------------- the sitting


class Diary(Memory):
    """A memory that counts its calls and recalls everything."""

    name = "diary"

    def __init__(self) -> None:
        self.seen: list[Step] = []
        self.cues: list[Cue] = []

    def begin(self, task: Task, seed: int | None) -> None:
        self.seen = []

    def observe(self, step: Step) -> None:
        self.seen.append(step)

    def recall(self, cue: Cue, budget: int) -> Recall:
        self.cues.append(cue)
        lines = [f"[step {s.t}] > {s.action}\n{s.text.strip()}" for s in self.seen]
        return Recall("\n".join(lines).replace("[step 0] > \n", "[step 0]\n"))

    def end(self, outcome: Outcome) -> None: ...

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: dict[str, Any]) -> None: ...


def test_sitting_replays_the_played_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Diary] = []

    class Kept(Diary):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setitem(MEMORIES.loaded, "kept", Kept)
    config = ExamConfig(("FakeHouse",), ("kept",), ("random",), (3,), (LONG,), (10, 25))
    answers = list(examine(config))
    assert all(answer.verdict == "right" for answer in answers)
    assert {answer.length for answer in answers} == {10, 25}
    recording = record(config.jobs()[0])
    assert made[-1].seen == [m.step for m in recording.moments[:26]]
    assert {cue.text for cue in made[-1].cues} == {recording.moments[t].step.text for t in (10, 25)}
    assert [cue.focus for cue in made[-1].cues] == [
        getattr(a.question.text, a.wording) for a in answers
    ]
    assert {a.wording for a in answers} == {"seen", "unseen"}


def test_short_episode_gets_one_question() -> None:
    config = ExamConfig(("FakeHouse",), ("none",), ("walkthrough",), (0,), (100,), (5, 50, 200))
    lengths = {answer.length for answer in examine(config)}
    assert lengths == {5, 50}


@pytest.mark.slow
def test_only_the_oracle_knows_unseen_facts() -> None:
    config = ExamConfig(
        ("FakeHouse",), ("arigraph", "oracle"), ("random",), (0, 1, 2), (1000,), (8,)
    )
    unseen = [a for a in examine(config) if a.question.kind == "unseen"]
    assert {a.verdict for a in unseen if a.memory == "arigraph"} == {"right"}
    assert {a.verdict for a in unseen if a.memory == "oracle"} == {"unproven"}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"budgets": ()}, InvalidArgumentError),
        ({"budgets": (100, 100)}, InvalidArgumentError),
        ({"lengths": (0,)}, InvalidArgumentError),
        ({"per_kind": 0}, InvalidArgumentError),
        ({"wordings": ()}, InvalidArgumentError),
        ({"wordings": ("seen", "seen")}, InvalidArgumentError),
        ({"wordings": ("sen",)}, UnknownNameError),
        ({"memories": ()}, InvalidArgumentError),
        ({"seeds": (-1,)}, InvalidArgumentError),
    ],
)
def test_wrong_settings_are_refused(change: dict[str, Any], error: type[Exception]) -> None:
    settings: dict[str, Any] = {"envs": ("FakeHouse",), "memories": ("none",)}
    with pytest.raises(error):
        ExamConfig(**{**settings, **change})


def test_wrong_name_is_refused_before_play() -> None:
    with pytest.raises(UnknownNameError, match="arigraph"):
        next(examine(ExamConfig(("FakeHouse",), ("arigrap",))))


def test_name_is_cut_to_its_noun_if_unique() -> None:
    known = {("block of cheese", "is in", "hall"), ("red key", "is in", "hall")}
    account = Account([moment(0, {*known, ("blue key", "is in", "hall")})])
    cut = account.with_short_names
    assert cut("Where is the block of cheese?") == "Where is the cheese?"
    assert cut("Where is the red key?") == "Where is the red key?"
