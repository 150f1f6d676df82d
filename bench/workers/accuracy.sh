#!/usr/bin/env bash
# accuracy.sh - LeNet on MNIST with two workers, once for every way to sum gradients and
# every compression: accuracy at the end, and bytes that a worker sends in each of the
# last iterations.
# Needs examples/mnist (./dev demo makes it).
#
#   bench/workers/accuracy.sh DIR [FLAGS...]
#   bench/workers/accuracy.sh runs/ways --comm=ring "--compress=1bit --compress_from=0"
#
# Without flags: all of them. A run that DIR has finished is not done again, so the
# script can be interrupted. Workers count as hosts of their own: what they tell each
# other goes over MPI, not through common memory, except with --comm=onesided.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
dir=$1
shift
[ $# -gt 0 ] || set -- --comm={ps,tree,multicolor,ring,rhd,direct,hier,onesided,mpi} \
    --compress={fp16,bf16,threshold=0.001,1bit}
program=${FIRECAFFE:-build/firecaffe}
export OMPI_MCA_rmaps_base_oversubscribe=1
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for flags; do
    run=${flags%% *}
    run=$dir/${run#--}
    if ! grep -qs '"status":"done"' "$run/run.jsonl"; then
        hosts=--ranks_per_node=1
        [ "${flags%% *}" != --comm=onesided ] || hosts=
        mpirun -n 2 "$program" train --solver models/lenet/solver_demo.prototxt \
            --threads 1 --run_dir "$run" --quiet $hosts $flags
    fi
done
python3 - "$dir" <<'END'
import glob, json, os, sys
print('%-24s %9s %22s' % ('', 'accuracy', 'bytes per iteration'))
for path in sorted(glob.glob(sys.argv[1] + '/*/run.jsonl')):
    lines = [json.loads(line) for line in open(path)]
    accuracy = [x['value'] for x in lines if x['type'] == 'test' and x['name'] == 'accuracy'][-1]
    times = [x for x in lines if x['type'] == 'times'][-1]
    sent = max(times['bytes']) / times['n']
    print('%-24s %9.4f %22.0f' % (os.path.basename(os.path.dirname(path)), accuracy, sent))
END
