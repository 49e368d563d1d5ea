#!/bin/sh
# Play the papers' planning agents over real HTTP against the scripted server.
#
# Ten games of the test split a row, the papers' step limits. Makes report.md; run it in the root
# of the repository.
# If interrupted, run it again.
set -e
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8765/v1
gym-memory serve-scripted --port 8765 &
trap 'kill $!' EXIT
sleep 3

play() { # folder, then the arguments of gym-memory compare
  folder=$1
  shift
  gym-memory compare "$@" --seeds 0:10 --workers "${WORKERS:-2}" --concurrency 8 \
    --out "results/agents/$folder"
  python benchmarks/keep.py "results/agents/$folder" benchmarks/agents
}

play stma -e "Cooking?level=stma-2" -p stma -p "stma?history=1" \
  -m none -m shuffled -m history -m arigraph -m stma
play ariadne -e "TreasureHunt?level=easy" -e "TreasureHunt?level=hard" -e "Cooking?level=medium" \
  -p ariadne -m none -m shuffled -m history -m arigraph
play ariadne-without-history -e "TreasureHunt?level=easy" -e "TreasureHunt?level=hard" \
  -e "Cooking?level=medium" -p "ariadne?history=0" -m none -m arigraph
play transcript -e "Cooking?level=stma-2" \
  -p react -p "react?history=0" -p plain -p "plain?history=0" -m none -m arigraph
play presets -e "Cooking?level=medium" --preset "ariadne?variant=ours" --preset "stma?variant=ours" --preset react --preset plain

# The ablations: AriGraph's (its Figure 3) on the harder games, STMA's (its Table 2).
play ablations -e "TreasureHunt?level=hard" -e "Cooking?level=hard" -p ariadne \
  -m arigraph -m "arigraph?exploration=false" -m "arigraph?episodic=false"
gym-memory paper stma-table2 --seeds 0:2 --workers "${WORKERS:-2}" --concurrency 8 \
  --out results/agents/stma-table2 --json > benchmarks/agents/stma-table2.jsonl
