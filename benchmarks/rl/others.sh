#!/bin/sh
# Train what the main table leaves out: cloning, other learners, levels and memories.
#
# One training each unless a loop over seeds says more, 20 training games; see one.sh. If
# interrupted,
# run it again; ONLY=gata sh benchmarks/rl/others.sh runs a part.
set -e
run() { sh benchmarks/rl/one.sh "$@"; }

# Behaviour cloning (DAgger: the planner labels what the learner visits), from step 1,500 on DRRN's
# own updates; the first measurement comes after 1,000 steps of those.
for seed in 0 1 2; do
  for level in rl-1 rl-2 rl-3 rl-4; do
    KIND=bc+rl run bc "$level" arigraph "$seed" --steps 5000 --evaluate-every 2500 \
      --set beta_steps=1500 --set rl_after=1500
  done
done

# Cloning alone.
run bc rl-1 arigraph 0 --steps 3000 --valid-games 10 --evaluate-every 1000 --set beta_steps=2000
for level in rl-3 rl-4; do
  run bc "$level" arigraph 0 --steps 5000 --evaluate-every 2500 --set beta_steps=4000
done

# DRRN on levels where the planner needs no memory, and with other memories on one where it does.
for level in rl-1 rl-2; do
  for memory in arigraph history none; do run drrn "$level" "$memory" 0 --steps 12500; done
done
for memory in history oracle belief; do run drrn rl-3 "$memory" 0 --steps 12500; done

# Whether DRRN without a memory only needs longer.
KIND=drrn-30k run drrn rl-2 none 0 --steps 30000

# The other learners.
for seed in 0 1 2; do
  for level in rl-1 rl-3; do
    run a2c "$level" arigraph "$seed" --steps 12000 --evaluate-every 2000
  done
  for memory in arigraph shuffled none oracle; do
    run gata rl-1 "$memory" "$seed" --steps 12000 --evaluate-every 4000 --set epsilon_steps=4000
    run gata rl-3 "$memory" "$seed" --steps 8000 --evaluate-every 2000 --set epsilon_steps=4000
  done
done
