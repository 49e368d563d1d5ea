#!/bin/sh
# Play SayCan and CALM by their rules beside random, with and without listed actions.
#
# Makes rivals.json; run it in the root of the repository. If interrupted, run it again.
set -e
export OMP_NUM_THREADS=1
LISTED="Cooking?level=rl-1&split=valid"

gym-memory compare -e "$LISTED" -m none -m arigraph -p saycan -p calm -p random --seeds 0:20 \
  --workers "${WORKERS:-1}" --out results/rivals/listed
gym-memory compare -e "$LISTED&valid_actions=false" -m none -p calm -p random --seeds 0:20 \
  --workers "${WORKERS:-1}" --out results/rivals/hidden
python - <<'END'
import json
from pathlib import Path

found = {}
for run in ("listed", "hidden"):
    for line in Path(f"results/rivals/{run}/episodes.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        assert not row["failed"], row
        key = row["env"], row["memory"], row["policy"]
        found.setdefault(key, {})[row["seed"]] = row["normalized"]
rows = [
    {**dict(zip(("env", "memory", "policy"), key)), "normalized": [x for _, x in sorted(by.items())]}
    for key, by in found.items()
]
lines = ",\n".join(map(json.dumps, rows))
Path("benchmarks/agents/rivals.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
END
