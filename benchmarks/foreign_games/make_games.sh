#!/bin/sh
# Make TextWorld's own games with options far from ours in the folder $1.
set -eu
make() { out=$1; shift; tw-make "$@" --output "$folder/$out.z8" --silent; }
folder=${1:?usage: make_games.sh FOLDER}
mkdir -p "$folder"
for s in 1 2; do
    make "hunt5_$s" tw-treasure_hunter --level 5 --seed "71$s"
    make "hunt15_$s" tw-treasure_hunter --level 15 --seed "72$s"
    make "hunt25_$s" tw-treasure_hunter --level 25 --seed "73$s"
    make "coin10_$s" tw-coin_collector --level 10 --seed "74$s"
    make "coin220_$s" tw-coin_collector --level 220 --seed "76$s"
    make "house_$s" custom --world-size 6 --nb-objects 15 --quest-length 6 --theme house --seed "77$s"
    make "basic_$s" custom --world-size 8 --nb-objects 12 --quest-length 5 --theme basic \
        --include-adj --seed "78$s"
done
make cookA_1 tw-cooking --recipe 2 --take 2 --cut --drop --go 6 --seed 940001
make cookB_1 tw-cooking --recipe 3 --take 3 --open --cook --cut --drop --go 9 --seed 950001
make cookC_1 tw-cooking --recipe 5 --take 5 --open --cook --cut --drop --go 12 --seed 960001
make cookD_1 tw-cooking --recipe 1 --take 1 --open --go 1 --seed 970001
make simple_1 tw-simple --rewards balanced --goal detailed --seed 981
make simpleB_1 tw-simple --rewards sparse --goal brief --seed 991
make simpleN_1 tw-simple --rewards sparse --goal none --seed 891
