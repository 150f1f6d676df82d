#!/usr/bin/env bash
# check_simgrid.sh: the exchange engine on a few simulated workers, if SimGrid is here. FIRE is
# the program, DIR a directory for what is built and written.
set -euo pipefail
command -v smpicc >/dev/null || { echo "skipped: no SimGrid (libsimgrid-dev)"; exit 77; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf "$DIR/run" "$DIR/bad"
export NETS=lenet BATCH=64
export COMMS="ps tree multicolor ring rhd direct" OVERLAPS="off thread"
WORKERS="1 2" bench/sim/run "$DIR/run"
WORKERS="1 2 4" bench/sim/run "$DIR/run" >"$DIR/more" # goes on from there
[[ $(wc -l <"$DIR/more") == 12 ]]
[[ $(grep -c '"type":"step"' "$DIR/run/run.jsonl") == 25 ]] # one alone, 24 together
[[ $(grep -c '"type":"end","time":0,"status":"done"' "$DIR/run/run.jsonl") == 1 ]]
bench/sim/speedups "$DIR/run/run.jsonl" | grep -Eq '^\| lenet \| 64 \| 4 \| [0-9.]+ \|( [0-9.]+ / [0-9.]+ \|){6}$'
"$FIRE" report "$DIR/run" -o "$DIR/run.html"

# What fails in there is a failure here, although SimGrid says nothing.
if WORKERS=2 COMMS=oak OVERLAPS=off bench/sim/run "$DIR/bad" 2>/dev/null; then
    echo "an algorithm that does not exist was run"
    exit 1
fi
grep -q '"status":"failed"' "$DIR/bad/run.jsonl"
