"""A signal ends the command line with status 130 from the first instruction of the package on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc"),
]


def catches(pid: int, kind: int) -> bool:
    """True if a process has a handler of its own for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (kind - 1) & 1)


@pytest.mark.parametrize("later", [0.0, 0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_status_130_while_packages_are_imported(kind: signal.Signals, later: float) -> None:
    words = [sys.executable, "-m", "gym_memory", "list"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not catches(process.pid, signal.SIGTERM):  # Python itself catches SIGINT
            assert process.poll() is None
        time.sleep(later)
        process.send_signal(kind)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"Traceback" not in said


def test_a_program_that_imports_the_package_keeps_its_handlers() -> None:
    code = "import signal; before = signal.getsignal(15); import gym_memory; "
    code += (
        "print(signal.getsignal(15) is before, signal.getsignal(2) is signal.default_int_handler)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True True\n"


INTERRUPTED = {
    "an import whose class hides it": """
import os, signal

class Named:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)

class Owner:
    named = Named()

def play():
    import time
    time.sleep(60)
""",
    "a generator that ends": """
import os, signal, time

def lines():
    try:
        yield
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)

def play():
    next(lines())
    time.sleep(60)
""",
}


@pytest.mark.parametrize("code", INTERRUPTED.values(), ids=INTERRUPTED)
def test_no_interrupt_is_lost_or_disguised(tmp_path: Path, code: str) -> None:
    (tmp_path / "interrupted.py").write_text(code)
    start = "from gym_memory import cli\n"
    start += "def app(words, **named):\n    import interrupted\n    interrupted.play()\n"
    start += "cli.app = app\ncli.main()\n"
    done = subprocess.run([sys.executable, "-c", start], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (130, b"")


def test_status_130_when_an_exec_is_interrupted(tmp_path: Path) -> None:
    code = "from gym_memory import cli\n"
    code += "cli.app = lambda *words, **named: exec('raise KeyboardInterrupt')\ncli.main()\n"
    (tmp_path / "interrupted.py").write_text(code)
    done = subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path)
    assert done.returncode == 130
