"""Measure the prefix cache, tree scoring and trie walks, in CPU seconds.

    OMP_NUM_THREADS=1 python benchmarks/smollm/speed.py > benchmarks/smollm/speed.json

One prompt of about 460 tokens, the same with a new turn after 100, 200, ... of them (as at the next
step of an episode), and twelve actions. All run in one process and thread, each way twice; the
smaller number counts.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from typing import Any

import torch

from gym_memory.llm import Form, make_model
from gym_memory.llm.local import likelihoods
from gym_memory.llm.writing import Prefix, Writer, write_form

ROOM = "The kitchen has a table, a fridge, an oven and a stove; cook the carrot and eat it. "
ACTIONS = [
    "cook carrot with stove",
    "cook carrot with oven",
    "cook carrot with BBQ",
    "drop carrot",
    "eat carrot",
    "examine cookbook",
    "examine carrot",
    "close fridge",
    "take knife from counter",
    "insert carrot into fridge",
    "put carrot on table",
    "inventory",
]


def cpu(work: Callable[[], Any]) -> float:
    """Return CPU seconds, the smaller of two tries."""
    took = []
    for _ in range(2):
        before = time.process_time()
        work()
        took.append(time.process_time() - before)
    return round(min(took), 2)


def main() -> None:
    torch.set_num_threads(1)
    tokenizer, network = make_model("smollm").load()
    first = tokenizer(ROOM * 24)["input_ids"][:460]
    turn = tokenizer("Then you take the knife.")["input_ids"]

    def later(shared: int) -> list[int]:
        return first[:shared] + turn + first[shared : 460 - len(turn)]

    second = later(200)
    tails = [tokenizer(action)["input_ids"] for action in ACTIONS]
    prefix = Prefix(network)

    def whole() -> None:
        network(torch.tensor([second]), logits_to_keep=1)

    def next_step(shared: int) -> tuple[float, int]:
        known = Prefix(network)
        known.start(first)
        before = time.process_time()
        computed = known.start(later(shared)).computed
        return time.process_time() - before, computed

    def written(held: bool) -> int:
        writer = Writer(tokenizer, network, prefix.start(second), ends=[2], most=8)
        write_form(writer, Form("{action}", tuple(ACTIONS))) if held else writer.free(most=8)
        return writer.passes

    row: dict[str, Any] = {"prompt": len(second), "actions": len(tails)}
    with torch.inference_mode():
        row["cpu_s_whole_prompt"] = cpu(whole)
        row["known"] = []
        for shared in (100, 200, 300, 400):
            spent, computed = min(next_step(shared) for _ in range(2))
            known_row = {"shared": shared, "computed": computed, "cpu_s": round(spent, 2)}
            row["known"].append({**known_row, "prompt_tokens_a_cpu_s": round(460 / spent)})
        start = prefix.start(second)

        def tree() -> None:
            likelihoods(network, start, tails)
            start.past.crop(len(second) - start.past.get_seq_length())

        row["tokens_of_actions"] = sum(map(len, tails))
        row["cpu_s_actions_as_tree"] = cpu(tree)
        padded = torch.tensor([tail + [0] * (9 - len(tail)) for tail in tails])

        def batch() -> None:
            past = copy.deepcopy(start.past)
            past.batch_repeat_interleave(len(tails))
            network(padded, past_key_values=past)

        row["cpu_s_actions_as_batch"] = cpu(batch)
        row["passes_held"], row["passes_free"] = written(True), written(False)
    print(json.dumps(row, indent=2))


if __name__ == "__main__":
    main()
