#!/bin/sh
# Play ScienceWorld: walkthrough, quality or learner.
#
# Run it in the root of the repository; if interrupted, run it again.
#
#   sh benchmarks/scienceworld/run.sh walkthrough   the engine's solution on the first three test
#       variations of all 30 tasks (90 episodes): every task can be won with the full score
#   sh benchmarks/scienceworld/run.sh quality       the graph on ten tasks, one of each topic of the
#       paper, two test variations each: the fourth and the fifth, which nobody looked at while the
#       rules were written. One random step in five is an odd command.
#   sh benchmarks/scienceworld/run.sh learner       the imitator on the 164 test variations of 18
#       tasks that CLIN's paper plays, with four memories. SEEDS=0:54 plays the first three
#       variations of each task; other seeds need another RUN.
set -e
export OMP_NUM_THREADS=1
out=benchmarks/scienceworld
case ${1:?walkthrough, quality or learner} in
walkthrough)
  gym-memory compare -e "ScienceWorld?max_steps=500&valid_actions=false" -m none -p walkthrough \
    --seeds 0:90 --workers "${WORKERS:-2}" --out results/scienceworld/walkthrough
  python benchmarks/keep.py results/scienceworld/walkthrough $out
  ;;
quality)
  random= walkthrough=
  for task in boil use-thermometer test-conductivity find-living-thing grow-fruit chemistry-mix \
    lifespan-longest-lived identify-life-stages-1 inclined-plane-determine-angle \
    mendelian-genetics-known-plant; do
    random="$random -e ScienceWorld?task=$task&max_steps=50"
    walkthrough="$walkthrough -e ScienceWorld?task=$task&max_steps=200&valid_actions=false"
  done
  # shellcheck disable=SC2086 - one word an environment
  gym-memory quality $random --policy random --seeds 3:5 --out results/scienceworld/random
  # shellcheck disable=SC2086
  gym-memory quality $walkthrough --policy walkthrough --seeds 3:5 --out results/scienceworld/solved
  python benchmarks/keep.py results/scienceworld/random $out
  python benchmarks/keep.py results/scienceworld/solved $out --name walkthrough
  ;;
learner)
  run=${RUN:-results/scienceworld/learner}
  gym-memory compare -e "ScienceWorld?split=clin&max_steps=150&valid_actions=false" \
    -m none -m history -m arigraph -m clin \
    -p "imitator?checkpoint=shipped" \
    --seeds "${SEEDS:-0:164}" --workers "${WORKERS:-1}" --out "$run"
  python benchmarks/keep.py "$run" $out --name learner
  gzip -9nc "$run/episodes.jsonl" > $out/learner/episodes.jsonl.gz
  ;;
*) echo "walkthrough, quality or learner, not $1" >&2; exit 2 ;;
esac
