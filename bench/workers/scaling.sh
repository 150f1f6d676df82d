#!/usr/bin/env bash
# scaling.sh - images per second of one worker and of two with one thread each, and how
# long they wait for each other's gradients. Needs examples/cifar10 (docs/guide/data.md).
#
#   bench/workers/scaling.sh [ITERATIONS [NET...]]
#   bench/workers/scaling.sh 100 cifar10_quick nin_cifar10
#
# Ways of running are taken in turns, TURNS times each (5), as the machine's speed changes
# from minute to minute. Images per second are all images over all seconds, as in one
# long run, and "times" compares those; in brackets what half of the turns gave, each by
# itself. OVERLAP lists the ways to overlap (auto). BATCH: global (the net's batch is
# shared out) or per-worker (each has that of the net, so that two have twice as much).
# Besides:
#   one, alone  a worker that has all cores to itself: images are prepared on another one
#   one         a worker on one core, as each of two has it; the next turn takes the other
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
        run one "$net" taskset -c $((turn % 2))
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
import collections, glob, json, os, sys
found = collections.defaultdict(dict)  # way, turn: images, seconds, exposed, hidden, ...
for path in glob.glob(sys.argv[1] + '/*.[0-9]*/run.jsonl'):
    lines = [json.loads(line) for line in open(path)]
    times = [x for x in lines if x['type'] == 'times']
    times = times[1:] or times  # without the first steps, if there are more
    n, workers = sum(x['n'] for x in times), lines[0]['workers']
    total = lambda key: sum(sum(x[key]) for x in times) / workers
    way, turn = os.path.basename(os.path.dirname(path)).rsplit('.', 1)
    found[way][turn] = [lines[0]['batch'] * n, *map(
        total, ('seconds', 'exposed', 'hidden', 'data', 'update')), n]
a, b = found.pop('apart,a'), found.pop('apart,b')
found['apart'] = {t: [2 * a[t][0]] + [(x + y) / 2 for x, y in zip(a[t][1:], b[t][1:])]
                  for t in a}

def speed(way, turns):
    images, seconds = (sum(found[way][t][i] for t in turns) for i in (0, 1))
    return images / seconds

def times(way, base):
    each = sorted(speed(way, [t]) / speed(base, [t]) for t in found[base])
    return '%.2f (%.2f ... %.2f)' % (speed(way, found[way]) / speed(base, found[base]),
                                     each[len(each) // 4], each[-1 - len(each) // 4])

print('%-16s %9s  %-22s %-22s %8s %10s %8s %7s' % ('workers', 'images/s', 'times one',
      'times one, alone', 'exposed', 'hidden ms', 'data ms', 'update'))
for way in sorted(found, key=lambda way: way[0] != 'o'):
    _, seconds, exposed, *parts, n = map(sum, zip(*found[way].values()))
    print('%-16s %9.0f  %-22s %-22s %7.1f%% %10.2f %8.2f %7.2f' % (
        way, speed(way, found[way]), times(way, 'one'), times(way, 'one,alone'),
        100 * exposed / seconds, *(1e3 * x / n for x in parts)))
END
    rm -rf "$work"/*.[0-9]*
done
