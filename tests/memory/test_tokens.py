"""Tokens are counted by script, and no memory exceeds its budget in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.core.records import Cue, Recall, Step, Task, Triple
from gym_memory.core.tokens import count_tokens, fitting_chars, size_of, truncate_tokens
from gym_memory.memory.base import MEMORIES, make_memory

TEXTS = {
    "Chinese": "你在厨房里。桌子上有一把红色的钥匙和一个旧箱子。北边有一扇关着的门。",
    "Russian": "Вы на кухне. На столе лежат красный ключ и старый сундук. На севере дверь.",
    "Hindi": "आप रसोई में हैं। मेज पर एक लाल चाबी है। उत्तर में एक दरवाजा है।",
    "Thai": "คุณอยู่ในห้องครัว มีกุญแจสีแดงอยู่บนโต๊ะ ทางเหนือมีประตู",
    "emoji": "🔑🚪🍎🧰🔥🕯️🗝️" * 4,
    "code": "def f(x): return {k: (v + 1) * 2 for k, v in x.items() if not (k & 0xff) == (v | 7)}",
}
BUDGETED = sorted(
    name for name in MEMORIES.names() if name not in ("oracle", "belief") and "?" not in name
)


@pytest.mark.parametrize("script", TEXTS)
@pytest.mark.parametrize("name", BUDGETED)
def test_recall_in_any_script_keeps_to_budget(name: str, script: str) -> None:
    try:
        memory = make_memory(name)
    except (ImportError, LookupError) as missing:
        pytest.skip(str(missing))
    if not memory.keeps_budget or memory.uses_oracle:
        pytest.skip("shows more than a budget by its definition")
    memory.begin(Task("t", TEXTS[script]), 0)
    for t in range(12):
        action = f"go {'north' if t % 2 else 'south'}" if t else ""
        memory.observe(Step(t, f"{TEXTS[script]} {t}", action, valid_actions=("look",)))
    for budget in (0, 7, 60, 500):
        cue = Cue(TEXTS[script], TEXTS[script], valid_actions=("look",))
        recall = memory.recall(cue, budget)
        assert count_tokens(recall.text) <= budget
        assert recall == memory.recall(cue, budget)


@given(st.text(max_size=200), st.integers(0, 60))
def test_prefix_fits_and_english_costs_its_length(text: str, budget: int) -> None:
    assert count_tokens(truncate_tokens(text, budget)) <= budget
    assert fitting_chars(text, 10**6) == len(text)
    plain = "".join(char for char in text if char.isascii() and char.isalnum())
    assert size_of(plain) == len(plain)


def test_other_scripts_and_code_cost_more_than_english() -> None:
    for script, text in TEXTS.items():
        assert count_tokens(text * 9) > 1.1 * len(text * 9) / 4, script


def test_lists_of_a_recall_become_tuples() -> None:
    class Lists(type(make_memory("none"))):  # type: ignore[misc]
        def recall(self, cue: Cue, budget: int) -> Recall:
            return Recall("a", [["lamp", "is in", "hall"]], ["seen"], [])

    found = Lists().recall(Cue("hall"), 10)
    assert found == Recall("a", (Triple("lamp", "is in", "hall"),), ("seen",), ())
    assert type(found.triples[0]) is Triple
