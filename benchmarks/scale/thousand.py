"""Simulate a thousand workers on one server from measured figures.

Every worker repeats three steps: it reads the news of its partition, plays an episode, and appends
what it learnt. Reads and appends each take a core of the server for the measured CPU time; appends
to one partition wait for each other. The result is the waiting time.

    python -m benchmarks scale/thousand

Reads and writes benchmarks/measured.json, after facts.py and writers.py, and
prints a table. The CPU time of an append is that of the server for one record (measured by eight
writers, two cores shared with them: an upper bound), times the statements of an episode, here ten.
"""

from __future__ import annotations

import heapq
import random
from pathlib import Path

from keep import measured, write_measured

HERE = Path(__file__).parent
STATEMENTS = 10
EPISODES = 20


def simulate(workers: int, partitions: int, play_s: float, cores: int, read: float, append: float):
    """Simulate events; return episodes a second, share of the server used, sorted waits in ms."""
    chance = random.Random(0)
    free = [0.0] * cores  # when each core of the server is free
    last = [0.0] * partitions  # when each partition's last append ended
    events = [(chance.random() * play_s, n, "read", 0) for n in range(workers)]
    heapq.heapify(events)
    waits, used, over = [], 0.0, 0.0
    while events:
        now, worker, what, done = heapq.heappop(events)
        part = worker % partitions
        service = read if what == "read" else append
        core = heapq.heappop(free)
        start = max(now, core, last[part] if what == "append" else 0.0)
        end = start + service
        heapq.heappush(free, end)
        used, over = used + service, max(over, end)
        waits.append((end - now) * 1e3)
        if what == "append":
            last[part] = end
            if done + 1 < EPISODES:
                heapq.heappush(events, (end, worker, "read", done + 1))
        else:
            length = play_s * chance.uniform(0.5, 1.5)
            heapq.heappush(events, (end + length, worker, "append", done))
    return workers * EPISODES / over, used / (over * cores), sorted(waits)


def main() -> None:
    facts = measured("scale/facts")["server"]
    stores = measured("scale/writers")["postgresql"]
    read = facts["refresh_replica"]["fastest_tenth_ms"] / 1e3
    append = STATEMENTS * 2 / stores["records_per_second"]  # the machine had two cores
    rows = []
    for partitions in (1000, 100, 10, 1):
        for play in (0.5, 5.0, 60.0):
            for cores in (2, 16):
                rate, share, waits = simulate(1000, partitions, play, cores, read, append)
                rows.append(
                    {
                        "partitions": partitions,
                        "episode_s": play,
                        "server_cores": cores,
                        "episodes_per_second": round(rate, 1),
                        "server_used": round(share, 3),
                        "slowed_down_by": round(1000 / play / rate, 2),
                        "wait_ms_median": round(waits[len(waits) // 2], 1),
                        "wait_ms_p95": round(waits[int(len(waits) * 0.95)], 1),
                    }
                )
    result = {"read_ms": read * 1e3, "append_ms": round(append * 1e3, 2), "runs": rows}
    write_measured("scale/thousand", result)
    print(" | ".join(rows[0]))
    for row in rows:
        print(" | ".join(str(value) for value in row.values()))


if __name__ == "__main__":
    main()
