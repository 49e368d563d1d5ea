"""Runs on a real Ray cluster of several nodes on this machine; one is taken away in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gym_memory.core.errors import BackendError, InvalidArgumentError, UnknownNameError
from gym_memory.core.files import unseal
from gym_memory.core.names import Spec
from gym_memory.core.trajectory import read_trajectory
from gym_memory.games.base import TextEnv
from gym_memory.run import cluster as module
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason="ray is not installed")

CLOCKS = ("seconds", "memory_ms")
PATIENCE = 600
"""Seconds that a part of Ray may take to start, where Ray itself gives it 30."""
PATIENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_server_port_wait_time_s": f"{PATIENCE}",
    "RAY_agent_register_timeout_ms": f"{PATIENCE * 1000}",
    "RAY_worker_register_timeout_seconds": f"{PATIENCE}",
}


def config(*envs: str, seeds: int) -> RunConfig:
    memories, policies = ("none", "history"), ("sleepy?delay=0.02",)
    return RunConfig(envs, memories, policies, tuple(range(seeds)), plugins=("run_plugin",))


@pytest.fixture(scope="module")
def cluster():
    """Yield three nodes on this machine, one of them the driver's."""
    from ray._private import services
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as nodes:  # they must find the plugin, as on real machines
        nodes.setattr(services, "get_node", patiently(services.get_node))
        for name, value in PATIENT.items():
            nodes.setenv(name, value)
        # A dead node refuses each check at once, five in a second; a busy one has its time.
        nodes.setenv("RAY_health_check_period_ms", "200")
        paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        nodes.setenv("PYTHONPATH", os.pathsep.join(paths))
        made = Cluster()
        add_node(made, num_cpus=0, include_dashboard=False)  # where the driver is
        for _ in range(2):
            add_node(made, num_cpus=1)
        yield made
        made.shutdown()


def patiently(get_node):
    """Return ``get_node`` that waits for a node on a busy machine."""

    def get(*args, **kwargs):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return get_node(*args, **kwargs)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    return get


def add_node(cluster, **resources):
    """Add a node and wait until the cluster has it."""
    node = cluster.add_node(wait=False, **resources)
    cluster._wait_for_node(node, PATIENCE)
    return node


def episodes(folder: Path) -> list[str]:
    """Return the episodes without their clocks, in one order."""
    lines = []
    for line in (folder / "episodes.jsonl").read_bytes().splitlines():
        record = {k: v for k, v in unseal(line).items() if k not in CLOCKS}
        lines.append(json.dumps(record, sort_keys=True))
    return sorted(lines)


def played(folder: Path) -> dict[str, list]:
    """Return the recorded steps by file."""
    return {
        path.name: [(t.task, t.steps, t.outcome) for t in read_trajectory(path)]
        for path in sorted((folder / "steps").glob("*.jsonl.gz"))
    }


def test_a_lost_node_changes_nothing(cluster, tmp_path):
    """The run equals the one of this machine, though a node goes and another one comes."""
    asked = config("FakeHouse", seeds=6)
    done = []

    def on_progress(finished: int, total: int, rows) -> None:
        done.append(finished)
        if finished == 3:
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        if finished == 5:
            add_node(cluster, num_cpus=1)

    compare(asked, tmp_path / "here", workers=1)
    compare(asked, tmp_path / "there", workers=None, ray=cluster.address, on_progress=on_progress)
    assert done == list(range(13))
    assert episodes(tmp_path / "there") == episodes(tmp_path / "here")
    assert played(tmp_path / "there") == played(tmp_path / "here")
    for name in ("config.json", "environment.json"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert sorted(p.name for p in (tmp_path / "there").iterdir()) == sorted(
        p.name for p in (tmp_path / "here").iterdir()
    )
    with pytest.raises(UnknownNameError, match="nowhere"):
        compare(
            RunConfig(("FakeHouse",), ("nowhere",), ("random",), (0,)),
            tmp_path / "wrong",
            ray=cluster.address,
        )


def test_a_node_is_waited_for(cluster, monkeypatch, caplog):
    """Wait, for a limited time, if no node has room or the last one was lost."""
    need = TextEnv.worker_gib * 1000
    monkeypatch.setattr(TextEnv, "worker_gib", need)
    leave = module.connect(cluster.address)
    with pytest.raises(BackendError, match="no node of the Ray cluster has a core and 500 GiB"):
        module.room_for(Spec("FakeHouse"))
    with ThreadPoolExecutor() as pool:
        room = pool.submit(module.room_for, Spec("FakeHouse"), 600.0)
        while "waiting at most 600 s" not in caplog.text:
            assert not room.done()
            time.sleep(0.05)
        assert not room.done()
        node = add_node(cluster, num_cpus=1, memory=int((need + 1) * (1 << 30)))
        assert room.result() == need * (1 << 30)
    assert caplog.text.count("waiting at most 600 s for a node of the Ray cluster") == 1
    leave()
    cluster.remove_node(node, allow_graceful=False)


def test_local_cluster_serves_this_machine_and_ends_at_sigterm(tmp_path):
    psutil = pytest.importorskip("psutil")
    words = [sys.executable, "-m", "gym_memory", "compare", "--ray", "local", "--workers", "2"]
    words += ["-e", "FakeHouse", "-m", "none", "-p", "sleepy", "--seeds", "0:20"]
    words += ["--import", "run_plugin", "--out", str(tmp_path / "run")]
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    short = Path(tempfile.mkdtemp(dir="/tmp"))  # a path of Ray's sockets has 107 bytes at most
    gate = tmp_path / "gate"
    gate.write_text("3")  # the run waits in the middle
    env = {**os.environ, **PATIENT, "SLEEPY_GATE": str(gate)}
    env |= {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(short)}
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as process:
        rows, deadline = tmp_path / "run" / "episodes.jsonl", time.monotonic() + 600
        while not (rows.exists() and rows.read_bytes().count(b"\n") > 1):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        family = psutil.Process(process.pid).children(recursive=True)
        listening = {
            link.laddr.ip
            for member in family
            for link in member.net_connections("tcp")
            if link.status == psutil.CONN_LISTEN
        }
        process.terminate()
        _, said = process.communicate(timeout=600)
    assert listening
    assert all(ip.removeprefix("::ffff:") == "127.0.0.1" for ip in listening), listening
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "stack" not in said.lower()
    assert not list((tmp_path / "run").rglob("*.tmp"))
    assert len(episodes(tmp_path / "run")) < 20
    _, alive = psutil.wait_procs(family, timeout=600)
    assert not alive
    assert list(short.iterdir()) == []
    short.rmdir()


def test_incompatible_options_of_a_cluster_are_refused(tmp_path):
    asked = config("FakeHouse", seeds=1)
    with pytest.raises(InvalidArgumentError, match="max_tokens"):
        compare(asked, tmp_path / "a", ray="auto", max_tokens=5)
    with pytest.raises(InvalidArgumentError, match="address of a Ray cluster"):
        compare(asked, tmp_path / "b", ray="127.0.0.1:1")


def test_training_in_actors_equals_one_process(cluster, tmp_path):
    """The same weights, memories and curve, though an actor dies in the middle of episodes."""
    from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
    from gym_memory.baselines.rl.shared.envs import LocalEnvs
    from gym_memory.baselines.rl.shared.trainer import Trainer
    from gym_memory.baselines.rl.shared.training import TrainSettings
    from gym_memory.cli.train import Arena
    from gym_memory.core.tensors import read_tensors
    from gym_memory.core.training_folder import TRAINING
    from gym_memory.train.collect import RayEnvs

    arena = Arena("FakeHouse?max_steps=7", "clin?lifetime=forever", 500, "valid", 25)
    how = TrainSettings(steps=60, games=3, valid_games=2, envs=3, evaluate_every=60)
    small = DrrnSettings(dim=8, hidden=8, vocabulary=512, batch=8, capacity=64, learn_start=20)

    def train(name: str, envs: LocalEnvs | RayEnvs) -> tuple[dict, list, list]:
        def listener(steps: int, row: dict | None) -> None:
            if isinstance(envs, RayEnvs) and steps == 33:
                ray.kill(envs.actors[0])

        learner = DrrnLearner(small)
        folder = tmp_path / name
        trainer = Trainer(learner, envs, how, folder, {}, listener)
        curve = [{**row, "cpu_seconds": 0} for row in trainer.run()]
        trainer.close()
        tensors, record = read_tensors(folder / TRAINING)
        return {key: tensor.tolist() for key, tensor in tensors.items()}, record["slots"], curve

    here = train("here", LocalEnvs(arena.make))
    with RayEnvs(cluster.address, arena.env, arena.make, 3, ["run_plugin"]) as envs:
        assert train("there", envs) == here
