"""Give commands folders, a client replies, and servers messages from a stranger.

    python benchmarks/fuzz/strangers.py            # 2,000 of each kind; writes strangers.json
    python benchmarks/fuzz/strangers.py --only folders --count 100 --seed 7
    python benchmarks/fuzz/strangers.py --only openenv     # in a venv with that extra; or mcp

Real ones are changed as in fuzz.py. Files of a folder also become links, pipes or folders, or are
removed. A traceback, a status of 500, more than five CPU seconds, or a changed file outside of the
folder is a case. The same seed makes the same inputs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import doors
from doors import WAIT_SECONDS, Play, exchange, serving_thread
from fuzz import Hang, hang, invented
from targets import FOLDER, Target

from gym_memory.cli import main as command_line
from gym_memory.core import serving
from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.llm import Request, make_model
from gym_memory.run.config import RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.run.results.verify import write_manifest
from gym_memory.testing.fake_env import register_fake
from gym_memory.viewer.play import PlayDefaults
from gym_memory.viewer.server import Site, make_app

HERE = Path(__file__).parent
CPU_SECONDS = 5.0
COMMANDS = (("verify",), ("report",), ("view", "--html", "PAGE"), ("export", "--format", "card"))
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
BODY = json.dumps(
    {
        "choices": [{"message": {"content": "go east"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        "model": "m",
    }
)  # fmt: skip


def folders(seed: int) -> Iterator[Play]:
    """Yield commands that read a results folder."""
    register_fake()
    source, victim = FOLDER / "source", FOLDER / "victim"
    config = RunConfig(("FakeHouse?max_steps=4",), ("history", "arigraph"), ("random",), (0, 1))
    with ResultsFolder(source, config) as folder:
        folder.set_backends({config.envs[0]: "engine 1"})
        for job in folder.todo():
            folder.append(list(play_job(job, record=str(source / "steps" / job.steps_file))))
    write_report(source, [read_source(source)])
    write_manifest(source)
    victim.write_text("mine\n")
    names = [p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()]
    names = sorted({*names, "logs/worker-0.log"} - {".lock"})

    def play(chance: random.Random) -> str:
        place = FOLDER / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(source, place)
        for name in chance.sample(names, chance.choice((1, 1, 2, 3))):
            _spoil(place / name, victim, chance)
        wrong = []
        for words in ("verify",), chance.choice(COMMANDS):
            given = [str(FOLDER / "page.html") if word == "PAGE" else word for word in words]
            wrong.append(_command([given[0], str(place), *given[1:]]))
        if victim.read_text() != "mine\n":
            wrong.append("wrote outside of the folder")
            victim.write_text("mine\n")
        return "; ".join(filter(None, wrong))

    yield play


def _spoil(path: Path, victim: Path, chance: random.Random) -> None:
    data = path.read_bytes() if path.is_file() else b"{}"
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    match chance.randrange(12):
        case 0:
            path.symlink_to(victim)
        case 1:
            os.mkfifo(path)
        case 2:
            path.mkdir()
        case 3:
            return
        case _ if path.suffix in (".json", ".jsonl"):
            form: Any = "lines" if path.suffix == ".jsonl" else "json"
            text = invented(Target(print, form, [data.decode() or "{}"]), chance)
            path.write_bytes(text.encode("utf-8", "backslashreplace"))
        case _:
            path.write_bytes(invented(Target(print, "bytes", [data]), chance))


def _command(words: list[str]) -> str:
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            command_line(words)
    except SystemExit as end:
        if end.code not in (None, 0, 1, 2):
            return f"{words[0]}: status {end.code}"
    except Exception as error:
        return f"{words[0]}: {error!r:.200}"
    return f"{words[0]}: traceback" if "Traceback" in said.getvalue() else ""


def replies(seed: int) -> Iterator[Play]:
    """Yield a client of a server that answers every request with the same bytes."""
    listener = serving.listen("127.0.0.1", 0)
    answer = [b""]

    def run() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                client.settimeout(WAIT_SECONDS)
                client.recv(1 << 16)
                client.sendall(answer[0])

    threading.Thread(target=run, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    spec = Spec.of("openai", {"model": "m", "base_url": url, "retries": 0, "timeout": 5})
    request = Request(({"role": "user", "content": "act"},))

    def play(chance: random.Random) -> str:
        if chance.random() < 0.5:
            body = invented(Target(print, "json", [BODY]), chance).encode(errors="replace")
            answer[0] = REPLY % (len(body), body)
        else:
            whole = REPLY % (len(BODY), BODY.encode())
            answer[0] = invented(Target(print, "bytes", [whole]), chance)
        with contextlib.suppress(GymMemoryError):
            make_model(spec).complete(request)
        return ""

    yield play
    listener.close()


def messages(seed: int) -> Iterator[Play]:
    """Yield a target for a server that starts games: raw HTTP, and messages on a socket."""
    client = require("websockets.sync.client", "viewer", "pages")
    token = "token"
    play_here = PlayDefaults("Fetch", "none", 0, 100, "", FOLDER / "human")

    def make(port: int) -> Any:
        return make_app(Site((FOLDER,), play_here), "127.0.0.1", port, token)

    with serving_thread(make, "viewer") as port:
        yield _talk(client, port, token)


def _talk(client: Any, port: int, token: str) -> Play:
    host = f"127.0.0.1:{port}"
    get = f"GET /?token={token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    raw = [get, get.replace(b"/?", b"/episode/x/3?"), get.replace(b"/?", b"/replay?a=x&")]
    game = {"env": "Nothing", "memory": "none", "seed": 0, "budget": 100, "task_id": ""}
    said = [json.dumps({"start": game}), json.dumps({"say": "go east"})]

    def play(chance: random.Random) -> str:
        if chance.random() < 0.7:
            answer = exchange(port, invented(Target(print, "bytes", raw), chance))
            return "status 500" if b"HTTP/1.1 500" in answer else ""
        text = invented(Target(print, "json", said), chance)
        message = text if chance.random() < 0.8 else text.encode(errors="replace")
        address = f"ws://{host}/talk?token={token}"
        with client.connect(address, origin=f"http://{host}", proxy=None) as line:
            with contextlib.suppress(UnicodeEncodeError):
                line.send(message)
            line.close()
        return f"closed with {line.close_code}" if line.close_code == 1011 else ""

    return play


KINDS = {
    "folders": folders, "replies": replies, "messages": messages,
    "openenv": doors.openenv, "mcp": doors.mcp,
}  # fmt: skip


def main() -> None:
    """Play a number of inputs of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS)[:3])
    parser.add_argument("--out", type=Path, default=HERE / "strangers.json")
    given = parser.parse_args()
    signal.signal(signal.SIGVTALRM, hang)
    logging.getLogger("gym_memory").setLevel(logging.CRITICAL)
    record: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {}
    for kind in given.only:
        chance, cases = random.Random(f"{given.seed} {kind}"), []
        before, slowest = time.process_time(), 0.0
        with contextlib.contextmanager(KINDS[kind])(given.seed) as play:
            for number in range(given.count):
                begun = time.process_time()
                signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
                try:
                    wrong = play(chance)
                except (Exception, Hang) as error:
                    wrong = f"{error!r:.200}"
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                slowest = max(slowest, time.process_time() - begun)
                if wrong:
                    cases.append(f"{number}: {wrong}")
        spent = time.process_time() - before
        record[kind] = {
            "inputs": given.count, "seed": given.seed, "cpu_s": round(spent, 1),
            "slowest_cpu_s": round(slowest, 2), "cases": cases[:20],
        }  # fmt: skip
        print(kind, record[kind], flush=True)
        given.out.write_text(json.dumps(record, indent=1) + "\n")
    shutil.rmtree(FOLDER, ignore_errors=True)
    sys.exit(any(record[kind]["cases"] for kind in given.only))


if __name__ == "__main__":
    main()
