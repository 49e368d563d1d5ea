"""Settings, declared once as annotated parameters of a constructor or fields of a dataclass."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["LARGEST_SEED", "Help", "Setting", "Settings", "check_amount", "check_flag", "check_int"]
__all__ += ["check_complete", "check_known", "check_name", "check_number", "check_share"]
__all__ += ["check_text", "check_utf8", "checked", "default_of", "list_settings", "make_settings"]
__all__ += ["shown"]

P = ParamSpec("P")
S = TypeVar("S")
Number = float | int | None

_KINDS = {bool: "True or False", int: "an int", float: "a number", str: "text", NoneType: "None"}
_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n {6,}.+)*)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Help:
    """A meaning of a setting with its range; the bound ``above`` is excluded.

    ``choices`` may be a function that lists the values; a ``Literal`` type needs none.
    """

    text: str
    low: Number = None
    high: Number = None
    above: Number = None
    choices: Sequence[Any] | Callable[[], Sequence[Any]] = ()


@dataclasses.dataclass(frozen=True)
class Setting:
    """A declared setting; ``default`` is ``inspect.Parameter.empty`` if it is required."""

    name: str
    kinds: tuple[Any, ...]
    default: Any
    help: Help

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is inspect.Parameter.empty

    @property
    def choices(self) -> tuple[Any, ...]:
        """Return the values to choose from; empty for no restriction."""
        given = self.help.choices
        named = tuple(c for kind in self.kinds for c in get_args(kind) if _is_literal(kind))
        return named or tuple(given() if callable(given) else given)

    @property
    def kind(self) -> str:
        """Return the type in words, ``int | None``."""
        names = ["str" if _is_literal(k) else getattr(k, "__name__", str(k)) for k in self.kinds]
        return " | ".join(dict.fromkeys("None" if n == "NoneType" else n for n in names))

    @property
    def bounds(self) -> str:
        """Return the range in words, ``>= 1``; empty without one."""
        low, high, above = self.help.low, self.help.high, self.help.above
        if above is not None:
            return f"> {above:.12g}" if high is None else f"in ({above:.12g}, {high:.12g}]"
        if low is not None:
            return f">= {low:.12g}" if high is None else f"in [{low:.12g}, {high:.12g}]"
        return "" if high is None else f"<= {high:.12g}"

    def check(self, value: Any) -> None:
        """Raise an error that names the setting if ``value`` is invalid."""
        choices = self.choices
        if choices:
            if value not in choices and not (value is None and NoneType in self.kinds):
                raise UnknownNameError(self.name, str(value), map(str, choices))
        elif not any(_is_a(value, kind) and self._in_range(value) for kind in self.kinds):
            words = [_KINDS[kind] for kind in self.kinds if kind in _KINDS]
            words[0] += f" {self.bounds}".rstrip()
            raise InvalidArgumentError(
                f"expected {self.name} as {' or '.join(words)}, got {shown(value)}"
            )

    def _in_range(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        low, high, above = self.help.low, self.help.high, self.help.above
        return (
            -math.inf < value < math.inf  # also raised for an int too large for a float
            and (low is None or value >= low)
            and (high is None or value <= high)
            and (above is None or value > above)
        )


def shown(value: Any) -> str:
    """Return a value for a message, at most 80 characters."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # an integer of too many digits
        return "a longer number"


def _is_literal(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _is_a(value: Any, kind: Any) -> bool:
    if kind not in _KINDS:
        return True  # such as a chat model, which checks itself
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Base of frozen dataclasses of settings, which checks all values."""

    def __post_init__(self) -> None:
        for setting in list_settings(type(self)):
            setting.check(getattr(self, setting.name))


def checked(constructor: Callable[P, None]) -> Callable[P, None]:
    """Check the annotated arguments of a constructor before it runs."""
    signature = inspect.signature(constructor)

    @functools.wraps(constructor)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        given = signature.bind(*args, **kwargs).arguments
        for setting in _function_settings(constructor):
            if setting.name in given:
                setting.check(given[setting.name])
        constructor(*args, **kwargs)

    return run


def list_settings(target: Any) -> list[Setting]:
    """List the settings of a dataclass, a class with ``settings_class`` or a function."""
    target = getattr(target, "settings_class", target)
    declared = _dataclass_settings if dataclasses.is_dataclass(target) else _function_settings
    return list(declared(target))


@functools.cache
def _dataclass_settings(target: Any) -> tuple[Setting, ...]:
    hints: dict[str, Any] = {}
    for base in reversed(target.__mro__):  # a subclass that changes a default keeps the declaration
        own = _hints(base).items()
        hints |= {n: hint for n, hint in own if get_origin(hint) is Annotated or n not in hints}
    documented = _documented(target, "Attributes")
    return tuple(
        _setting(f.name, hints.get(f.name, f.type), default_of(f), documented)
        for f in dataclasses.fields(target)
        if f.init
    )


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Return the default of a field; ``inspect.Parameter.empty`` if it is required."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default


@functools.cache
def _function_settings(target: Any) -> tuple[Setting, ...]:
    hints = _hints(getattr(target, "__init__") if isinstance(target, type) else target)  # noqa: B009
    documented = _documented(target, "Args")
    return tuple(
        _setting(p.name, hints.get(p.name, p.annotation), p.default, documented)
        for p in inspect.signature(target).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"
    )


def _hints(target: Any) -> dict[str, Any]:
    try:
        return get_type_hints(target, include_extras=True)
    except NameError:  # a name imported only for type checking
        return {}


def _setting(name: str, hint: Any, default: Any, documented: Mapping[str, str]) -> Setting:
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)  # type: ignore[assignment]
    about = next((extra for extra in extras if isinstance(extra, Help)), None)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return Setting(name, kinds, default, about or Help(documented.get(name, "")))


def _documented(target: Any, section: str) -> dict[str, str]:
    """Return meanings by name from a section of a docstring and those of base classes."""
    meanings: dict[str, str] = {}
    for base in reversed(getattr(target, "__mro__", (target,))):
        text = inspect.cleandoc(base.__doc__ or "").partition(f"{section}:\n")[2]
        meanings |= {name: " ".join(meaning.split()) for name, meaning in _ARGUMENT.findall(text)}
    return meanings


def make_settings(settings_class: Callable[..., S], values: Mapping[str, Any]) -> S:
    """Build settings from plain values, such as those of a file or a command line."""
    known = {setting.name: setting for setting in list_settings(settings_class)}
    for name, value in values.items():
        if name not in known:
            raise UnknownNameError("setting", name, known)
        known[name].check(value)
    return settings_class(**values)


def check_known(
    what: str, function: Callable[..., Any], given: Iterable[str], also: Sequence[str] = ()
) -> None:
    """Check that ``function`` takes every parameter in ``given`` that is not in ``also``.

    >>> check_known("memory 'm'", check_int, ["lwo"])
    Traceback (most recent call last):
    ...
    gym_memory.core.errors.UnknownNameError: unknown parameter of memory 'm' 'lwo': expected one \
of high, low, name, value. Did you mean 'low'?
    """
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known = [*(name for name in known if name != "self"), *also]
    for name in given:
        if name not in known:
            raise UnknownNameError(f"parameter of {what}", name, known or ["(none)"])


def check_complete(
    kind: str, name: str, function: Callable[..., Any], given: Iterable[str]
) -> None:
    """Check that every parameter of ``function`` without a default is given.

    >>> check_complete("memory", "m", check_int, ["name", "value"])
    Traceback (most recent call last):
    ...
    gym_memory.core.errors.InvalidArgumentError: memory 'm' needs low: m?low=...
    """
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in optional]
    missing = [each for each in needed if each not in given]
    if missing:
        example = "&".join(f"{each}=..." for each in missing)
        raise InvalidArgumentError(f"{kind} {name!r} needs {', '.join(missing)}: {name}?{example}")


LARGEST_SEED = (1 << 63) - 1
"""Largest seed that every random number generator accepts."""


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` if it is an int in [low, high]."""
    Setting(name, (int,), None, Help("", low, high)).check(value)
    return int(value)


def check_number(
    name: str, value: Any, *, low: Number = None, high: Number = None, above: Number = None
) -> float:
    """Return ``value`` if it is a finite number within the bounds."""
    Setting(name, (float,), None, Help("", low, high, above)).check(value)
    return float(value)


def check_amount(name: str, value: Any) -> float:
    """Return ``value`` if it is a finite number >= 0."""
    return check_number(name, value, low=0)


def check_share(name: str, value: Any) -> float:
    """Return ``value`` if it is a number in [0, 1]."""
    return check_number(name, value, low=0, high=1)


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is True or False."""
    Setting(name, (bool,), None, Help("")).check(value)
    return bool(value)


def check_text(name: str, value: Any) -> str:
    """Return ``value`` if it is a string."""
    Setting(name, (str,), None, Help("")).check(value)
    return str(value)


def check_name(kind: str, value: Any, known: Collection[str]) -> str:
    """Return ``value`` if it is a known name."""
    if value not in known:
        raise UnknownNameError(kind, str(value), known)
    return str(value)


def check_utf8(name: str, value: Any) -> str:
    """Return ``value`` if it is a string that UTF-8 can encode, unlike some command lines."""
    try:
        check_text(name, value).encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"expected {name} as UTF-8 text, got {value!r}") from None
    return str(value)
