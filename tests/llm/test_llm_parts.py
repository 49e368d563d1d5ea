"""Prices, meters, budgets and caches on their own, JSON in nonsense."""

from __future__ import annotations

import json
import sqlite3
import threading

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import guarded

from gym_memory.core.errors import BudgetExceededError, InvalidArgumentError, ModelError, StoreError
from gym_memory.llm import Budget, Meter, Price, Reply, ResponseCache, Tokens, Usage
from gym_memory.llm.base import json_values, validate
from gym_memory.llm.model import call_key
from gym_memory.llm.usage import read_prices

quick = settings(max_examples=60, derandomize=True, deadline=None)


class Move(pydantic.BaseModel):
    """An action with its reason."""

    action: str
    reason: str = ""


# --- prices and meters --------------------------------------------------------------------------


@quick
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_ceiling_is_never_below_the_cost(fresh, cached, completion):
    for price in (Price(1.5, 6.0), Price(1.5, 6.0, 0.1), Price(1.5, 6.0, 3.0)):
        cost = price.cost(Tokens(fresh + cached, cached, completion))
        assert cost <= price.ceiling(fresh + cached, completion) + 1e-12


def test_usage_adds_up_by_role_from_many_threads():
    meter = Meter()
    threads = [
        threading.Thread(
            target=lambda role=role: [meter.add(role, Usage(calls=1)) for _ in range(500)]
        )
        for role in ("plan", "extract") * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.by_role() == {"extract": Usage(calls=2000), "plan": Usage(calls=2000)}
    assert list(meter.by_role()) == ["extract", "plan"]
    assert meter.total() == Usage(calls=4000)
    assert Meter().total() == Usage()


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", '{"m": 1}', '{"m": [1]}', '{"m": [1, -2]}', "{", '{"m": [1, NaN]}',
        '{"m": [Infinity, 1]}', '{"m": [1, "2"]}', '{"m": [1, null]}', '{"m": [1, 2, -1]}',
        '{"m": [true, 1]}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_wrong_price_table_is_refused(text):
    with pytest.raises(InvalidArgumentError, match="expected prices"):
        read_prices(text)


# --- budgets ------------------------------------------------------------------------------------


def test_reservations_count_until_they_are_settled():
    budget = Budget(max_tokens=100, max_cost_usd=1.0)
    ticket = budget.reserve(80, 0.5)
    with pytest.raises(BudgetExceededError, match="max_tokens"):
        budget.reserve(21, 0.0)
    with pytest.raises(BudgetExceededError, match="max_cost_usd"):
        budget.reserve(1, 0.6)
    budget.settle(ticket, 10, 0.1)
    assert budget.spent() == (10, 0.1)
    budget.reserve(90, 0.9)
    assert budget.spent() == (100, 1.0)


@quick
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=30))
def test_budget_holds_for_any_question(calls):
    budget, spent = Budget(max_tokens=200), 0
    for most, took in calls:
        try:
            ticket = budget.reserve(most, 0.0)
        except BudgetExceededError:
            assert spent + most > 200
            continue
        budget.settle(ticket, min(took, most), 0.0)
        spent += min(took, most)
        assert budget.spent() == (spent, 0.0)
    assert spent <= 200


@pytest.mark.slow
def test_processes_share_one_budget(tmp_path, python):
    path = tmp_path / "budget.sqlite"
    code = (
        "import sys, threading\n"
        "from gym_memory.llm import Budget\n"
        "from gym_memory.core.errors import BudgetExceededError\n"
        "budget, made = Budget(max_tokens=1000, path=sys.argv[1]), 0\n"
        "try:\n"
        "    while True:\n"
        "        budget.settle(budget.reserve(7, 0.0), 7, 0.0); made += 1\n"
        "except BudgetExceededError: print(made)\n"
    )
    made: list[int] = []
    workers = [
        threading.Thread(target=lambda: made.append(int(python(code, str(path))))) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(made) == 1000 // 7
    assert Budget(max_tokens=1000, path=path).spent() == (994, 0.0)


def test_a_file_that_is_no_budget_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 100)
    for make in (lambda: Budget(path=path), lambda: ResponseCache(path)):
        with pytest.raises(StoreError, match=r"notes\.txt"):
            make()


# --- cache --------------------------------------------------------------------------------------


def test_the_first_answer_is_kept(tmp_path):
    one, two = ResponseCache(tmp_path / "c"), ResponseCache(tmp_path / "c")
    assert one.get("k") is None
    first = Reply("a", Tokens(3, 1, 2), "stop")
    assert one.put("k", first) == first
    late = two.put("k", Reply("b"))
    assert late == first, "who asked at the same time goes on with the first answer"
    assert two.get("k") == first._replace(hit=True)
    assert len(one) == 1


def test_changed_answer_is_none_and_older_files_are_read(tmp_path):
    with sqlite3.connect(tmp_path / "c") as database:
        database.execute(
            "CREATE TABLE responses (key PRIMARY KEY, answer, finish, prompt, cached, completion)"
        )
        database.execute("INSERT INTO responses VALUES ('old', 'a', 'stop', 1, 0, 1)")
    cache = ResponseCache(tmp_path / "c")
    assert cache.get("old") == Reply("a", Tokens(1, 0, 1), "stop", hit=True)
    cache.put("new", Reply("yes"))
    with database:
        database.execute("UPDATE responses SET answer = 'no' WHERE key = 'new'")
        database.execute("UPDATE responses SET answer = 'b' WHERE key = 'old'")
    assert cache.get("new") is None
    assert cache.put("new", Reply("yes again")).text == "yes again"
    assert cache.get("new").text == "yes again"
    with database:
        database.execute("DROP TABLE responses")
    database.close()
    with pytest.raises(StoreError, match="cannot use the response cache"):
        cache.get("new")


@quick
@given(st.dictionaries(st.text(max_size=8), st.text(), max_size=4))
def test_equal_calls_have_equal_keys(call):
    again = dict(reversed(call.items()))
    assert call_key(call) == call_key(again)
    assert call_key(call) != call_key({**call, "more": 1})


# --- JSON ---------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@quick
@given(values.filter(lambda v: isinstance(v, list | dict)), st.text("abc \n`:,.", max_size=30))
def test_json_is_found_in_prose(value, prose):
    assert list(json_values(f"{prose}{json.dumps(value)}{prose}")) == [value]


@quick
@given(st.text(alphabet='{}[]":, a1\\\n', max_size=200))
def test_nonsense_never_breaks_the_reader(text):
    for value in json_values(text):
        assert isinstance(value, list | dict)


def test_the_value_of_the_right_form_is_taken():
    text = 'Options [1, 2]. {"plan": 3}\n```json\n{"action": "go east"}\n```'
    assert validate(text, Move) == Move(action="go east")
    with pytest.raises(ModelError, match=r"action: Field required"):
        validate('{"plan": 3}', Move)
    with pytest.raises(ModelError, match="no whole JSON"):
        validate('{"action": "go', Move)


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "go east",}', '{\n"action": "go east" // by the "door"\n}',
        '{"action": "go east", // last,\n}', '{"action": "go east", "reason": null}',
        '{"reason": 1, "action": "go east"}', 'Sure: {"action": "go east", "reason": ["a"],}',
    ],
)  # fmt: skip
def test_json_of_a_hasty_model_is_read(text):
    if "[" in text:
        with pytest.raises(ModelError, match="reason: Input should be a valid string"):
            validate(text, Move)
    else:
        assert validate(text, Move).action == "go east"
    assert validate('{"action": "a\nb", "reason": "http://c,]"}', Move).reason == "http://c,]"


@pytest.mark.parametrize(
    "text",
    ["[" * 10**6, "{" * 10**6, '{"a":' * 10**5, '"' * 10**6, "{,// " * 10**5, '{",' * 10**5],
)
def test_a_megabyte_of_nonsense_is_read_quickly(text):
    def refuse():
        with pytest.raises(ModelError):
            validate(text, Move)

    guarded(refuse)
