#!/bin/sh
# Examine memories on what was seen, in known and new wordings and by the players' plans.
#
# Makes
# exam.md with its pictures and exam.json.gz; games.md has the games of other engines. Every
# question
# with its answers stays in results/exam. Usage, from the root of the repository:
#
#   benchmarks/exam/run.sh [SEEDS]              0:8; about 15 CPU minutes
#   ONLY=names benchmarks/exam/run.sh 0:4       names in part and everyday wording alone; 4 CPU minutes
#   ONLY=games benchmarks/exam/run.sh 0:2       the games of other engines alone
set -eu
gym_memory="${GYM_MEMORY:-gym-memory}"
seeds="${1:-0:8}"
out=results/exam here=benchmarks/exam
memories="-m arigraph -m none -m history -m present -m summary -m stma -m rag -m simulacra -m clin
  -m reflexion -m ldm2 -m shuffled -m noise -m oracle"

if [ "${ONLY:-}" = names ]; then
  $gym_memory exam \
      --env "TreasureHunt?level=easy&split=test" --env "Cooking?level=medium&split=test" \
      --env "Cooking?level=stma-2&split=test" --env "Cleaning?split=test" \
      --policy planner --policy random -m arigraph -m "stma?size=16000" -m "summary?size=16000" \
      -m rag -m history --budgets 500 --lengths 50,150 --wordings unseen,partial,everyday \
      --seeds "$seeds" --per-kind 2 --out "$out/names"
  gzip -9nc "$out/names/exam.json" > $here/names.json.gz
  exit
fi

# shellcheck disable=SC2086 # the memories are words
[ "${ONLY:-}" = games ] || $gym_memory exam \
    --env "TreasureHunt?level=easy&split=test" \
    --env "Cooking?level=medium&split=test" \
    --env "Cooking?level=stma-2&split=test" \
    --env "Cleaning?split=test" \
    --policy planner --policy random $memories \
    --budgets 200,500,1000,2000 --lengths 50,150,500 \
    --seeds "$seeds" --per-kind 3 --out "$out"

for file in exam.md exam_age.svg exam_budget.svg; do
  [ ! -f "$out/$file" ] || cp "$out/$file" $here/
done
[ ! -f "$out/exam.json" ] || gzip -9nc "$out/exam.json" > $here/exam.json.gz

mkdir -p "$out"
: > "$out/games.md"
game() { # NAME POLICY ENVIRONMENTS...
  name="$1" policy="$2"
  shift 2
  $gym_memory exam "$@" --policy "$policy" -m arigraph -m none -m history -m present -m summary \
      -m stma -m rag -m simulacra --budgets 500,1000 --lengths 15,50,150 \
      --seeds "$seeds" --per-kind 3 --out "$out/games/$name"
  sed -e "1s/.*/# $name/" -e "/^!\[/d" "$out/games/$name/exam.md" >> "$out/games.md"
}
game alfworld searcher --env ALFWorld
game scienceworld walkthrough --env "ScienceWorld?task=boil" --env "ScienceWorld?task=power-component" \
    --env "ScienceWorld?task=find-animal"
game nethack descender --env NetHack
game webshop shopper --env WebShop
game questions reader --env MultiHopQA
PYTHONPATH="benchmarks/exam:${PYTHONPATH:-}" game foreign random --env "Foreign?entry=foreign:cooking&max_score=1.0"
# By the plans of a language agent, which the scripted server writes.
export GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8765/v1
$gym_memory serve-scripted --port 8765 &
trap 'kill $!' EXIT
sleep 5
game ariadne "ariadne?history=0" --wordings focus --env "TreasureHunt?level=hard&split=test" \
    --env "Cooking?level=medium&split=test" --env "Cooking?level=hard&split=test" --env "Cleaning?split=test"
cp "$out/games.md" $here/
