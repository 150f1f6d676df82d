#!/usr/bin/env bash
# lanes.sh - seconds of an iteration of two workers whose lanes do not divide, beside those
# of two workers that all have as many lanes as the one with the most, ceil(L/2).
#
#   [RUN="chrt -r 1"] bench/workers/lanes.sh [ITERATIONS [LANES...]]
#   bench/workers/lanes.sh 20 3 5 7 9 11
#
# cifar10_quick's net on random images, 8 to a lane, a core for each worker. Both ways are
# taken in turns, TURNS times (5), as the machine's speed changes; the median of the
# iterations of all turns counts. RUN is put before each command.
set -euo pipefail
cd "$(dirname "$0")/../.."
iterations=${1:-20}
shift || true
[ $# -gt 0 ] || set -- 3 5 7 9 11
program=$PWD/${FIRECAFFE:-build/firecaffe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME LANES: an iteration's seconds are added to NAME.
run() {
    sed "s/dim: 8 /dim: $((8 * $2)) /" tests/mpi/quick.prototxt > "$work/net.prototxt"
    echo "net: '$work/net.prototxt' base_lr: 0.001 lr_policy: 'fixed' max_iter: $iterations
          display: 1 snapshot_after_train: false snapshot_prefix: '$work/snap'" \
        > "$work/solver.prototxt"
    ${RUN:-} "$program" train --solver "$work/solver.prototxt" --workers 2 --threads 1 \
        --lanes "$2" 2>&1 | sed -n 's/.*iter\/s, \([0-9.e-]*\)s\/1 iters.*/\1/p' |
        tail -n +4 >> "$work/$1"
}

median() { sort -g "$work/$1" | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }

echo "lanes  shared as  seconds  ceil lanes each  ratio"
for lanes; do
    more=$(((lanes + 1) / 2))
    for _ in $(seq "${TURNS:-5}"); do
        run uneven "$lanes"
        run even $((2 * more))
    done
    awk -v l="$lanes" -v m="$more" -v a="$(median uneven)" -v b="$(median even)" 'BEGIN {
        printf "%5d  %9s %8.4f %16.4f %6.3f\n", l, m ", " l - m, a, b, a / b }'
    rm "$work"/uneven "$work"/even
done
