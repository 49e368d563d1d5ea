"""Measure AriGraph: the cost of a step, a search, a long episode and an RL step.

The numbers in ``measured.json`` and ``arigraph_speed.md`` were made by::

    OMP_NUM_THREADS=1 python benchmarks/arigraph_speed.py

Times are CPU times of one process (``time.process_time``), so a busy machine does not change
them much. Parts (``--parts steps,naive,minilm,long,rl``):

* ``steps``: one memory step (``observe`` with rule-based extraction, then ``recall`` of 1,000
  tokens) in a house of about 200, 1,000 and 5,000 live facts; while the house is explored, and then
  in walks through it (every third action takes or drops something). Semantic recall walks the same
  way twice with a new memory each time; the second walk, in which every string has been encoded
  before, is reported.
* ``naive``: EmbedAndRetrieve of Algorithm 2 as usually written, which encodes all facts again for
  every query (sentence-transformers, batches of 32), against ours, at 1,000 live facts with the
  same MiniLM. One such call is measured. The number of calls per step is counted by running
  Algorithm 2 literally for every query of that step. Naive time a step = their product: it is
  extrapolated, not run. Our step is that of ``steps`` (the naive search keeps no embeddings, so it
  cannot gain from a walk being the second).
* ``authors``: a step of the graph of AriGraph's authors (``--authors FOLDER``, a clone of their
  repository; needs networkx, matplotlib and openai) beside ours, in a house of 1,000 and 5,000
  facts: the same facts, ended facts, search texts, depth and threshold. Their graph gets the
  answers of its language model and its vectors for free.
* ``minilm``: a real Treasure Hunt episode of 150 steps with semantic recall, nothing cached before;
  memory steps only.
* ``long``: 10,000 steps of one episode in a house of 16 rooms; bytes that the memory holds, by
  tracemalloc, and times of a second run without it.
* ``rl``: steps of Cooking with memory ``arigraph`` and ``none``, and of bare TextWorld asked for
  the same infos (feedback, valid actions, inventory, score), all with the same random actions; with
  the minimum time of three runs for each step.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arigraph_house import BUDGET, House, Walk, begun, clock, played, summary
from keep import measured, write_measured

from gym_memory.core.records import Cue, Step, Triple
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.encoders import Encoder

HERE = Path(__file__).with_suffix("")


def steps(sizes: tuple[int, ...] = (200, 1000, 5000), strolls: int = 600) -> list[dict[str, Any]]:
    rows = []
    for recall in ("structural", "semantic"):
        if recall == "semantic" and not minilm_here():
            continue
        for size in sizes:
            walk = Walk(size, recall, strolls)
            if recall == "semantic":
                walk = Walk(size, recall, strolls)
            rows.append({
                "recall": recall,
                "live_facts": len(walk.memory.graph),
                "recalled_facts": len(walk.shown.triples),
                "update_ms": summary(walk.updates),
                "recall_ms": summary(walk.recalls),
                "step_ms": summary(walk.steps),
                "exploring_step_ms": summary(walk.explored),
            })  # fmt: skip
            print(rows[-1], file=sys.stderr)
    return rows


class Naive:
    """Algorithm 2 as usually written: every fact is encoded again for every query."""

    def __init__(self, encoder: Encoder, facts: list[Triple], width: int):
        self.encoder, self.facts, self.width = encoder, facts, width
        self.calls = 0

    def embed_and_retrieve(self, query: str) -> list[Triple]:
        self.calls += 1
        similar = (
            self.encoder.encode([str(f) for f in self.facts]) @ self.encoder.encode([query])[0]
        )
        order = np.lexsort((np.arange(len(self.facts)), -np.round(similar, 5)))
        return [self.facts[i] for i in order[: self.width]]

    def search(self, query: str, depth: int) -> set[Triple]:
        found: set[Triple] = set()
        queue, distance = [query], {query: 0}
        while queue:
            current = queue.pop(0)
            if distance[current] >= depth:
                continue
            edges = self.embed_and_retrieve(current)
            for edge in edges:
                for vertex in (edge.subject, edge.object):
                    if vertex not in distance:
                        distance[vertex] = distance[current] + 1
                        queue.append(vertex)
            found |= set(edges)
        return found


class PlainMiniLM:
    """MiniLM as most code calls it: padded batches of 32, no cache."""

    def __init__(self) -> None:
        import sentence_transformers
        import torch

        from gym_memory.memory.encoders.pretrained import find_model

        torch.set_num_threads(1)
        self.model = sentence_transformers.SentenceTransformer(
            str(find_model("all-MiniLM-L6-v2")), device="cpu", local_files_only=True
        )
        self.id, self.dim = "plain", 384

    def encode(self, texts: Any) -> Any:
        return self.model.encode(list(texts), batch_size=32, show_progress_bar=False)


def naive(size: int = 1000) -> dict[str, Any]:
    from gym_memory.memory.encoders import make_encoder

    Walk(size, "semantic", 100)
    walk = Walk(size, "semantic", 100)
    house, memory, ours = walk.house, walk.memory, walk.steps
    step, cue = house.step("look")
    memory.observe(step)
    queries = texts_of(memory, cue)
    meaning = memory._sources.meaning
    assert meaning is not None
    mine = {triple for triple, _ in meaning.search([(q, 2) for q in queries])}
    facts = list(memory.graph.live())
    literal = Naive(make_encoder("all-MiniLM-L6-v2"), facts, 6)  # cached: only counts the calls
    theirs = set().union(*(literal.search(query, 2) for query in queries))
    plain = Naive(PlainMiniLM(), facts, 6)
    plain.encoder.encode(["warm up"])
    started = clock()
    plain.embed_and_retrieve(queries[0])
    one = (clock() - started) * 1e3
    step_ms = statistics.median(ours)
    return {
        "live_facts": len(facts),
        "queries_a_step": len(queries),
        "naive_calls_a_step": literal.calls,
        "naive_ms_a_call_measured": round(one, 1),
        "naive_s_a_step_extrapolated": round(one * literal.calls / 1e3, 1),
        "our_step_ms": round(step_ms, 3),
        "ratio_step": round(one * literal.calls / step_ms),
        "ratio_if_naive_made_one_call_a_step": round(one / step_ms),
        "facts_found": len(mine),
        "facts_found_by_both": len(mine & theirs),
        "facts_found_by_naive": len(theirs),
    }


def texts_of(memory: AriGraph, cue: Cue) -> list[str]:
    """Return the texts that a recall searches for."""
    return [cue.focus, *memory._sources.structure.queries(cue), cue.task]


def authors(folder: str, sizes: tuple[int, ...] = (1000, 5000), turns: int = 30) -> list[Any]:
    sys.path.insert(0, folder)
    import torch
    from graphs.contriever_graph import ContrieverGraph  # type: ignore[import-not-found]
    from utils.contriever import Retriever  # type: ignore[import-not-found]

    from gym_memory.memory.encoders import make_encoder

    torch.set_num_threads(1)
    encoder = make_encoder("all-MiniLM-L6-v2")

    class Given(Retriever):  # type: ignore[misc]
        """Their search with given vectors; ``seconds`` is the time to provide them."""

        def __init__(self) -> None:
            self.texts: list[str] = []
            self.single: dict[str, torch.Tensor] = {}
            self.seconds = 0.0

        def embed(self, texts: str | list[str]) -> torch.Tensor:
            started = clock()
            if isinstance(texts, list) and len(texts) > 1:
                if self.texts is not texts:
                    self.texts, self.rows = texts, torch.from_numpy(encoder.encode(texts))
                found = self.rows
            else:
                text = texts if isinstance(texts, str) else texts[0]
                if text not in self.single:
                    self.single[text] = torch.from_numpy(encoder.encode([text]))
                found = self.single[text]
            self.seconds += clock() - started
            return found

    class Theirs(ContrieverGraph):  # type: ignore[misc]
        """Their graph, with given answers of its language model."""

        def __init__(self) -> None:
            self.retriever, self.items = Given(), []
            self.clear()

        def generate(self, prompt: str, jsn: bool = False, t: float = 0.7) -> tuple[str, float]:
            return self.answers.pop(0), 0.0

        def play(self, step: Step, facts: list[str], gone: list[str], cue: Cue, texts: Any) -> Any:
            self.answers = ["; ".join(facts), str([[f"{fact} -> {facts[0]}"] for fact in gone])]
            return self.update(
                step.text, [], cue.focus, self.shown, [], "", "", step.action,
                dict.fromkeys(texts, 2), lambda text: None, 2,
            )  # fmt: skip

    rows = []
    for size in sizes:
        Walk(size, "semantic", 100 + turns, 0.75)  # encodes every text of the second walk
        walk = Walk(size, "semantic", 100, 0.75)  # their threshold
        house, memory, theirs = walk.house, walk.memory, Theirs()
        before = {", ".join(fact) for fact in memory.graph.live()}
        theirs.add_triplets([[s, o, {"label": r}] for s, r, o in memory.graph.live()])
        for episode in memory.store:
            facts = [", ".join(fact) for fact in episode.triples]
            theirs.obs_episodic[episode.text] = [facts, theirs.retriever.embed(episode.text)]
        theirs.shown = []
        mine, other, inputs = [], [], []
        for _ in range(turns):
            step, cue = house.step(house.stroll())
            started = clock()
            memory.observe(step)
            shown = memory.recall(cue, BUDGET)
            mine.append((clock() - started) * 1e3)
            now = {", ".join(fact) for fact in memory.graph.live()}
            facts = [", ".join(fact) for fact in memory.store[-1].triples]
            inputs.append((step, facts, sorted(before - now), cue, texts_of(memory, cue)))
            before = now
        for one in inputs:
            theirs.retriever.seconds, started = 0.0, clock()
            theirs.shown, _ = theirs.play(*one)
            other.append((clock() - started - theirs.retriever.seconds) * 1e3)
        rows.append({
            "live_facts": len(memory.graph),
            "their_live_facts": len(theirs.triplets),
            "step_ms": summary(mine),
            "their_step_ms": summary(other),
            "times_faster": round(statistics.median(other) / statistics.median(mine), 1),
            "their_found_facts": len(theirs.shown),
            "recalled_facts": len(shown.triples),
        })  # fmt: skip
        print(rows[-1], file=sys.stderr)
    return rows


def minilm(length: int = 150) -> list[dict[str, Any]]:
    import gymnasium as gym

    rows = []
    for encoder in ("all-MiniLM-L6-v2", "onnx"):
        env = gym.make(
            "gym_memory/TreasureHunt-v0",
            level="hard",
            max_steps=length,
            memory=f"arigraph?recall=semantic&encoder={encoder}",
        )
        obs, info = env.reset(seed=0)
        memory = env.get_wrapper_attr("memory")
        memory.observe, inner_observe = noting(memory.observe), memory.observe
        memory.recall, inner_recall = noting(memory.recall), memory.recall
        chance, done = random.Random(0), False
        while not done:
            moves = [a for a in obs["valid_actions"] if a.startswith(("go ", "open ", "take "))]
            obs, _, terminated, truncated, info = env.step(chance.choice(moves))
            done = terminated or truncated
        costs = [a + b for a, b in zip(memory.observe.costs, memory.recall.costs, strict=True)]
        rows.append({
            "encoder": encoder,
            "steps": len(costs),
            "live_facts": info["memory_stats"].live_facts,
            "step_ms": summary(costs),
            "second_half_step_ms": summary(costs[len(costs) // 2 :]),
        })  # fmt: skip
        memory.observe, memory.recall = inner_observe, inner_recall
        env.close()
        print(rows[-1], file=sys.stderr)
    return rows


def noting(function: Callable[..., Any]) -> Any:
    """Return the function; each call adds its milliseconds to ``costs``."""

    def call(*args: Any) -> Any:
        started = clock()
        result = function(*args)
        call.costs.append((clock() - started) * 1e3)  # type: ignore[attr-defined]
        return result

    call.costs = []  # type: ignore[attr-defined]
    return call


def long(length: int = 10_000, marks: int = 10) -> dict[str, Any]:
    part = length // marks
    house, memory = House(16), begun(AriGraph())
    costs = [
        [sum(played(memory, house, house.stroll())[:2]) for _ in range(part)] for _ in range(marks)
    ]
    house, memory = House(16), begun(AriGraph())
    tracemalloc.start()
    at, held = [], []
    for mark in range(marks):
        for _ in range(part):
            played(memory, house, house.stroll())
        at.append((mark + 1) * part)
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    slope, start = np.polyfit(at, held, 1)
    fitted = np.polyval([slope, start], at)
    spread = float(np.sum((np.array(held) - fitted) ** 2) / np.sum((held - np.mean(held)) ** 2))
    return {
        "steps": length,
        "live_facts": len(memory.graph),
        "bytes_a_step": round(float(slope)),
        "r_squared_of_a_straight_line": round(1 - spread, 5),
        "megabytes_at_the_end": round(held[-1] / 1e6, 2),
        "saved_json_bytes_a_step": round(len(json.dumps(memory.state())) / length),
        "step_ms_first_tenth": round(statistics.median(costs[0]), 4),
        "step_ms_last_tenth": round(statistics.median(costs[-1]), 4),
    }


def rl(episodes: int = 6, length: int = 100) -> list[dict[str, Any]]:
    import gymnasium as gym

    rows = []
    for level in ("rl-1", "rl-2", "rl-3", "rl-4", "hard"):
        envs = {
            name: gym.make("gym_memory/Cooking-v0", level=level, memory=name, max_steps=10**6)
            for name in ("none", "arigraph")
        }
        plays = [random_play(envs["none"], seed, length) for seed in range(episodes)]
        engines = [bare_textworld(story) for story, _ in plays]
        cost: dict[str, list[float]] = {}
        for _ in range(3):
            runs = {
                name: [c for seed, (_, taken) in enumerate(plays) for c in timed(env, seed, taken)]
                for name, env in envs.items()
            }
            runs["bare"] = [
                c
                for engine, (_, taken) in zip(engines, plays, strict=True)
                for c in timed(engine, None, taken)
            ]
            for name, run in runs.items():
                cost[name] = [min(pair) for pair in zip(cost.get(name, run), run, strict=True)]
        total = {name: sum(costs) for name, costs in cost.items()}
        count = len(cost["none"])
        rows.append({
            "level": level,
            "steps": count,
            "bare_textworld_steps_a_cpu_second": round(count / total["bare"]),
            "none_steps_a_cpu_second": round(count / total["none"]),
            "arigraph_steps_a_cpu_second": round(count / total["arigraph"]),
            "arigraph_over_bare_percent": round((total["arigraph"] / total["bare"] - 1) * 100, 1),
            "arigraph_over_none_percent": round((total["arigraph"] / total["none"] - 1) * 100, 1),
        })  # fmt: skip
        print(rows[-1], file=sys.stderr)
        for env in envs.values():
            env.close()
    return rows


def random_play(env: Any, seed: int, length: int) -> tuple[str, list[str]]:
    """Return the game file and the actions of a random episode that does not end early."""
    obs, info = env.reset(seed=seed)
    chance, actions, done = random.Random(seed), [], False
    while not done and len(actions) < length:
        safe = [a for a in obs["valid_actions"] if not a.startswith(("eat", "drink", "prepare"))]
        actions.append(chance.choice(safe))
        obs, _, done, _, _ = env.step(actions[-1])
    return str(env.unwrapped.story(info["task_id"])), actions


def bare_textworld(story: str) -> Any:
    """Return TextWorld's own environment, with the same infos as ours."""
    import textworld

    infos = textworld.EnvInfos(
        feedback=True, score=True, max_score=True, won=True, lost=True,
        admissible_commands=True, inventory=True,
    )  # fmt: skip
    return textworld.start(story, infos)


def timed(env: Any, seed: int | None, actions: list[str]) -> list[float]:
    """Return the CPU seconds of each action of an episode; bare TextWorld takes no seed."""
    if seed is None:
        env.reset()
    else:
        env.reset(seed=seed)
    costs = []
    for action in actions:
        started = clock()
        env.step(action)
        costs.append(clock() - started)
    return costs


PARTS: dict[str, Callable[[], Any]] = {
    "steps": steps, "naive": naive, "minilm": minilm, "long": long, "rl": rl,
}  # fmt: skip


def minilm_here() -> bool:
    from gym_memory.core.errors import MissingDependencyError
    from gym_memory.memory.encoders import make_encoder

    try:
        return bool(make_encoder("all-MiniLM-L6-v2"))
    except MissingDependencyError:
        return False


def markdown(results: dict[str, Any]) -> str:
    """Return the results as tables."""
    lines = ["# Speed of the AriGraph memory", "", f"Made by `{results['command']}`.", ""]
    for name in (*PARTS, "authors"):
        if name in results:
            rows = results[name] if isinstance(results[name], list) else [results[name]]
            lines += [
                f"## {name}",
                "",
                "| " + " | ".join(rows[0]) + " |",
                "|---" * len(rows[0]) + "|",
            ]
            for row in rows:
                cells = [
                    f"{v['median']} (mean {v['mean']}, p95 {v['p95']})"
                    if isinstance(v, dict)
                    else str(v)
                    for v in row.values()
                ]
                lines.append("| " + " | ".join(cells) + " |")
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Run the chosen parts and write their results over the old ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--authors", metavar="FOLDER", help="a clone of the authors' repository")
    options = parser.parse_args()
    chosen = options.parts.split(",")
    parts = dict(PARTS)
    if options.authors:
        parts["authors"] = lambda: authors(options.authors)
        chosen += ["authors"] if "authors" not in chosen else []
    results = measured("arigraph_speed")
    results["command"] = "OMP_NUM_THREADS=1 python benchmarks/arigraph_speed.py"
    results["python"] = platform.python_version()
    with tempfile.TemporaryDirectory() as scratch:
        games = os.environ.get("GYM_MEMORY_CACHE")
        for name in chosen:
            if name in ("steps", "naive", "minilm", "authors"):  # nothing encoded before
                os.environ["GYM_MEMORY_CACHE"] = str(Path(scratch) / name)
            results[name] = parts[name]()
            if games is None:
                os.environ.pop("GYM_MEMORY_CACHE", None)
            else:
                os.environ["GYM_MEMORY_CACHE"] = games
    write_measured("arigraph_speed", results)
    HERE.with_suffix(".md").write_text(markdown(results))
    print(markdown(results))


if __name__ == "__main__":
    main()
