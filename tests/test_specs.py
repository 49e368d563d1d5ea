"""Names with parameters."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("history", Spec.of("history", {})),
        (" history ", Spec.of("history", {})),
        ("history?window=5", Spec.of("history", {"window": 5})),
        ("a?b=true&c=false&d=null", Spec.of("a", {"b": True, "c": False, "d": None})),
        ("a?b=1.5&c=-3&d=1e3", Spec.of("a", {"b": 1.5, "c": -3, "d": 1000.0})),
        ("a?b=text&c=two+words", Spec.of("a", {"b": "text", "c": "two words"})),
        ("a?b=two%20words&c=NaN", Spec.of("a", {"b": "two words", "c": "NaN"})),
        ("a?path=/tmp/x.z8", Spec.of("a", {"path": "/tmp/x.z8"})),
        ("a?b=", Spec.of("a", {"b": ""})),
        ('a?b=[1]&c={"d":1}', Spec.of("a", {"b": "[1]", "c": '{"d":1}'})),
        ("a?b=c=d", Spec.of("a", {"b": "c=d"})),
        ("arigraph?encoder=sentence-transformers/all-MiniLM-L6-v2",
         Spec.of("arigraph", {"encoder": "sentence-transformers/all-MiniLM-L6-v2"})),
    ],
)  # fmt: skip
def test_parse(text: str, spec: Spec) -> None:
    assert Spec(text).parts == spec.parts
    assert Spec(text) == spec
    assert all(type(v) is type(spec.kwargs[k]) for k, v in Spec(text).kwargs.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the name is empty"),
        ("?a=1", "the name is empty"),
        ("  ?a=1", "the name is empty"),
        ("a?b", "expected name"),
        ("a?b=1&&", "expected name"),
        ("a?b=1&b=2", "'b' is given twice"),
        (3, "expected a name such as .*got int"),
        (None, "got NoneType"),
        ("a?b=\udcff", "expected a name with its parameters as UTF-8 text"),
    ],
)
def test_bad(text: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Spec(text)  # type: ignore[arg-type]


keys = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
scalars = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)


def stays_text(value: object) -> bool:
    """True unless the value is a string that reads as a JSON scalar and becomes one."""
    if not isinstance(value, str):
        return True
    try:
        return isinstance(json.loads(value, parse_constant=str), str | list | dict)
    except ValueError:
        return True


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(kwargs=st.dictionaries(keys, scalars, max_size=4))
def test_format_is_the_inverse(kwargs: dict) -> None:
    kwargs = {k: v for k, v in kwargs.items() if stays_text(v)}
    text = str(Spec.of("name", kwargs))
    assert Spec(text).parts == ("name", kwargs)
    assert Spec(text) == text


def test_format_sorts() -> None:
    assert Spec.of("a", {"c": 1, "b": "x y"}) == Spec.of("a", {"b": "x y", "c": 1})
    assert Spec.of("a", {}) == "a"


def test_spec_survives_pickle_and_copy() -> None:
    spec = Spec("Cooking?level=hard&seed=3")
    for again in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec)):
        assert (again, again.name, again.kwargs) == (spec, "Cooking", spec.kwargs)


def test_parameters_of_a_spec_cannot_change() -> None:
    with pytest.raises(TypeError):
        Spec("arigraph?depth=2").kwargs["depth"] = 3  # type: ignore[index]
