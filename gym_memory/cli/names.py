"""``gym-memory list``: names of environments, memories, policies and settings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import gymnasium as gym
from typer import Argument

from gym_memory.baselines.base import learner_classes
from gym_memory.cli import options
from gym_memory.cli.show import output, print_json, print_table
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Registry, first_sentence
from gym_memory.core.settings import check_name, list_settings

__all__ = ["command"]

_MAX_DEFAULT_CHARS = 40
"""Characters of a default that a table shows; longer ones are left to the documentation."""

_REGISTRIES = {
    "environments": "gym_memory.games.base:ENVIRONMENTS",
    "memories": "gym_memory.memory.base:MEMORIES",
    "policies": "gym_memory.baselines.base:POLICIES",
    "protocols": "gym_memory.run.protocols:PROTOCOLS",
}
_MARKUP = re.compile(r":\w+:`~?(?:[\w.]+\.)?|``?")
"""Code and links of docstrings, which a terminal shows as plain text."""


def command(
    kind: Annotated[
        str,
        Argument(
            help="environments, memories, policies, presets, protocols, settings or wrappers."
        ),
    ] = "",
    name: Annotated[
        str,
        Argument(help="A name of this kind: print its parameters with type, default and meaning."),
    ] = "",
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """List environments with their levels, memories, policies, presets, protocols, wrappers.

    Without a kind it prints names alone; a kind adds levels and parameters, and a name explains
    each parameter. `gym-memory list settings` has those of `gym-memory train --set`.
    Parameters follow a question mark: `"Cooking?level=hard&split=test"`.

    Example: `gym-memory list environments`
    """
    options.load_plugins(plugins)
    if kind:
        check_name("kind of name", kind, _KINDS)
    if name:
        _show(kind, _details(kind, name), json_lines, of=name)
        return
    if not kind and not json_lines:
        _overview()
        return
    for each in [kind] if kind else list(_KINDS):
        _show(each, _KINDS[each](), json_lines)


def _overview() -> None:
    """Print names with one line each; imports neither games nor networks."""
    about = {
        kind: {name: _registry(kind).about(name) for name in _names(_registry(kind))}
        for kind in _REGISTRIES
    }
    for kind in ("presets", "wrappers"):
        about[kind] = {entry["name"]: entry["about"] for entry in _KINDS[kind]()}
    for kind, names in about.items():
        lines = [(name, _plain(text)) for name, text in names.items()]
        print_table(("name", "about"), lines, whole=("name",), title=kind)
    output().print(
        "Levels, parameters and settings: gym-memory list KIND, gym-memory list KIND NAME."
    )


def _show(kind: str, entries: list[dict[str, Any]], json_lines: bool, of: str = "") -> None:
    """Print records of one kind, or the parameters of one name of that kind."""
    if json_lines:
        head = {"kind": kind, **({"of": of} if of else {})}
        print_json([{**head, **entry} for entry in entries])
        return
    columns = list(entries[0]) if entries else ["name"]
    lines = [[_text(value) for value in entry.values()] for entry in entries]
    print_table(columns, lines, whole=("name",), title=f"{kind}: {of}" if of else kind)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        shown = {key: "" if item is None else str(item) for key, item in value.items()}
        return " ".join(
            f"{key}={item}" if 0 < len(item) <= _MAX_DEFAULT_CHARS else key
            for key, item in shown.items()
        )
    return " ".join(value) if isinstance(value, list) else str(value)


def _registered(kind: str) -> list[dict[str, Any]]:
    """Return a record per name; one that cannot be imported names the missing package."""
    registry, entries = _registry(kind), []
    for name in _names(registry):
        try:
            target = registry.get(name)
            about = _plain(first_sentence(target))
        except ImportError as error:
            target, about = None, f"not available: {error}"
        more: dict[str, Any] = {}
        if kind == "environments":
            more = {"levels": list(getattr(target, "levels", ()))}
        elif kind == "memories":
            more = {"layers": _layers(target)}
        entries.append({"name": name, **more, "parameters": _parameters(target), "about": about})
    return entries


def _names(registry: Registry) -> list[str]:
    return [*registry.names(), *registry.needing()]


def _layers(target: Any) -> dict[str, str]:
    layers = getattr(target, "lifetimes", None)
    try:
        return dict(layers or target().lifetimes)  # the parameters may decide
    except (AttributeError, TypeError):  # it is no memory, or has no defaults for all of them
        return {}


def _plain(text: str) -> str:
    return _MARKUP.sub("", text)


def _parameters(target: Any) -> dict[str, Any]:
    if target is None:
        return {}
    found = {
        p.name: None if p.default is p.empty else p.default
        for p in inspect.signature(target).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "render_mode"
    }
    return {k: v for k, v in found.items() if isinstance(v, str | int | float | None)}


def _details(kind: str, name: str) -> list[dict[str, Any]]:
    """Describe each parameter of a name: its settings, else its arguments."""
    levels: tuple[str, ...] = ()
    if kind == "settings":
        learners = learner_classes()
        parameters = list_settings(learners[check_name("baseline to train", name, learners)])
    elif kind in _REGISTRIES:
        target = _registry(kind).get(name)
        parameters, levels = list_settings(target), tuple(getattr(target, "levels", ()))
        if kind == "memories":
            from gym_memory.memory.base import SharedSettings

            parameters += list_settings(SharedSettings)
    else:
        raise UnknownNameError("kind with parameters", kind, [*_REGISTRIES, "settings"])
    details = []
    for s in parameters:
        plain = isinstance(s.default, str | int | float | None)
        default = "" if s.required else s.default if plain else repr(s.default)
        choices = levels if s.name == "level" else s.choices
        details.append(
            {
                "name": s.name,
                "type": s.kind,
                "default": default,
                "values": " ".join(map(str, choices)) or s.bounds,
                "about": _plain(s.help.text),
            }
        )
    return details


def _registry(kind: str) -> Registry:
    module, _, attribute = _REGISTRIES[kind].partition(":")
    registry: Registry = getattr(importlib.import_module(module), attribute)
    return registry


def _settings() -> list[dict[str, Any]]:
    learners = learner_classes()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for baseline, learner in learners.items():
        for setting in list_settings(learner):
            of_name = found.setdefault((setting.name, setting.help.text), {})
            of_name[baseline] = setting.default
    return [
        {"name": name, "default": _defaults(by_baseline, len(learners)), "about": meaning}
        for (name, meaning), by_baseline in found.items()
    ]


def _defaults(by_baseline: dict[str, Any], learners: int) -> Any:
    """Return the value that all learners share, else the values by baseline."""
    values = list(by_baseline.values())
    return values[0] if len(values) == learners and len(set(values)) == 1 else by_baseline


def _wrappers() -> list[dict[str, Any]]:
    from gym_memory import wrappers

    found = []
    for name in wrappers.__all__:
        target = getattr(wrappers, name)
        if isinstance(target, type) and issubclass(target, gym.Wrapper):
            parameters = {k: v for k, v in _parameters(target).items() if k != "env"}
            about = _plain(first_sentence(target))
            found.append({"name": name, "parameters": parameters, "about": about})
    return found


def _presets() -> list[dict[str, Any]]:
    from gym_memory.papers.presets import PRESETS

    return [{"name": name, **preset._asdict()} for name, preset in PRESETS.items()]


_KINDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    **{kind: partial(_registered, kind) for kind in _REGISTRIES},
    "presets": _presets,
    "settings": _settings,
    "wrappers": _wrappers,
}
