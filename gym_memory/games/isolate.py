"""Run a raw environment in a process of its own, with limits, for untrusted stories or engines.

The process has a folder of its own and no keys or passwords in its environment variables. Both
sides exchange JSON lines, so a compromised engine cannot create objects in this process. A crash, a
hang or too much memory raises a BackendError, which costs one episode; the next reset starts a new
process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import gymnasium as gym

from gym_memory.core import errors
from gym_memory.core.errors import BackendError, GymMemoryError, InvalidArgumentError
from gym_memory.core.files import parse_json
from gym_memory.core.names import PLUGINS, import_plugin
from gym_memory.core.process import python_command, without_secrets
from gym_memory.core.records import Oracle, Triple
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.spaces import FreeText, raw_observation_space

__all__ = ["HostProcess", "IsolatedEnv", "cause_of_end", "limit_memory"]

MEMORY = 4 << 30
"""Default limit on the data, in bytes, of the process and of each of its children."""
CPU_SECONDS = 3600
RESET_SECONDS, STEP_SECONDS = 300.0, 60.0
"""Default time limits in wall seconds; a reset may compile a game."""
_MAX_ANSWER_BYTES = 64 << 20
_MAX_FILE_BYTES = 1 << 30
_MAX_SNAPSHOTS = 10_000
_COPIED_ATTRIBUTES = ("dialect", "split", "splits", "max_action_chars", "worker_gib")


class HostProcess:
    """A Python process that builds an object and serves calls of its methods.

    Args:
        factory: Class that the process imports.
        arguments: Its arguments, JSON values.
        memory: Bytes of data that the process may hold.
        cpu_s: CPU seconds that the process may use in all.
        start_s: Wall seconds that building the object may take, > 0.
        keep_folder: Whether the process may read files in the present working folder; else it works
            in a temporary folder.
    """

    def __init__(
        self,
        factory: type,
        *arguments: Any,
        memory: int = MEMORY,
        cpu_s: int = CPU_SECONDS,
        start_s: float = RESET_SECONDS,
        keep_folder: bool = False,
    ):
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.mkdtemp(prefix="gym-memory-")
        words = [str(memory), str(cpu_s), self._folder, "" if keep_folder else self._folder]
        try:
            self._process = subprocess.Popen(
                python_command(f"{__name__}:_host", *words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**without_secrets(), "TMPDIR": self._folder},
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
            self.call(f"{factory.__module__}:{factory.__qualname__}", start_s, *arguments)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        """Return the process id; None if it has ended, or in a fork of its parent."""
        mine = self._process is not None and self._owner == os.getpid()
        return self._process.pid if self._process is not None and mine else None

    def call(self, name: str, seconds: float, *args: Any) -> Any:
        """Call a method and return its answer, with lists as tuples.

        Args:
            name: Name of the method.
            seconds: Time limit in wall seconds, > 0.
            *args: Its arguments, JSON values.

        Raises:
            BackendError: The process ended, took too long, or raised an error of another package.
        """
        if self.pid is None:
            raise BackendError("the game's process has ended: call reset() for a new one")
        try:
            line = json.dumps([name, args]).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"expected plain values for an isolated game: {error}"
            ) from None
        try:
            kind, value = parse_json(self._answer(line, seconds))
            value = _as_tuples(value)
        except (OSError, TypeError, ValueError) as error:
            ended = self._process
            assert ended is not None
            self.close()
            why = str(error) or cause_of_end(ended.returncode)
            name = name.rpartition(":")[2]
            raise BackendError(f"the game's process was ended in {name}: {why}") from None
        if kind == "error":
            raise _error(*value)
        return value

    def close(self) -> None:
        """End the process and its children."""
        process, self._process = self._process, None
        if self._owner != os.getpid():
            return
        if process is not None:
            with contextlib.suppress(OSError), process:  # closes the pipes and waits
                process.kill()
                os.killpg(process.pid, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __del__(self) -> None:
        if "_folder" in vars(self):
            self.close()

    def _answer(self, line: bytes, seconds: float) -> bytes:
        """Send a line and return the answer line; raises OSError."""
        process, answer = self._process, bytearray()
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector, contextlib.suppress(BrokenPipeError):
            selector.register(process.stdin, selectors.EVENT_WRITE)
            selector.register(process.stdout, selectors.EVENT_READ)
            while ready := selector.select(max(deadline - time.monotonic(), 0)):
                if process.stdin in [key.fileobj for key, _ in ready]:
                    line = line[os.write(process.stdin.fileno(), line) :]
                    if not line:
                        selector.unregister(process.stdin)
                    continue
                piece = os.read(process.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                answer += piece
                if answer.endswith(b"\n"):
                    return bytes(answer)
                if len(answer) > _MAX_ANSWER_BYTES:
                    raise OSError(f"its answer is longer than {_MAX_ANSWER_BYTES} bytes")
            else:
                raise OSError(f"timeout: no answer within {seconds:g} s")
        process.wait()
        raise OSError(cause_of_end(process.returncode))


class IsolatedEnv(gym.Env[dict[str, Any], str]):
    """A raw environment in a process of its own.

    Args:
        name: A name of :data:`gym_memory.games.base.ENVIRONMENTS`.
        kwargs: Arguments of the environment, JSON values.
        memory: Bytes of data that the process may hold.
        reset_s: Wall seconds that a start or a reset may take, > 0.
        step_s: Wall seconds that any other call may take, > 0.
    """

    def __init__(
        self,
        name: str,
        kwargs: Mapping[str, Any],
        *,
        memory: int = MEMORY,
        reset_s: float = RESET_SECONDS,
        step_s: float = STEP_SECONDS,
    ):
        factory = ENVIRONMENTS.get(name)
        if "<locals>" in factory.__qualname__:
            raise InvalidArgumentError(f"expected {name} in a module: a new process imports it")
        plugins = {  # absolute paths, since the working folder may have changed
            place: str(module.__file__) if place.endswith(".py") else place
            for place, module in PLUGINS.items()
        }
        self._start = [plugins, factory.__module__, factory.__qualname__, dict(kwargs)]
        self._own = not factory.__module__.startswith("gym_memory.games.") or name == "Foreign"
        self._memory, self._reset_s, self._step_s = memory, reset_s, step_s
        self._process: HostProcess | None = None
        self._state: dict[str, Any] = {}
        self.observation_space = raw_observation_space()
        self.action_space = FreeText(max_length=100_000)
        self._open()

    def __getattr__(self, name: str) -> Any:
        if name in _COPIED_ATTRIBUTES:
            return self._state[name]
        raise AttributeError(name)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode, in a new process if the last one ended."""
        if self._process is None or self._process.pid is None:
            self._open()
        return self._call("reset", self._reset_s, seed=seed, options=options)

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play one command; raises BackendError if the process ends or takes too long."""
        return self._call("step", self._step_s, action)

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Return the ids that ``options={"task_id": ...}`` takes."""
        return self._call("task_ids", self._reset_s)

    def valid_actions(self) -> tuple[str, ...]:
        """Return the valid actions of the present state."""
        return self._call("valid_actions", self._step_s)

    def versions(self) -> dict[str, str]:
        """Return the versions of the backend's packages."""
        return self._call("versions", self._reset_s)

    def oracle(self) -> Oracle:
        """Return the engine's facts, with only the plain values of ``objects``."""
        facts, walkthrough, objects = self._call("oracle", self._step_s)
        return Oracle(frozenset(Triple(*fact) for fact in facts), walkthrough, objects)

    def snapshot(self) -> int:
        """Keep the present state in the process and return its number."""
        return self._call("snapshot", self._step_s)

    def restore(self, snapshot: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Restore a snapshot of this process and return its observation and info."""
        return self._call("restore", self._reset_s, snapshot)

    def close(self) -> None:
        """End the process and its children."""
        if self._process is not None:
            self._process.close()

    def _open(self) -> None:
        self._process = HostProcess(
            _EnvHost, *self._start,
            memory=self._memory,
            start_s=self._reset_s,
            keep_folder=self._own,
        )  # fmt: skip
        self._call("describe", self._reset_s)

    def _call(self, name: str, seconds: float, *args: Any, **kwargs: Any) -> Any:
        assert self._process is not None
        value, self._state = self._process.call(name, seconds, args, kwargs)
        return value


def cause_of_end(exitcode: int | None, who: str = "it") -> str:
    """Describe how a process ended."""
    if exitcode in (-signal.SIGPROF, -signal.SIGXCPU):
        return f"{who} used up its CPU time"
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"{who} died of {signal.Signals(-exitcode).name}"
    return f"{who} died with exit status {exitcode}"


def limit_memory(most: int) -> None:
    """Limit the data, in bytes, of this process and of each child process.

    The limit is not on address space, of which a JVM reserves far more than it uses.
    """
    _limit("RLIMIT_DATA", most)


def _limit(name: str, most: int) -> None:
    try:
        import resource
    except ImportError:  # this platform has no such limits
        return
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_as_tuples, value))
    return {k: _as_tuples(v) for k, v in value.items()} if isinstance(value, dict) else value


def _error(name: str, text: str) -> Exception:
    """Rebuild an error of this package from its name and text; others become a BackendError."""
    if name == "ResetNeeded":
        return gym.error.ResetNeeded(text)
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, GymMemoryError)):
        return BackendError(f"{name}: {text}".removesuffix(": "))
    return kind.__new__(kind, text)


class _EnvHost:
    """A host of a raw environment that converts between objects and plain values."""

    def __init__(
        self, plugins: dict[str, str], module: str, name: str, kwargs: dict[str, Any]
    ) -> None:
        for place, plugin in plugins.items():
            import_plugin(plugin)
            PLUGINS[place] = PLUGINS[plugin]  # by the name in an entry
        self._env: Any = _imported(module, name)(**kwargs)
        self._snapshots: dict[int, Any] = {}
        self._numbers = 0

    def __getattr__(self, name: str) -> Any:
        return partial(self._call, name)

    def _call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        value = self._value(name, args, kwargs)
        return value, {name: getattr(self._env, name, "") for name in _COPIED_ATTRIBUTES}

    def _value(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        env = self._env
        if name == "describe":
            return None
        if name == "task_ids":
            return list(env.task_ids)
        if name == "snapshot":
            self._numbers += 1
            self._snapshots[self._numbers] = env.snapshot()
            self._snapshots.pop(self._numbers - _MAX_SNAPSHOTS, None)
            return self._numbers
        if name == "restore":
            if args[0] not in self._snapshots:
                raise InvalidArgumentError(f"expected one of the last {_MAX_SNAPSHOTS} snapshots")
            return env.restore(self._snapshots[args[0]])
        if name == "oracle":
            oracle = env.oracle()
            return sorted(oracle.facts), oracle.walkthrough, {**oracle.objects}
        return getattr(env, name)(*args, **kwargs)


def _imported(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _host(memory: str, cpu_s: str, folder: str, workplace: str) -> None:
    """Serve calls from stdin on the original stdout, with prints redirected to stderr.

    The first call builds the object; later ones call its methods.
    """
    limit_memory(int(memory))
    for name, most in (("CPU", int(cpu_s)), ("FSIZE", _MAX_FILE_BYTES), ("CORE", 0)):
        _limit(f"RLIMIT_{name}", most)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    parent = os.getppid()

    def leave() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def leave_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        leave()

    threading.Thread(target=leave_with_parent, daemon=True).start()
    host: Any = None
    for line in sys.stdin.buffer:
        name, args = json.loads(line)
        try:
            if host is None:
                host, value = _imported(*name.split(":"))(*args), None
                os.chdir(workplace or ".")
            else:
                value = getattr(host, name)(*args)
            answer: Any = ["ok", value]
        except Exception as error:
            answer = ["error", [type(error).__name__, str(error)]]
        try:
            out.write(json.dumps(answer, default=repr, skipkeys=True).encode() + b"\n")
            out.flush()
        except BrokenPipeError:  # the parent ended before the answer
            leave()
