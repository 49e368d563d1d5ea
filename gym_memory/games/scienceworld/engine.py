"""Run the ScienceWorld engine in a Java process, through ``java/FastServer.java``.

World, parser, score and valid actions are the engine's. Two changes make episodes repeatable:
``-XX:hashCode=2`` replaces random hash codes, so hash sets have a fixed order, and the list of
valid actions uses its own seeded generator, so it no longer changes how animals move.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import shutil
import subprocess
import threading
import time
import weakref
import zlib
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import BackendError, MissingDependencyError
from gym_memory.core.files import cache_dir
from gym_memory.core.optional import check_installed as check_package
from gym_memory.core.optional import require

__all__ = ["EngineAnswer", "ScienceWorldEngine", "acquire", "check_installed", "release"]

_JAVA_OPTIONS = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "-XX:-UsePerfData",
    "-XX:Tier4InvocationThreshold=80000",
    "-XX:Tier4MinInvocationThreshold=12000",
    "-XX:Tier4CompileThreshold=200000",
    "-XX:Tier4BackEdgeThreshold=600000",
)
"""Options for a bounded heap (else it grows to 1.8 GB), no collector threads, repeatable hash
codes, no counter files (a killed process leaves them behind), and a threshold of optimizing
compilation some sixteen times as high as usual: over 80 episodes, compiling then takes 5 CPU-s
(10 at four times)."""
_ANSWER_SECONDS = 120.0
"""Time limit of a call; a step takes milliseconds, a new world seconds on a busy machine."""
_MAX_IDLE = 2
"""Most idle processes to keep for the next environment."""
_PURPOSE = "ScienceWorld"
_FAST_JAR = Path(__file__).parent / "java" / "fast.jar"
_SEPARATOR = "\x1f"


class EngineAnswer(NamedTuple):
    """An answer of the engine.

    Attributes:
        score: In [-100, 100].
        completed: Whether the task ended, won or lost.
        inventory: Inventory text; empty if not requested.
    """

    text: str
    score: int = 0
    completed: bool = False
    inventory: str = ""


def check_installed() -> str:
    """Return the version of the ScienceWorld package.

    Raises:
        MissingDependencyError: The package or Java is missing.
    """
    check_package("scienceworld", "scienceworld", "ScienceWorld's tasks")
    if shutil.which("java") is None:
        raise MissingDependencyError(
            "java", "apt-get install default-jre-headless (any Java from 8 on will do)", _PURPOSE
        )
    return version("scienceworld")


def _engine_jar() -> Path:
    """Return the path of the package's jar; importing it would configure the root logger."""
    found = find_spec("scienceworld")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "scienceworld.jar"


class ScienceWorldEngine:
    """An engine in a Java process of its own, since it has global state.

    Args:
        answer_seconds: Time limit of a call, in seconds, before the process is killed.
    """

    def __init__(self, answer_seconds: float = _ANSWER_SECONDS) -> None:
        self.answer_seconds = answer_seconds
        """Time limit of a call, in seconds; may be changed between calls."""
        check_installed()
        self._py4j = require("py4j.java_gateway", "scienceworld", _PURPOSE)
        self._errors = (require("py4j.protocol", "scienceworld", _PURPOSE).Py4JError, OSError)
        self._owner = os.getpid()
        litter = cache_dir() / "scienceworld"  # the engine writes a file into its working folder
        try:
            litter.mkdir(parents=True, exist_ok=True)
            port, token, self._process = self._py4j.launch_gateway(
                classpath=os.pathsep.join([str(_engine_jar()), str(_FAST_JAR)]),
                javaopts=list(_JAVA_OPTIONS),
                cwd=str(litter),
                die_on_exit=True,
                return_proc=True,
                enable_auth=True,  # without a token, any local user could run code in the process
            )
            # Do not notify Java when Python frees an object: the message might come from a forked
            # process, or reach another engine on the port of one that died.
            self.gateway = self._py4j.JavaGateway(
                gateway_parameters=self._py4j.GatewayParameters(
                    port=port, auth_token=token, auto_field=True, enable_memory_management=False
                ),
                java_process=self._process,
            )
            """Gateway of py4j to the Java process."""
            self._watch = _Watchdog(self._process, self.answer_seconds)
            self._fast = self.gateway.jvm.gymmemory.FastServer()
            self._server = self._fast.server()
            self._watch.due = math.inf
        except (*self._errors, ValueError) as error:
            raise BackendError(f"Java does not start the ScienceWorld engine: {error}") from error
        _engines.add(self)
        _silence_py4j()

    @property
    def port(self) -> int:
        """Return the port on which the process listens, protected by a random token."""
        return int(self.gateway.gateway_parameters.port)

    @property
    def process_id(self) -> int:
        """Return the id of the Java process."""
        return int(self._process.pid)

    @property
    def usable(self) -> bool:
        """True if the process is alive and not inherited by a fork."""
        return self._owner == os.getpid() and self._process.poll() is None

    def _ask(self, call: Callable[[], Any]) -> Any:
        """Make a call within its time limit; in py4j, looking up a method is a call, too."""
        self._watch.due = time.monotonic() + self.answer_seconds
        try:
            return call()
        except self._errors as error:
            if time.monotonic() >= self._watch.due:  # py4j hides the cause
                reason = f"no answer within {self.answer_seconds:g} s"
            else:
                reason = _reason(error)
            self.kill()
            raise BackendError(f"the ScienceWorld engine (Java) broke off: {reason}") from None
        finally:
            self._watch.due = math.inf

    def load(self, task: str, variation: int, simplification: str) -> str:
        """Load a task and return the description of its first room.

        Raises:
            BackendError: The engine died or does not know the task.
        """
        error = self._ask(lambda: self._fast.load(task, variation, simplification, False))
        if error:
            raise BackendError(f"ScienceWorld cannot load {task} {variation}: {error}")
        return str(self._ask(lambda: self._server.freeActionLook()))

    def gold_path(self, task: str, variation: int, simplification: str) -> tuple[str, ...]:
        """Load a task and return the engine's solution."""
        self._ask(lambda: self._fast.load(task, variation, simplification, True))
        found = self._ask(lambda: self._server.getGoldActionSequence())
        path = tuple(self._ask(lambda: list(found)))
        self._ask(lambda: self.gateway.detach(found))
        return path

    def goal(self) -> str:
        """Return the task description."""
        return str(self._ask(lambda: self._server.getTaskDescription())).strip()

    def send(self, command: str, *, inventory: bool) -> EngineAnswer:
        """Play a command; the answer includes the inventory if requested."""
        answer: str = self._ask(lambda: self._fast.step(command, inventory))
        score, completed, text, carried = answer.split(_SEPARATOR)
        return EngineAnswer(text, round(100 * float(score)), completed == "true", carried.strip())

    def inventory(self) -> str:
        """Return the inventory text; takes no time in the world."""
        return str(self._ask(lambda: self._server.freeActionInventory())).strip()

    def moves(self) -> int:
        """Return the ticks of the world's clock so far; looking around takes no tick."""
        return int(self._ask(lambda: self._server.getNumMoves()))

    def valid_actions(self) -> tuple[str, ...]:
        """Return the engine's list of valid actions, in its order."""
        text = zlib.decompress(self._ask(lambda: self._fast.validActions())).decode()
        return tuple(text.split("\n")) if text else ()

    def objects(self) -> str:
        """Return all objects of the world, one per line, see ``FastServer.objects``."""
        return str(self._ask(lambda: self._fast.objects()))

    def kill(self) -> None:
        """Kill the process, and thus any call in progress."""
        if self._owner != os.getpid():
            return
        with contextlib.suppress(*self._errors):
            self.gateway.close()
        with contextlib.suppress(OSError), self._process:  # which closes the pipes and waits
            self._process.kill()


class _Watchdog:
    """A watchdog that kills a process which exceeds its time limit.

    A timeout of the socket would apply twice, since py4j asks a stopped process again.
    """

    def __init__(self, process: subprocess.Popen[Any], seconds: float):
        self.due = time.monotonic() + seconds
        self._process = process
        threading.Thread(target=self._run, args=(min(seconds / 4, 1.0),), daemon=True).start()

    def _run(self, between: float) -> None:
        while self._process.poll() is None:
            if time.monotonic() > self.due:
                self._process.kill()
            time.sleep(between)


def _silence_py4j() -> None:
    """Keep py4j from logging a traceback for each error that is raised anyway."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    if _is_from_others not in root.filters:
        root.addFilter(_is_from_others)


def _is_from_others(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def _reason(error: Exception) -> str:
    """Return the error on one line; the text of a Java exception needs a live process."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # py4j asks the dead process
        lines = []
    return " ".join(line.strip() for line in lines[:3])[:500] or type(error).__name__


_engines: weakref.WeakSet[ScienceWorldEngine] = weakref.WeakSet()
_idle: list[ScienceWorldEngine] = []
_inherited: list[ScienceWorldEngine] = []
"""Engines inherited by a fork, kept because freeing one closes its parent's connection."""


def acquire() -> ScienceWorldEngine:
    """Return an idle engine or start a new one."""
    while _idle:
        engine = _idle.pop()
        if engine.usable:
            return engine
    return ScienceWorldEngine()


def release(engine: ScienceWorldEngine) -> None:
    """Return an engine to the pool; its loaded world is not reused."""
    if not engine.usable:
        return
    if len(_idle) < _MAX_IDLE:
        _idle.append(engine)
    else:
        engine.kill()


def _disown_engines() -> None:
    _inherited.extend(_engines)
    _engines.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_disown_engines)
