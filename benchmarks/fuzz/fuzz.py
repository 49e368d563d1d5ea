"""Feed generated input to every reader: no crash, no hang, time linear in the length.

    python benchmarks/fuzz/fuzz.py                        # 30 CPU minutes in all; writes fuzz.json
    python benchmarks/fuzz/fuzz.py --minutes 1 --only story   # one reader for a minute

Real inputs are changed in a few places: text by cutting, doubling, swapping and inserting pieces
that patterns look for, JSON also by other values in its tree, bytes by other bytes. A reader may
raise the errors of its docstring; any other error, and an input that takes over two CPU seconds, is
a case. Pieces are also repeated to 10,000, 20,000 and 40,000 characters: the longest may take at
most eight times as long as the shortest. Counts in fuzz.json add up over runs; cases come from the
last one.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from targets import FOLDER, HERE, PIECES, TARGETS, Target

SLOW, HUNG = 2.0, 20.0
SIZES = (10_000, 20_000, 40_000)
GROWTH = 8.0
BATCH = 50
VALUES = [None, True, False, -1, 0, 1, 2**70, 0.5, float("nan"), float("inf"), "", "x", "\ud800",
          "\0", [], {}, [[]], [None], {"a": 1}, [0, 1], "a" * 300]  # fmt: skip


class Hang(BaseException):
    """An input that takes more than ``HUNG`` CPU seconds; no reader catches it."""


def hang(*_: object) -> None:
    """Stop the reader."""
    raise Hang


def play(target: Target, data: Any, cases: list[str]) -> float:
    """Return the CPU seconds that an input takes, and record its faults."""
    signal.setitimer(signal.ITIMER_VIRTUAL, HUNG)
    before = time.process_time()
    try:
        target.read(data)
    except target.refuses:
        pass
    except (Exception, Hang) as error:
        cases.append(f"{error!r:.200}: {data[:400]!r}")
    took = time.process_time() - before
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if took > SLOW:
        cases.append(f"{took:.1f} s for {len(data)} characters: {data[:300]!r}")
    return took


def changed(data: Any, target: Target, chance: random.Random) -> Any:
    """Return an input with one to six changes."""
    pieces: list[Any] = [*target.samples[:50], *PIECES]
    if isinstance(data, bytes):
        pieces = [b"\0", b"\xff", b"\x7f\xff", b"\x80", b"\0\0\0\1", bytes([chance.randrange(256)])]
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + int(chance.expovariate(1 / 12)))
        match chance.randrange(7):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + data[at:to] * chance.choice((2, 3, 30)) + data[to:]
            case 2:
                data = data[:at] + chance.choice(pieces) + data[at:]
            case 3:
                piece = chance.choice(pieces)
                data = data[:at] + piece + data[at + len(piece) :]
            case 4:
                other = chance.choice(target.samples)
                cut = chance.randrange(len(other) + 1)
                data = data[:at] + other[cut : cut + chance.randrange(200)] + data[to:]
            case 5:
                far = chance.randrange(len(data) + 1)
                data = data[:at] + data[far : far + to - at] + data[to:]
            case _ if chance.random() < 0.2:
                data = data[:at] if chance.random() < 0.5 else data[at:]
            case _:
                data = data[:at] + chance.choice(pieces) * chance.randrange(2, 20) + data[to:]
        data = data[: 1 << 16]
    return data


def reshaped(value: Any, chance: random.Random) -> Any:
    """Return a JSON value with another part at a random place of its tree."""
    parts: list[tuple[Any, Any]] = []
    todo = [value] if isinstance(value, dict | list) else []
    while todo:
        inner = todo.pop()
        for key in list(inner) if isinstance(inner, dict) else range(len(inner)):
            parts.append((inner, key))
            if isinstance(inner[key], dict | list):
                todo.append(inner[key])
    if not parts:
        return chance.choice(VALUES)
    part, key = chance.choice(parts)
    other, name = chance.choice(parts)
    match chance.randrange(6):
        case 0:
            del part[key]
        case 1 if isinstance(part, list):
            part.insert(key, part[key])
        case 2:
            part[key] = json.loads(json.dumps(other[name]))  # a copy, lest a value hold itself
        case 3 if isinstance(part[key], str):
            part[key] = chance.choice((part[key].upper(), part[key] + "x", part[key][1:]))
        case 4 if isinstance(part[key], int | float):
            part[key] = chance.choice((-part[key] - 1, part[key] + 1, part[key] * 10**6, "7"))
        case _:
            part[key] = chance.choice(VALUES)
    return value


def invented(target: Target, chance: random.Random) -> Any:
    """Return a new input."""
    data = chance.choice(target.samples)
    if target.form in ("text", "bytes") or chance.random() < 0.2:
        return changed(data, target, chance)
    lines = data.splitlines() if target.form == "lines" else [data]
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(lines))
        try:
            value = reshaped(json.loads(lines[at]), chance)
        except ValueError:
            continue
        lines[at] = json.dumps(value)
    if target.form == "lines" and chance.random() < 0.3:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return "\n".join(lines) + "\n" * chance.randrange(2)


def grow(target: Target, chance: random.Random, cases: list[str]) -> int:
    """Repeat pieces to three lengths, after the beginning of a real input."""
    data = chance.choice(target.samples)
    cut = chance.randrange(len(data) + 1)
    head, tail = data[:cut], data[cut:] * chance.randrange(2)
    if isinstance(data, bytes):
        unit: Any = bytes([chance.randrange(256)])
    elif chance.random() < 0.3:
        unit = data[cut : cut + chance.randrange(1, 60)] or " "
    else:
        unit = "".join(chance.choices(PIECES, k=chance.choice((1, 1, 2, 3))))

    def times() -> list[float]:
        gc.disable()  # a collection takes longer than most reads
        texts = (head + unit * (size // len(unit)) + tail for size in SIZES)
        try:
            return [play(target, text, cases) for text in texts]
        finally:
            gc.enable()

    for _ in range(2):  # once more, lest a busy machine or a cold cache be a case
        took = times()
        if took[-1] <= 0.1 or took[-1] <= GROWTH * took[0]:
            return len(SIZES)
    times = ", ".join(f"{seconds:.3f}" for seconds in took)
    cases.append(f"{times} s: {head[-100:]!r} + {unit[:80]!r} * n + {tail[:60]!r}")
    return len(SIZES)


def main() -> None:
    """Divide the time evenly among the readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="of the processor, in all")
    parser.add_argument("--only", nargs="+", choices=list(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HERE / "fuzz.json")
    given = parser.parse_args()
    signal.signal(signal.SIGVTALRM, hang)
    chosen = given.only or list(TARGETS)
    record: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {}
    found = 0
    for name in chosen:
        target = TARGETS[name]
        cases: list[str] = []
        chance = random.Random(f"{given.seed} {name}")
        inputs = grown = 0
        started = time.process_time()
        while (spent := time.process_time() - started) < given.minutes * 60 / len(chosen):
            for _ in range(BATCH):
                play(target, invented(target, chance), cases)
            inputs += BATCH
            grown += grow(target, chance, cases)
            if len(cases) > 20:
                break
        before = record.get(name, {"inputs": 0, "long": 0, "cpu_s": 0.0})
        known = {"inputs": inputs, "long": grown, "cpu_s": spent}
        record[name] = {key: round(before[key] + value, 1) for key, value in known.items()}
        record[name]["cases"] = sorted(set(cases))[:10]
        found += len(cases)
        print(name, known, *record[name]["cases"], sep="\n   ", flush=True)
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items())
        given.out.write_text(f"{{\n{lines}\n}}\n")
    shutil.rmtree(FOLDER)
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
