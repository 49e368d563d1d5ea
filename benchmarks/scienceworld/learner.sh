#!/bin/sh
# The imitator on the 164 test variations of 18 tasks that CLIN's paper plays, with four memories.
# It learnt from solutions of train variations (learner/demonstrations.jsonl.gz, made by
# demonstrate.py); nothing was chosen by test variations. SEEDS=0:54 plays the first three variations
# of each task. A run that was stopped goes on; other seeds need another RUN. Run it in the root of
# the repository.
set -e
export OMP_NUM_THREADS=1
out=benchmarks/scienceworld/learner
run=${RUN:-results/scienceworld-learner}
gym-memory compare -e "ScienceWorld?split=clin&max_steps=150&valid_actions=false" \
  -m none -m history -m arigraph -m clin -p "imitator?checkpoint=$out/demonstrations.jsonl.gz" \
  --seeds "${SEEDS:-0:164}" --workers "${WORKERS:-1}" --out "$run"
cp "$run/report.md" "$run/summary.json" "$run/config.json" "$run/environment.json" "$out/"
cp "$run/"*.png "$out/"
gzip -9 -n -c "$run/episodes.jsonl" > "$out/episodes.jsonl.gz"
