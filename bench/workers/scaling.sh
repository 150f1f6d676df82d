#!/usr/bin/env bash
# scaling.sh - images per second of one worker and of two with one thread each, and how
# long they wait for each other's gradients. Needs examples/cifar10 (docs/guide/data.md).
#
#   bench/workers/scaling.sh [ITERATIONS [NET...]]
#   bench/workers/scaling.sh 100 cifar10_quick nin_cifar10
#
# Ways of running are taken in turns, TURNS times each (5); the median counts. OVERLAP
# lists the ways to overlap (auto). BATCH: global (the net's batch is shared out) or
# per-worker (each has that of the net, so that two have twice as much). Besides:
#   one, alone  a worker that has all cores to itself: images are prepared on another one
#   one         a worker on one core, as each of two has it
#   apart       two trainings at the same time that know nothing of each other, on a core
#               each: what this machine gives
set -euo pipefail
cd "$(dirname "$0")/../.."
iterations=${1:-100}
shift || true
[ $# -gt 0 ] || set -- cifar10_quick nin_cifar10
program=${FIRECAFFE:-build/firecaffe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
turns=${TURNS:-5}
batch=${BATCH:-global}
export OMPI_MCA_rmaps_base_oversubscribe=1
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The net's solver, without tests and snapshots.
solver() {
    grep -v -E '^(test_|max_iter|display|snapshot)' "models/$1/solver.prototxt"
    echo "max_iter: $iterations test_initialization: false snapshot_after_train: false"
    echo "snapshot_prefix: \"$work/snap\" display: 0"
}

# run NAME NET COMMAND...: a run directory per way and turn
run() {
    local dir=$work/$1.$turn net=$2
    shift 2
    "$@" "$program" train --solver "$work/$net.prototxt" --threads 1 --run_dir "$dir" \
        --quiet $flags 2>"$dir.log" || { cat "$dir.log"; exit 1; }
}

for net; do
    solver "$net" > "$work/$net.prototxt"
    for turn in $(seq "$turns"); do
        flags=''
        run one,alone "$net"
        run one "$net" taskset -c 0
        run apart,a "$net" taskset -c 0 &
        run apart,b "$net" taskset -c 1
        wait $!
        for overlap in ${OVERLAP:-auto}; do
            flags="--workers 2 --batch $batch --overlap=$overlap" run "threads,$overlap" "$net"
            flags="--batch $batch --overlap=$overlap" run "processes,$overlap" "$net" mpirun -n 2
        done
    done
    echo "$net: $iterations iterations"
    python3 - "$work" <<'END'
import glob, json, os, statistics, sys
found = {}
for path in glob.glob(sys.argv[1] + '/*.[0-9]*/run.jsonl'):
    lines = [json.loads(line) for line in open(path)]
    times = [x for x in lines if x['type'] == 'times']
    times = times[1:] or times  # without the first steps, if there are more
    n, workers = sum(x['n'] for x in times), lines[0]['workers']
    total = lambda key: sum(sum(x[key]) for x in times) / workers
    seconds = total('seconds')
    way = os.path.basename(os.path.dirname(path)).rsplit('.', 1)[0]
    found.setdefault(way, []).append(
        (lines[0]['batch'] * n / seconds, 100 * total('exposed') / seconds,
         1e3 * total('hidden') / n, 1e3 * total('data') / n, 1e3 * total('update') / n))
median = {way: [statistics.median(x) for x in zip(*all)] for way, all in found.items()}
halves = list(zip(median.pop('apart,a'), median.pop('apart,b')))
median['apart'] = [sum(halves[0])] + [sum(x) / 2 for x in halves[1:]]
print('%-18s %9s %7s %12s %9s %10s %8s %8s' % (
    'workers', 'images/s', 'times', 'times alone', 'exposed', 'hidden ms', 'data ms', 'update'))
for way, (speed, exposed, hidden, data, update) in sorted(median.items(), key=lambda m: m[0][0] != 'o'):
    print('%-18s %9.0f %7.2f %12.2f %8.1f%% %10.2f %8.2f %8.2f' %
          (way, speed, speed / median['one'][0], speed / median['one,alone'][0], exposed,
           hidden, data, update))
END
    rm -rf "$work"/*.[0-9]*
done
