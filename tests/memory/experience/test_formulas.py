"""Each paper's formula by a worked example, and its corner cases."""

from __future__ import annotations

import math

import pytest
from stream import LOST, WAY, WON, begin, items, made, play

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.memory.experience.items import Item, ScoredItem
from gym_memory.memory.experience.memp import adjust_procedure, facts_of

GOAL = "put a potato in shelf"
HALF = Outcome(1.0, 2.0, 0.5, False, False, 3)


def seeded(spec: str, *keys: str, **fields: object) -> object:
    """Build a memory that holds an item for each key."""
    memory = made(spec, inner="none")
    for key in keys:
        memory.bank.add(Item(f"Do {key}.", key, "success", key, **fields))
    return memory


# --- MemRL --------------------------------------------------------------------------------------


def test_memrl_scores_as_in_the_paper() -> None:
    memory = made("memrl")
    near = ScoredItem(Item("a", "a", utility=0.6), 0.5187 + 0.1203)  # zs = 1
    far = ScoredItem(Item("b", "b", utility=1.0), 0.5187 - 0.1203)  # zs = -1
    ranked = memory.ranked([near, far])
    # Mean .8, pstdev .2: zq is -1 and 1, so both scores are 0 and the nearer comes first.
    assert [(round(score, 6), item.text) for score, item in ranked] == [(0.0, "a"), (0.0, "b")]
    valued = memory.ranked([near, far, ScoredItem(Item("c", "c", utility=0.6), 0.5187)])
    spread = math.sqrt(((0.6 - 2.2 / 3) ** 2 * 2 + (1 - 2.2 / 3) ** 2) / 3)
    assert {item.text: score for score, item in valued}["b"] == pytest.approx(
        0.5 * -1 + 0.5 * (1 - 2.2 / 3) / spread
    )


def test_memrl_ranks_equal_values_by_similarity_up_to_three() -> None:
    memory = made("memrl")
    ((score, _),) = memory.ranked([ScoredItem(Item("a", "a", utility=5.0), 0.9999)])
    assert score == 0.5 * 3.0, "zs of 4 is cut at 3; one candidate has zq 0"
    equal = [ScoredItem(Item(t, t, utility=0.4), s) for t, s in (("a", 0.5), ("b", 0.6))]
    assert [item.text for _, item in memory.ranked(equal)] == ["b", "a"], "deviation 0"
    outlier = [ScoredItem(Item(str(n), "", utility=0.0), 0.5187) for n in range(12)]
    outlier.append(ScoredItem(Item("high", "", utility=9.0), 0.5187))  # its z is 3.46
    assert memory.ranked(outlier)[0][0] == pytest.approx(0.5 * 3.0)


def test_memrl_shows_nothing_below_tau() -> None:
    memory = seeded("memrl?tau=0.62", "mug sink fridge")
    assert begin(memory, "mug pan pot") == "", "a cosine of 1/3 is no candidate"
    assert "Do mug" in begin(memory, "mug sink pot")  # 2/3


def test_memrl_keeps_the_three_best_of_five() -> None:
    memory = seeded("memrl", *[f"mug {w}" for w in "abcdefg"])
    begin(memory, "mug a")
    assert memory.shown[0] == 1
    assert len(memory.shown) == 1, "the others have a cosine of 1/2"
    memory = seeded("memrl?tau=0.49", *[f"mug {w}" for w in "abcdefg"], utility=0.0)
    memory.bank.put(memory.bank.items[4]._replace(utility=1.0))
    begin(memory, "mug a")
    # Of the five nearest (1 to 5) item 4 has the value: zq 2, zs -.16; item 1 has zs 3, zq -.5.
    assert memory.shown == [1, 4, 2]


def test_memrl_moves_the_value_of_shown_items() -> None:
    memory = made("memrl?alpha=0.3&merge=2")
    play(memory, GOAL, WON)
    assert items(memory)[0].utility == 0.0
    play(memory, GOAL, WON)
    assert items(memory)[0].utility == pytest.approx(0.3)
    play(memory, GOAL, LOST)
    assert items(memory)[0].utility == pytest.approx(0.7 * 0.3 - 0.3)
    assert (items(memory)[0].uses, items(memory)[0].wins) == (2, 1.0)


def test_memrl_never_falls_below_the_floor() -> None:
    memory = seeded("memrl?alpha=1&floor=-0.5", GOAL)
    play(memory, GOAL, LOST)
    assert items(memory)[0].utility == -0.5


def test_memrl_merges_from_ninety_percent_within_an_outcome() -> None:
    memory = made("memrl?alpha=0.3&k=1&tau=1")
    words = " ".join(f"w{n}" for n in range(19))
    play(memory, words + " x", WON)
    play(memory, words + " y", WON)  # a cosine of .95
    (kept,) = items(memory)
    assert [o.task for o in kept.origins] == [f"house/{words} x", f"house/{words} y"]
    assert kept.utility == pytest.approx(0.1 * 0.3), "a tenth of the gain"
    play(memory, words + " x", LOST)
    assert [item.kind for item in items(memory)] == ["success", "failure"]


def test_memrl_explores_with_a_seed() -> None:
    def shown(spec: str) -> list[list[int]]:
        memory = seeded(spec, *[f"mug {w}" for w in "abcdef"])
        return [memory.shown for n in range(6) if begin(memory, "mug a", str(n)) is not None]

    assert shown("memrl?epsilon=1&tau=0") == shown("memrl?epsilon=1&tau=0")
    assert len({tuple(ids) for ids in shown("memrl?epsilon=1&tau=0")}) > 1
    assert len({tuple(ids) for ids in shown("memrl?epsilon=0&tau=0")}) == 1


@pytest.mark.parametrize(
    ("spec", "worth", "utility", "more"),
    [
        ("memrl?alpha=0.3&k=1&tau=0", 0.5, 0.3 * 0.5, ()),
        ("memrl?alpha=0.3&k=1&tau=0", -0.5, -0.3 * 0.5, ()),
        ("simutil?beta=0.2&least=0", 0.5, 0.8 * 0.5 + 0.2 * 0.75, ()),
        ("skills?beta=0.2&paired=never&least=0", 0.5, 0.2 * 0.5, ()),
        ("playbook?", 0.5, 0.0, ("1", "0")),
        ("playbook?", -0.5, 0.0, ("0", "1")),
        ("playbook?", 0.0, 0.0, ()),
    ],
)
def test_measured_worth_moves_the_value_instead_of_the_outcome(
    spec: str, worth: float, utility: float, more: tuple[str, ...]
) -> None:
    memory = made(f"{spec}&utility=exact".replace("?&", "?"))
    memory.worths = {}
    play(memory, GOAL, LOST)
    first = next(item for item in items(memory) if item.text)
    memory.worths = {first.id: worth}
    play(memory, GOAL, WON)
    item = memory.bank.items[first.id]
    assert first.id in memory.shown
    assert (item.utility, item.more) == (pytest.approx(utility), more)


def test_memrl_may_show_the_trajectory() -> None:
    memory = made("memrl?trajectory=true")
    play(memory, GOAL, WON, ["go to fridge 1", "look"])
    assert "go to fridge 1" in items(memory)[0].text.split("\n", 1)[1]


# --- SimUtil-UCB --------------------------------------------------------------------------------


def test_simutil_scores_as_in_the_paper() -> None:
    memory = made("simutil?weight=0.7&kappa=1")
    near = ScoredItem(Item("a", "a", uses=2, utility=0.5), 0.8)
    assert memory.score(near, 8) == pytest.approx(
        0.7 * 0.8 + 0.3 * (0.5 + math.sqrt(math.log(8) / 2))
    )
    assert made("simutil?rank=utility").score(near, 8) == pytest.approx(0.7 * 0.8 + 0.3 * 0.5)
    assert made("simutil?rank=relevance").score(near, 8) == 0.8
    assert memory.score(near._replace(item=near.item._replace(uses=1)), 1) == pytest.approx(
        0.7 * 0.8 + 0.3 * 0.5
    ), "of one count the logarithm is 0"


def test_simutil_drops_items_below_similarity_two_fifths() -> None:
    memory = seeded("simutil", "a b c d e f", "a b", uses=1)
    begin(memory, "a b g h")  # cosines of .41 and .71
    assert memory.shown == [2, 1]
    begin(memory, "a x y z")  # of .2 and .35
    assert memory.shown == []


def test_simutil_moves_utility_by_the_score_of_the_episode() -> None:
    memory = made("simutil?beta=0.05")
    play(memory, GOAL, LOST)
    assert (items(memory)[0].utility, items(memory)[0].uses) == (0.5, 1)
    play(memory, GOAL, HALF, ["look"])
    assert items(memory)[0].utility == pytest.approx(0.95 * 0.5 + 0.05 * 0.5)
    assert items(memory)[0].uses == 2
    play(memory, GOAL, WON, ["wait"])
    assert items(memory)[0].utility == pytest.approx(0.95 * 0.5 + 0.05 * 1.0)


def test_simutil_adds_equal_lesson_of_alike_task_to_first() -> None:
    memory = made("simutil?beta=0.1&least=1")
    play(memory, GOAL, WON)
    play(memory, GOAL, WON)
    (kept,) = items(memory)
    assert [origin.run for origin in kept.origins] == [1, 2]
    assert (kept.uses, kept.utility) == (1, pytest.approx(0.9 * 0.5 + 0.1)), "it was not shown"


def test_simutil_contrasts_with_other_outcome_of_the_same_task() -> None:
    memory = made("simutil")
    play(memory, GOAL, LOST, ["go to fridge 1", "look"])
    play(memory, GOAL, WON)
    text = items(memory)[-1].text
    assert 'Do "take potato 1 from fridge 1" then.\nDo not do "look" then.' in text


def test_simutil_prunes_to_the_three_best_of_a_task() -> None:
    memory = seeded("simutil?prune=1", *["mug"] * 5, uses=7)
    for id, utility in zip(memory.bank.items, (0.1, 0.5, 0.4, 0.3, 0.2), strict=True):
        memory.bank.put(memory.bank.items[id]._replace(utility=utility))
    play(memory, "a pan", WON)
    kept = [item for item in items(memory) if item.goal == "mug"]
    assert [(i.id, round(i.utility, 3), i.uses) for i in kept] == [
        (2, 0.45, 1), (3, 0.36, 1), (4, 0.27, 1),
    ]  # fmt: skip


def test_simutil_filters_by_outcome_and_shows_to_some_episodes() -> None:
    memory = seeded("simutil?outcome=failure", "mug", uses=1)
    assert begin(memory, "mug") == ""
    memory = seeded("simutil?exposure=0", "mug", uses=1)
    assert begin(memory, "mug") == ""
    memory = seeded("simutil?exposure=0.5", "mug", uses=1)
    seen = [bool(begin(memory, "mug", str(n))) for n in range(200)]
    assert 70 < sum(seen) < 130


def test_simutil_draws_by_score_at_temperature_one_half() -> None:
    memory = seeded("simutil?rank=softmax&k=1&weight=0&kappa=0", "mug", "mug", uses=1)
    memory.bank.put(memory.bank.items[1]._replace(utility=0.5))
    firsts = 0
    for n in range(400):
        begin(memory, "mug", str(n))
        firsts += memory.shown == [1]
    share = math.exp(0.5 / 0.5) / (math.exp(0.5 / 0.5) + 1)  # .73
    assert abs(firsts / 400 - share) < 0.07


# --- D2Skill ------------------------------------------------------------------------------------


def test_skills_score_as_in_the_paper() -> None:
    memory = made("skills?bonus=0.5")
    skill = Item("a", "a", "task", uses=3, utility=0.2)
    assert memory.value(skill, 8) == pytest.approx(0.2 + 0.5 * math.sqrt(math.log(9) / 4))
    assert memory.value(skill._replace(uses=0), 0) == 0.2


def test_skills_take_utility_from_pairs() -> None:
    memory = made("skills?paired=goal&beta=0.5&threshold=1")
    assert play(memory, GOAL, LOST) == "", "the first episode is the baseline's"
    shown = play(memory, GOAL, WON)
    assert "These" in shown or "attempt failed" in shown
    skills = [i for i in items(memory) if i.kind in ("task", "step") and i.born == 1]
    assert skills
    assert {i.utility for i in skills} == {0.5}, "half of success(with) - success(without) = 1"
    assert play(memory, GOAL, WON) == "", "the baseline again"
    play(memory, GOAL, WON)  # signal 1 - 1/2
    after = memory.bank.items[skills[0].id]
    assert after.uses in (1, 2)
    if after.uses == 2:
        assert after.utility == pytest.approx(0.5 * 0.5 + 0.5 * 0.5)
    counts = {i.kind: (i.uses, i.wins) for i in items(memory) if i.kind.startswith("with")}
    assert counts == {"without": (2, 1.0), "with": (2, 2.0)}


def test_skills_write_one_a_kind_for_hard_goals_only() -> None:
    memory = made("skills?threshold=0.5&paired=never")
    play(memory, GOAL, LOST)
    assert sorted(i.kind for i in items(memory)) == ["step", "task", "without"]
    step = next(i for i in items(memory) if i.kind == "step")
    assert step.key.startswith(GOAL)
    assert step.origins[0].step == 3, "the last step without effect"
    memory = made("skills?threshold=0.5&paired=never")
    play(memory, GOAL, WON)  # nothing is known of the group before
    known = len(items(memory))
    play(memory, "another goal", WON)
    assert len(items(memory)) == known + 1, "only the count of episodes with skills is new"


def test_step_skill_is_recalled_where_the_error_was() -> None:
    memory = made("skills?paired=never&k=1&least=0.3")
    play(memory, GOAL, LOST)
    begin(memory, "wholly other words")
    assert memory.shown == []
    memory.observe(Step(1, "Nothing happens.", "look"))
    begin(memory, GOAL)
    kinds = [memory.bank.items[id].kind for id in memory.shown]
    assert kinds == ["task", "step"]


def test_skills_evict_the_lowest_but_no_young_one() -> None:
    memory = made("skills?capacity=3&protect=2&paired=never&threshold=0")
    for text, utility in (("a", 0.9), ("b", 0.1), ("c", 0.5)):
        memory.bank.add(Item(text, text, "task", utility=utility))
    play(memory, GOAL, WON)
    assert [i.text for i in items(memory) if i.text] != []
    assert len([i for i in items(memory) if i.kind == "task"]) >= 3, "all are younger than 2"
    play(memory, GOAL, WON)
    texts = [i.text for i in items(memory) if i.kind == "task" and len(i.text) == 1]
    assert "b" not in texts
    assert "a" in texts


# --- Memp ---------------------------------------------------------------------------------------


def test_memp_deletes_after_three_hits_below_one_half() -> None:
    memory = seeded("memp?update=validation", GOAL)
    for uses, outcome in ((1, LOST), (2, WON)):
        play(memory, GOAL, outcome, ["look"])
        assert memory.bank.items[1].uses == uses
    play(memory, GOAL, LOST, ["look"])
    assert 1 not in memory.bank.items, "one of three"
    memory = seeded("memp?update=validation", GOAL)
    for outcome in (LOST, WON, WON, LOST):
        play(memory, GOAL, outcome, ["look"])
    assert memory.bank.items[1].uses == 4, "one half is enough"


def test_memp_stores_by_its_update() -> None:
    for update, kinds in (
        ("vanilla", ["failure", "success"]),
        ("validation", ["success"]),
        ("adjustment", ["success"]),
    ):
        memory = made(f"memp?update={update}")
        play(memory, "a mug", LOST)
        play(memory, "a pan on the table", WON)
        assert [item.kind for item in items(memory)] == kinds


def test_memp_repairs_the_used_procedure_in_place() -> None:
    memory = made("memp")
    play(memory, GOAL, WON)
    play(memory, GOAL, LOST, ["look"])
    (item,) = items(memory)
    assert '"go to fridge"' not in item.text, "no step was done when it last scored: never"
    assert (item.uses, item.wins, item.id) == (1, 0.0, 1)
    steps = (Step(0, ""), Step(1, "", WAY[0]), Step(2, "", WAY[1], 1.0), Step(3, "", "look"))
    text = 'These steps won: "go to fridge", "take potato from fridge", "go to shelf".'
    cut = adjust_procedure(text, steps, LOST, Task("", GOAL))
    assert cut == 'These steps won: "go to fridge", "take potato from fridge".'
    assert adjust_procedure("Look around.", steps, LOST, Task("", GOAL)) == "Look around."


def test_memp_searches_by_goal_by_facts_or_by_age() -> None:
    assert facts_of("put a hot apple in fridge.") == {
        "verb": "put", "thing 1": "hot apple", "thing 2": "fridge",
    }  # fmt: skip
    keys = ("put a mug in sink", "examine a pan with lamp", "put a mug in shelf")
    memory = seeded("memp?key=facts&least=0.6", *keys)
    begin(memory, "put a mug in shelf")
    assert memory.shown == [3, 1], "3 of 3 facts, 2 of 3, and none of 3"
    memory = seeded("memp?key=facts&least=0.67", *keys)
    begin(memory, "put a mug in shelf")
    assert memory.shown == [3]
    memory = seeded("memp?key=recent&k=2", *keys)
    begin(memory, "put a mug in shelf")
    assert memory.shown == [3, 2]
    memory = seeded("memp?least=0.5", *keys)
    begin(memory, "hang a picture")  # cosine .26
    assert memory.shown == []


# --- ExpRAG and ExpRecent -----------------------------------------------------------------------


def test_exprag_shows_input_output_and_feedback() -> None:
    memory = made("exprag?k=1")
    play(memory, "a pan", LOST, ["look"])
    play(memory, GOAL, WON)
    shown = begin(memory, GOAL)
    assert f"Goal: {GOAL}." in shown
    assert '"go to fridge 1": You do go to fridge 1 (1).' in shown
    assert "Final score: 100 of 100." in shown


def test_exprecent_shows_the_last_episodes_of_any_goal() -> None:
    memory = made("exprecent?k=2")
    for goal in ("a mug", "a pan", "a pot"):
        play(memory, goal, WON)
    begin(memory, "a mug")
    assert memory.shown == [3, 2]
