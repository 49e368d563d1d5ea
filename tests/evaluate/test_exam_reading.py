"""The exam's reading of recalls in any form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.core.records import Cue, Recall, Step, Task, Triple
from gym_memory.evaluate.exam.account import Account, Moment
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.memory.base import make_memory
from gym_memory.memory.history import History

TASK = Task("house/0", "Eat.")
KITCHEN = (
    "-= Kitchen =-\nYou are in a kitchen. You see an opened fridge. The fridge contains an apple "
    "and an egg.\n\nThere is an exit to the east."
)
HALL = "-= Hall =-\nYou are in a hall.\n\nThere is an exit to the west."
TAKEN = "You take the apple from the fridge."
STEPS = (
    Step(0, KITCHEN),
    Step(1, TAKEN, "take apple from fridge"),
    Step(2, HALL, "go east"),
    Step(3, "Time passes.", "wait"),
)
START = {
    ("you", "is in", "kitchen"),
    ("fridge", "is in", "kitchen"),
    ("fridge", "is", "open"),
    ("apple", "is in", "fridge"),
    ("egg", "is in", "fridge"),
    ("kitchen", "has exit", "east"),
}
TOOK = START - {("apple", "is in", "fridge")} | {("apple", "is in", "inventory")}
WAYS = {("hall", "is east of", "kitchen"), ("kitchen", "is west of", "hall")}
WENT = {("you", "is in", "hall"), ("hall", "has exit", "west"), ("apple", "is in", "inventory")}


def account(later: int = 0) -> Account:
    """Return the episode after that many more steps of waiting."""
    shown = [START, TOOK, WENT | WAYS, *[WENT] * (later + 1)]
    steps = [*STEPS, *(Step(3 + n, "Time passes.", "wait") for n in range(1, later + 1))]
    known: frozenset[Triple] = frozenset()
    moments = []
    for step, facts in zip(steps, shown, strict=True):
        seen_now = frozenset(Triple(*fact) for fact in facts)
        known = known | seen_now
        moments.append(Moment(step, known, known, seen_now))
    return Account(moments)


def read(
    text: str = "", triples: tuple[Triple, ...] = (), now: Account | None = None
) -> RecallReading:
    return RecallReading(Recall(text, triples), now or account())


TRANSCRIPT = f"{KITCHEN}\n> take apple from fridge\n{TAKEN}\n> go east\n{HALL}\n> wait"
DATED = (
    f"[step 0]\n{KITCHEN}\n[step 1] > take apple from fridge\n{TAKEN}\n[step 2] > go east\n{HALL}"
)
FACTS = "apple: is in inventory\negg: is in fridge\nfridge: is in kitchen\nhall: is east of kitchen"
PROSE = "The egg is in the fridge. The fridge is in the kitchen."


@pytest.mark.parametrize("text", [TRANSCRIPT, DATED, FACTS])
def test_all_forms_state_the_present_facts(text: str) -> None:
    reading = read(text)
    assert reading.place("egg") == "fridge"
    assert reading.place("apple") == "inventory"
    assert reading.place("fridge") == "kitchen"
    assert reading.ways("kitchen") == {"east": "hall"}
    assert reading.ways("hall") == {"west": "kitchen"}
    assert reading.contents("fridge") == {"egg"}
    assert reading.place("pear") == ""


def test_prose_states_facts_by_its_names() -> None:
    assert read(PROSE).place("egg") == "fridge"
    assert read("Hall lies east of the kitchen.").ways("kitchen") == {"east": "hall"}
    assert read("An egg. A fridge.").place("egg") == ""
    assert read("The pear is in the fridge.").place("pear") == ""  # nobody ever knew of one


def test_the_reader_needs_no_rule_of_a_dialect() -> None:
    """Read the same facts from other words: only the names in a text count."""
    odd = "Kitchen, dear me! A fridge yawns; egg and apple, apple and egg, blush within."
    moments = account().moments
    seen_now = Account([moments[0]._replace(step=Step(0, odd)), *moments[1:]])
    reading = read(f"[step 0]\n{odd}", now=seen_now)
    assert reading.contents("fridge") == {"egg", "apple"}
    assert reading.place("fridge") == "kitchen"


def test_step_states_only_the_games_words() -> None:
    altered = KITCHEN.replace("egg", "pan")
    reading = read(f"[step 0]\n{altered}")
    assert reading.place_at("egg", 0) == ""
    assert reading.place_at("apple", 0) == ""  # it is no line of that step


@pytest.mark.parametrize("text", [TRANSCRIPT, DATED])
def test_transcripts_state_past_facts(text: str) -> None:
    reading = read(text)
    assert reading.place_at("apple", 0) == "fridge"
    assert reading.place_at("apple", 1) == "inventory"
    assert [reading.place_at("you", t) for t in range(4)] == ["kitchen", "kitchen", "hall", "hall"]
    assert reading.action_at(1) == "take apple from fridge"
    assert reading.action_at(2) == "go east"
    assert reading.first(Triple("you", "is in", "hall")) == 2
    assert reading.first(Triple("apple", "is in", "inventory")) == 1


def test_facts_without_a_step_answer_no_past_question() -> None:
    assert read(FACTS).place_at("egg", 0) == ""
    assert read(FACTS, (Triple("egg", "is in", "fridge"),)).place_at("egg", 0) == ""


def test_dated_facts_state_past_facts() -> None:
    reading = read("[step 1] apple: is in fridge; is raw", (Triple("apple", "is in", "inventory"),))
    assert reading.place_at("apple", 1) == "fridge"
    assert reading.place_at("apple", 0) == ""
    assert reading.place("apple") == "inventory"


def test_a_log_of_actions_is_read() -> None:
    text = "Completed actions:\n1. take apple from fridge\n2. go east (kitchen to hall)"
    reading = read(text)
    assert reading.action_at(2) == "go east"
    assert reading.place_at("you", 2) == "hall"
    assert reading.place_at("apple", 1) == "inventory"
    assert read("Completed actions:\n2. put egg on table").place_at("egg", 2) == ""  # nobody did
    assert read("Lessons:\n2. Opening the fridge may be necessary").action_at(2) == ""


def test_an_undated_transcript_is_counted_back_from_the_present() -> None:
    text = f"> take apple from fridge\n{TAKEN}\n> go east\n{HALL}\n> wait"
    reading = read(text)
    assert reading.action_at(1) == "take apple from fridge"
    assert reading.place_at("apple", 1) == "inventory"
    assert reading.place_at("you", 2) == "hall"
    later = read(f"{text}\nTime passes.\n> wait", now=account(later=1))
    assert later.action_at(1) == "take apple from fridge"
    assert later.action_at(4) == "wait"


def test_facts_do_not_last_over_a_gap() -> None:
    text = f"[step 0]\n{KITCHEN}\n[step 2] > go east\n{HALL}"
    reading = read(text, now=account(later=9))
    assert reading.ways("kitchen") == {}  # a step lies between
    assert reading.place_at("you", 0) == "kitchen"
    assert reading.place_at("you", 1) == ""
    assert reading.place_at("you", 2) == "hall"
    assert reading.place_at("egg", 1) == "fridge"  # things stay where they are


def test_things_lying_around_are_at_the_agents_place() -> None:
    dropped = frozenset({Triple("you", "is in", "hall"), Triple("apple", "is in", "hall")})
    moments = [*account().moments[:3], Moment(Step(3, "It drops.", "drop apple"), *[dropped] * 3)]
    moments.append(Moment(Step(4, "Time passes.", "wait"), dropped, dropped, frozenset()))
    text = f"[step 2] > go east\n{HALL}\n[step 3] > drop apple\nIt drops."
    assert read(text, now=Account(moments)).place("apple") == "hall"
    assert read(text.partition("\n[step 3]")[2], now=Account(moments)).place("apple") == ""


def test_triples_are_believed_before_older_texts() -> None:
    reading = read(f"[step 0]\n{KITCHEN}", (Triple("apple", "is in", "inventory"),))
    assert reading.place("apple") == "inventory"
    first = (Triple("egg", "is in", "pan"), Triple("egg", "is in", "fridge"))
    assert read("", first).place("egg") == "pan"
    gone = read(f"[step 0]\n{KITCHEN}", (Triple("apple", "is", "consumed"),))
    assert gone.contents("fridge") == {"egg"}


def test_cut_text_gives_only_whole_names() -> None:
    cut = f"[step 0]\n{KITCHEN[: KITCHEN.index('egg') + 2]}"
    assert "The fridge contains an apple and an eg" in cut
    assert read(cut).contents("fridge") == {"apple"}
    assert read(cut).place("fridge") == "kitchen"


def test_the_present_observation_is_read_too() -> None:
    start, moved = Account(account().moments[:1]), Account(account().moments[:3])
    assert read("", now=start).place("egg") == "fridge"
    way = read(TRANSCRIPT.partition("\n> wait")[0].rpartition(f"\n{HALL}")[0], now=moved)
    assert way.ways("kitchen") == {"east": "hall"}


@pytest.mark.slow
@given(st.text(max_size=300), st.integers(0, 20))
def test_any_text_can_be_read(text: str, t: int) -> None:
    reading = read(text, now=account(later=t))
    assert reading.place("pear") == ""
    reading.place_at("pear", t)
    reading.contents("kitchen")


@given(
    st.lists(
        st.sampled_from(["[step 1] > look", "> go east", HALL, KITCHEN, "[step 9]", FACTS, PROSE]),
        max_size=8,
    ),
    st.integers(0, 12),
)
def test_any_order_of_forms_can_be_read(parts: list[str], t: int) -> None:
    reading = read("\n".join(parts), now=account(later=t))
    assert reading.place("pear") == ""
    for past in range(t + 1):
        assert reading.place_at("pear", past) == ""


def test_full_recall_is_read_unchanged() -> None:
    for name in ("history", "arigraph", "summary", "stma"):
        memory = make_memory(name)
        memory.begin(TASK, 0)
        for step in STEPS:
            memory.observe(step)
        reading = RecallReading(memory.recall(Cue(STEPS[-1].text, TASK.goal), 2000), account())
        assert reading.place("egg") == "fridge", name
        assert reading.place("apple") == "inventory", name
        assert reading.ways("kitchen") == {"east": "hall"}, name


def test_history_counts_to_its_first_step_only_if_complete() -> None:
    memory = History(window=2)
    memory.begin(TASK, 0)
    for step in STEPS:
        memory.observe(step)
    reading = RecallReading(memory.recall(Cue(STEPS[-1].text, TASK.goal), 2000), account())
    assert reading.place_at("you", 2) == "hall"
    assert reading.place_at("apple", 0) == ""
    assert reading.action_at(1) == "take apple from fridge"
