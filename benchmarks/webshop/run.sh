#!/bin/sh
# Play the shopper with several memories on the 100 test requests.
#
# The synthetic catalogue, at the usual budget and with room for everything; what random play and
# the
# solution come to; speed and quality. Run it in the root of the repository.
set -e
export OMP_NUM_THREADS=1
here=benchmarks/webshop
workers="${WORKERS:-2}"
gym-memory compare -e WebShop -m none -m shuffled -m rag -m history -m summary -m stma -m arigraph \
  -m oracle -p shopper --seeds 0:100 --workers "$workers" --out results/webshop
gym-memory compare -e WebShop -m history -m arigraph -p shopper --seeds 0:100 --budget 100000 \
  --workers "$workers" --out results/webshop-whole
gym-memory compare -e WebShop -m none -p random -p walkthrough --seeds 0:100 \
  --workers "$workers" --out results/webshop-bounds
for run in webshop webshop-whole webshop-bounds; do
  python benchmarks/keep.py "results/$run" "$here"
done
python "$here/speed.py"
gym-memory quality -e WebShop -p shopper -p random --seeds 0:100 --out results/webshop-quality
python benchmarks/keep.py results/webshop-quality "$here" --name quality
python "$here/ldm2.py"
