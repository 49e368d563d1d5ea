"""``gym-memory doctor``: what is installed, what is missing, how to get it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.text import Text

from gym_memory.cli import options
from gym_memory.cli.show import output, print_json, print_table
from gym_memory.core.files import cache_dir
from gym_memory.core.optional import Package, packages, plugins
from gym_memory.core.version import __version__

__all__ = ["Finding", "command", "examine", "print_findings"]

State = Literal["ok", "missing", "broken"]

PURPOSES = {
    "textworld": "Cooking, TreasureHunt, Errands, Cleaning, TextWorld (needs a C compiler, make)",
    "scienceworld": "ScienceWorld (also needs Java)",
    "nethack": "NetHack",
    "alfworld": "ALFWorld (needs a C compiler, make)",
    "webshop": "WebShop",
    "qa": "MultiHopQA",
    "rl": "training DRRN, GATA, actor-critic, SB3",
    "llm": "language-model policies and memory roles",
    "semantic": "recall by meaning, any sentence-transformers model",
    "offline": "recall by meaning with a packaged encoder",
    "smollm": "a small language model in a package, and a llama.cpp server of it",
    "onnx": "faster encoders",
    "faiss": "faster recall by meaning beyond 32,768 facts",
    "viewer": "pages to browse, compare and play; a replay as one file needs no extra",
    "wandb": "runs logged to Weights & Biases",
    "mlflow": "runs logged to MLflow; in a venv of its own",
    "export": "recorded steps as Parquet",
    "minari": "recorded steps as a Minari dataset",
    "openenv": "an OpenEnv server; in a venv of its own",
    "mcp": "an MCP server; in a venv of its own",
    "inspect": "tasks for Inspect; in a venv of its own",
    "verifiers": "a taskset for verifiers; in a venv of its own",
    "trl": "GRPO with TRL",
    "lora": "LoRA adapters of local language models",
    "postgres": "memories kept on a PostgreSQL server",
    "ray": "runs on a Ray cluster",
}
"""Purpose of each extra that doctor shows; extras for developers are left out."""


class Finding(NamedTuple):
    """A finding about a part: ``core``, an extra or ``plugins``.

    ``missing`` is an option that is not there, ``broken`` a fault; ``remedy`` says what to do.
    """

    part: str
    name: str
    state: State
    found: str
    remedy: str = ""
    purpose: str = ""


def examine() -> list[Finding]:
    """Return all findings, without changing anything or importing heavy packages."""
    found = [*_core(), *_extras(), _java(), _alfworld_data(), *_plugins()]
    parts = list(dict.fromkeys(finding.part for finding in found))
    return sorted(found, key=lambda finding: parts.index(finding.part))


def _core() -> Iterator[Finding]:
    current = platform.python_version()
    fits = sys.version_info >= (3, 11)
    remedy = "" if fits else "install Python 3.11 or newer"
    yield Finding("core", "Python", "ok" if fits else "broken", current, remedy)
    yield Finding("core", "gym-memory", "ok", __version__)
    for package in packages():
        if not package.extra:
            yield Finding(
                "core",
                package.name,
                "ok" if package.fits else "broken",
                package.version or "absent",
                "" if package.fits else f"pip install '{package.name}{package.wanted}'",
            )
    yield _cache()


def _cache() -> Finding:
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
        games, size = _contents(folder)
    except OSError:
        writable, games, size = False, 0, 0
    remedy = "" if writable else "set GYM_MEMORY_CACHE to a folder that can be written"
    found = f"{folder} ({games} files, {size / 1e6:.1f} MB)"
    return Finding("core", "cache folder", "ok" if writable else "broken", found, remedy)


def _contents(folder: Path) -> tuple[int, int]:
    files = size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(parent) / name).stat().st_size
                files += 1
            except OSError:  # removed by another process meanwhile
                continue
    return files, size


def _extras() -> Iterator[Finding]:
    """Return one finding per extra: its packages, or those that are missing or do not fit."""
    extras: dict[str, list[Package]] = {}
    for package in packages():
        if package.extra in PURPOSES:
            extras.setdefault(package.extra, []).append(package)
    for extra, wanted in extras.items():
        bad = [package for package in wanted if not package.fits]
        found = [f"{p.name} {p.version or 'absent'}" for p in bad or wanted]
        state: State = "broken" if any(p.version for p in bad) else "missing" if bad else "ok"
        if state == "broken":
            found = [f"{line}, expected {p.wanted}" for line, p in zip(found, bad, strict=True)]
        remedy = f"pip install 'gym-memory[{extra}]'" if bad else ""
        yield Finding(extra, extra, state, "; ".join(found), remedy, PURPOSES[extra])


def _plugins() -> Iterator[Finding]:
    """Return other packages that add names, such as your own game."""
    for plugin in plugins():
        state: State = "broken" if plugin.lacking else "ok"
        remedy = f"reinstall {plugin.name}" if plugin.lacking else ""
        found = f"{plugin.version}: {', '.join(plugin.names)}"
        if plugin.lacking:
            found += f"; no module {', '.join(plugin.lacking)}"
        yield Finding("plugins", plugin.name, state, found, remedy, "names from other packages")


def _java() -> Finding:
    """Run Java, since on some systems ``java`` only prints how to install it."""
    part, remedy = "scienceworld", "install a Java runtime, e.g. apt install default-jre-headless"
    purpose, program = PURPOSES[part], shutil.which("java")
    if program is None:
        return Finding(part, "Java", "missing", "no java on PATH", remedy, purpose)
    try:
        shown = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(part, "Java", "broken", f"{program}: {error}", remedy, purpose)
    version = re.search(r'version "([^"]+)"', shown.stderr + shown.stdout)
    if shown.returncode or version is None:
        return Finding(part, "Java", "broken", f"{program} does not run", remedy, purpose)
    return Finding(part, "Java", "ok", f"{version[1]} ({program})", "", purpose)


def _alfworld_data() -> Finding:
    """Look for the official games; ALFWorld also runs on generated ones without them."""
    part, folder = "alfworld", os.environ.get("ALFWORLD_DATA", "")
    purpose = "official ALFWorld games"
    if folder and Path(folder).is_dir():
        return Finding(part, "ALFWORLD_DATA", "ok", folder, "", purpose)
    found = f"{folder} is no folder" if folder else "not set"
    remedy = "run alfworld-download and set ALFWORLD_DATA to its folder"
    return Finding(part, "ALFWORLD_DATA", "broken" if folder else "missing", found, remedy, purpose)


_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


def command(
    model: Annotated[
        str, typer.Option(help="Call this language model, and show how it answers.")
    ] = "",
    base_url: options.BaseUrl = "",
    json_lines: options.Json = False,
) -> None:
    """Show what is installed, what is missing, and the command that installs it.

    Exit status 1 when something that gym-memory itself needs is broken; missing extras are
    no fault. With `--model` it calls the endpoint as agents do, and exits with status 2 when
    it cannot be used.

    Example: `gym-memory doctor`

    An endpoint: `gym-memory doctor --model qwen3 --base-url http://localhost:8000/v1`
    """
    if model or base_url:
        from gym_memory.cli.endpoint import examine_model

        rows: list[Any] = examine_model(model, base_url)
        findings, verdict = [Finding("model", *row) for row in rows], ""
    else:
        findings = examine()
        verdict = _verdict(findings)
    if json_lines:
        print_json([finding._asdict() for finding in findings])
    else:
        print_findings(findings)
        if verdict:
            output().print(verdict)
    raise typer.Exit(int(any(_is_fault(finding) for finding in findings)))


def print_findings(findings: list[Finding]) -> None:
    """Print findings as a table."""
    purposes: dict[str, str] = {}
    for finding in findings:
        purposes.setdefault(finding.part, finding.purpose)
    lines = [
        (
            ": ".join(filter(None, (f.part, purposes[f.part]))),
            f.name, Text(f.state, _COLOURS[f.state]), f.found, f.remedy,
        )
        for f in findings
    ]  # fmt: skip
    header = ("part", "what", "state", "found", "to do")
    print_table(header, lines, whole=("to do",), parted=True)


def _is_fault(finding: Finding) -> bool:
    return finding.part in ("core", "model") and finding.state == "broken"


def _verdict(findings: list[Finding]) -> str:
    faults = [f"{f.name}: {f.remedy or f.found}" for f in findings if _is_fault(f)]
    if faults:
        return f"gym-memory does not work here: {'; '.join(faults)}."
    parts = dict.fromkeys(f.part for f in findings if f.state != "ok")
    missing = f" Missing or broken in part: {', '.join(parts)}." if parts else ""
    return f"gym-memory works here.{missing}"
