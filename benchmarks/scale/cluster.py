"""Play 200 episodes on a Ray cluster of three nodes, one of which is killed midway.

The nodes are three raylets on this machine. The episodes are those of the same command with
`--workers 2`: played once, none lost, none doubled, the same except for times.

    python -m benchmarks scale/cluster

Writes benchmarks/measured.json.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

from keep import write_measured

from gym_memory.core.files import unseal

CLOCKS = ("seconds", "memory_ms")


def episodes(folder: Path) -> list[str]:
    lines = []
    for line in (folder / "episodes.jsonl").read_bytes().splitlines():
        record = {k: v for k, v in unseal(line).items() if k not in CLOCKS}
        lines.append(json.dumps(record, sort_keys=True))
    return sorted(lines)


def main() -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from gym_memory.run.compare import compare
    from gym_memory.run.config import RunConfig

    config = RunConfig(
        ("Cooking?level=rl-2&max_steps=40", "MultiHopQA"),
        ("none", "arigraph"),
        ("random",),
        tuple(range(50)),
    )
    removed = []
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "here", Path(folder) / "there"
        began = time.perf_counter()
        compare(config, here, workers=2)
        local = time.perf_counter() - began
        cluster = Cluster()
        cluster.add_node(num_cpus=0, include_dashboard=False)
        for _ in range(3):
            cluster.add_node(num_cpus=1)

        def on_progress(done: int, total: int, rows) -> None:
            if done == total // 2 and not removed:
                node = next(iter(cluster.worker_nodes))
                cluster.remove_node(node, allow_graceful=False)
                removed.append(done)

        began = time.perf_counter()
        compare(config, there, workers=None, ray=cluster.address, on_progress=on_progress)
        remote = time.perf_counter() - began
        cluster.shutdown()
        played = episodes(there)
        result = {
            "episodes": len(played),
            "node_removed_after": removed[0],
            "doubled": len(played) - len(set(played)),
            "equal_to_one_machine": played == episodes(here),
            "failed": sum(bool(json.loads(line)["failed"]) for line in played),
            "seconds_two_workers": round(local, 1),
            "seconds_cluster": round(remote, 1),
        }
    write_measured("scale/cluster", result)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
