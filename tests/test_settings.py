"""Settings: declared once, checked where they are given, listed with their help."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import pytest

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.settings import (
    Help,
    Settings,
    check_known,
    checked,
    list_settings,
    make_settings,
)

Depth = Annotated[int, Help("Hops from what is in view.", low=0)]
Rate = Annotated[float, Help("Step size.", above=0, high=1)]
Limit = Annotated[int | None, Help("Most of them; None for all.", low=1)]
Mode = Annotated[Literal["fast", "exact"], Help("How to search.")]
Color = Annotated[str, Help("Paint.", choices=lambda: ["red", "blue"])]


class Component:
    @checked
    def __init__(
        self,
        depth: Depth = 2,
        *,
        rate: Rate = 0.1,
        limit: Limit = None,
        mode: Mode = "fast",
        color: Color = "red",
        title: Annotated[str, Help("Words.")] = "",
        loud: Annotated[bool, Help("Noise.")] = False,
    ):
        self.depth = depth


@dataclasses.dataclass(frozen=True)
class Record(Settings):
    depth: Depth = 2
    rate: Rate = 0.1
    limit: Limit = None
    mode: Mode = "fast"
    color: Color = "red"
    title: Annotated[str, Help("Words.")] = ""
    loud: Annotated[bool, Help("Noise.")] = False


BOTH = pytest.mark.parametrize("make", [Component, Record])


@BOTH
def test_good_values_pass(make: Any) -> None:
    assert make(depth=0).depth == 0
    make(rate=1, limit=3, mode="exact", color="blue", title="x", loud=True)
    assert make(limit=None).depth == 2


@BOTH
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"depth": -1}, "expected depth as an int >= 0, got -1"),
        ({"depth": 1.0}, "expected depth as an int >= 0, got 1.0"),
        ({"depth": True}, "expected depth as an int >= 0, got True"),
        ({"rate": 0}, r"expected rate as a number in \(0, 1\], got 0"),
        ({"rate": float("nan")}, "rate as a number"),
        ({"limit": 0}, "expected limit as an int >= 1 or None, got 0"),
        ({"mode": "slow"}, "unknown mode 'slow': expected one of exact, fast"),
        ({"color": "blu"}, "Did you mean 'blue'"),
        ({"title": 3}, "expected title as text, got 3"),
        ({"loud": 1}, "expected loud as True or False, got 1"),
    ],
)
def test_wrong_values_are_named(make: Any, values: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidArgumentError, UnknownNameError), match=message):
        make(**values)


@BOTH
def test_settings_are_listed_as_declared(make: Any) -> None:
    found = {setting.name: setting for setting in list_settings(make)}
    assert list(found) == ["depth", "rate", "limit", "mode", "color", "title", "loud"]
    assert (found["limit"].kind, found["limit"].bounds) == ("int | None", ">= 1")
    assert (found["mode"].kind, found["mode"].choices) == ("str", ("fast", "exact"))
    assert found["color"].choices == ("red", "blue")
    assert (found["depth"].default, found["depth"].help.text) == (2, "Hops from what is in view.")


def test_a_plain_constructor_has_the_help_of_its_docstring() -> None:
    class Plain:
        """Keep notes.

        Args:
            window: Notes to keep,
                newest first.
        """

        def __init__(self, window: int, size=3):
            self.window = window

    window, size = list_settings(Plain)
    assert (window.kind, window.required) == ("int", True)
    assert window.help.text == "Notes to keep, newest first."
    assert (size.default, size.help.text) == (3, "")


def test_settings_from_a_file_are_checked() -> None:
    assert make_settings(Record, {"depth": 1}) == Record(depth=1)
    with pytest.raises(UnknownNameError, match=r"unknown setting 'dept'.*Did you mean 'depth'"):
        make_settings(Record, {"dept": 1})


def test_a_derived_record_keeps_the_declarations_of_its_base() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Record):
        depth: Annotated[int, Help("Fewer hops.", low=0)] = 1
        rate: float = 0.5

    depth, rate, *_ = list_settings(More)
    assert depth.help.text == "Fewer hops."
    assert (rate.default, rate.help.text, rate.bounds) == (0.5, "Step size.", "in (0, 1]")
    with pytest.raises(InvalidArgumentError, match="rate"):
        More(rate=2)


def test_unknown_parameters_are_named() -> None:
    def takes(alpha: int, *, beta: int = 1) -> None: ...

    def takes_all(**kwargs: int) -> None: ...

    class Thing:
        def __init__(self, alpha: int = 0): ...

    check_known("memory 'm'", takes, {"alpha": 1, "beta": 2})
    check_known("memory 'm'", takes_all, {"anything": 1})
    check_known("memory 'm'", Thing, {"alpha": 1})
    with pytest.raises(UnknownNameError, match="Did you mean 'alpha'"):
        check_known("memory 'm'", takes, {"alhpa": 1})
    for name in ("self", "beta"):
        with pytest.raises(UnknownNameError, match=f"'{name}'"):
            check_known("memory 'm'", Thing, {name: 1})
    with pytest.raises(UnknownNameError, match=r"expected one of \(none\)"):
        check_known("memory 'm'", lambda: None, {"a": 1})
