#!/bin/sh
# Train one player and play it once on test games.
#
# It trains on the first 20 (GAMES) training games of a level, keeps the best player on the 20 valid
# games and plays it on test games (SPLIT, SEEDS), and on those of other levels (ALSO). A
# level is one of Cooking, where UNHINTED=1 leaves the rules hint out and pairs of food and
# preparation of test games are in no training game, or hunt-easy, hunt-hard, ... of TreasureHunt.
#
#   sh benchmarks/rl/one.sh BASELINE LEVEL MEMORY SEED [options of `gym-memory train`]
#
# A finished run is skipped and an interrupted one goes on. Checkpoints stay in results/rl; the run
# itself goes into runs.jsonl.gz, its episodes into episodes.jsonl.gz. One sweep at a time,
# please. KIND names the run where BASELINE says too
# little; ONLY, if set, skips all runs whose names do not contain it.
set -e
export OMP_NUM_THREADS=1
gym_memory="${GYM_MEMORY:-gym-memory}"
baseline="$1" level="$2" memory="$3" seed="$4"
shift 4
name="${KIND:-$baseline}-$level-$memory-$seed"
case "$name" in *"${ONLY:-}"*) ;; *) exit 0 ;; esac
kept=benchmarks/rl
case "$(gzip -dcf $kept/runs.jsonl.gz)" in *"{\"run\": \"$name\","*) exit 0 ;; esac
folder="results/rl/$name"
spec() { # LEVEL
  case $1 in
    hunt-*) echo "TreasureHunt?level=${1#hunt-}" ;;
    *) echo "Cooking?gata_actions=true${UNHINTED:+&hints=false}&level=$1" ;;
  esac
}
echo "$name"
$gym_memory train "$baseline" -e "$(spec "$level")" -m "$memory" \
  --seed "$seed" --games "${GAMES:-20}" --stop-at 1.0 --out "$folder" "$@"
for played in $level ${ALSO:-}; do
  $gym_memory run -e "$(spec "$played")&split=${SPLIT:-test}&max_steps=100" -m "$memory" \
    -p "$baseline" --checkpoint "$folder" --seeds "${SEEDS:-0:20}" --workers 1 --out "$folder/$played"
done
keep() { python benchmarks/keep.py "$@"; }
for played in ${ALSO:-}; do keep "$folder/$played" $kept --name "$name/$played" --also episodes; done
keep "$folder/$level" $kept --name "$name" --also episodes
keep "$folder" $kept --name "$name" # last: it says "finished"
