"""Play every published experiment at its smallest size, and check its output.

    python -m benchmarks papers                        # those that were not run; minutes each
    python -m benchmarks papers clin-table1 --again    # some, once more
    python -m benchmarks papers --out results/papers   # keeps their folders there

A scripted server replaces the language model, so every line must say that it is not comparable with
the paper. ``$ALFWORLD_DATA``, ``$WEBSHOP_DATA`` and ``$QA_DATA`` are used if set. Writes
measured.json after each experiment; if interrupted, run the command again: it continues.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from keep import measured, write_measured

from gym_memory.papers.experiments import experiment_names
from gym_memory.testing.chat.server import ScriptedServer

SMALLEST = "--seeds 0:1 --max-steps 2 --train-steps 40 --workers 1"
PORT = 8141
"""Port; a results folder can be continued only with the same address."""
_COUNT = re.compile(r"^0 of (\d+) lines can be compared with the paper's numbers\.(.*)$", re.M)
_STEPS = "Steps of an episode: at most 2."
_PAPER_ALONE = "published"
_WHO = ("answered by scripted rules", "answered by none")


def played(name: str, out: Path, url: str) -> dict[str, Any]:
    """Run an experiment; return its seconds, its lines, and its statement or error."""
    words = f"--model scripted --base-url {url} {SMALLEST} --out {out / name}".split()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gym_memory", "paper", name, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    (out / f"{name}.txt").write_text(done.stdout + done.stderr, "utf-8")
    found: dict[str, Any] = {"seconds": round(time.monotonic() - began)}
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return found | {"fault": f"status {done.returncode}: {lines[-1] if lines else ''}"}
    count, rows = _COUNT.search(done.stdout), re.findall(r"^│.*│ (.*?) +│$", done.stdout, re.M)
    unlabelled = [row for row in rows if row not in ("not comparable", _PAPER_ALONE)]
    said = "".join(done.stdout.rsplit("┘", 1)[1:])
    if count is None or unlabelled or _STEPS not in said or not any(who in said for who in _WHO):
        return found | {"fault": f"{len(unlabelled)} lines without a label: {said.strip()}"}
    lines = sum(row != _PAPER_ALONE for row in rows)
    if int(count[1]) != lines:
        return found | {"fault": f"{lines} lines were printed, {count[1]} counted"}
    return found | {"lines": lines, "said": " ".join(said.split())}


def main() -> None:
    """Run the missing experiments; keep and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="Experiments; none for all.")
    parser.add_argument("--again", action="store_true", help="Run those that were run before, too.")
    parser.add_argument("--out", type=Path, default=Path("results/papers"))
    given = parser.parse_args()
    if unknown := set(given.names) - set(experiment_names()):
        parser.error(f"no experiment {', '.join(sorted(unknown))}")
    given.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    with ScriptedServer(PORT) as server:
        for name in given.names or experiment_names():
            if measured("papers").get(name, {}).get("said") and not given.again:
                continue
            found = played(name, given.out, server.base_url)
            failed += "fault" in found
            print(f"{name}: {found}", flush=True)
            write_measured("papers", {**measured("papers"), name: found})
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
