#!/usr/bin/env bash
# starts.sh - runs a `firecaffe bench allreduce` several times and prints, for each size
# and algorithm, the median over the starts; of the ratio to the library, and of how far
# it is from what was predicted, also the least and the most.
#
#   STARTS=5 bench/collectives/starts.sh COMMAND...
#   bench/collectives/starts.sh mpirun -np 2 build/firecaffe bench allreduce --bytes 30M
#   bench/collectives/starts.sh bench/collectives/hosts.sh 4 200mbit \
#       $PWD/build/firecaffe bench allreduce --bytes 10M
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
starts=${STARTS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_rmaps_base_oversubscribe=1
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for i in $(seq "$starts"); do
    "$@" > "$work/$i" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
done
head -1 "$work/1" | sed "s/\$/ in each of $starts starts/"
python3 - "$work"/[0-9]* <<'END_PYTHON'
import statistics, sys
rows = {}
for path in sys.argv[1:]:
    for line in open(path).readlines()[3:]:
        ms, _, _, ratio, *predicted = line[46:].split()
        algo = line[14:46].split(':')[0] if line[14:].startswith('auto') else line[14:46].strip()
        rows.setdefault((int(line[:12]), algo), []).append(
            (float(ms), float(ratio), *(float(x.rstrip('%')) for x in predicted[1:])))

def middle(values, form):
    return (form + ' (' + form + ' ... ' + form + ')') % (
        statistics.median(values), min(values), max(values))

print('%12s  %-28s %10s  %-26s %s' % ('bytes', 'algorithm', 'ms', 'x library', '% off'))
for (size, algo), found in rows.items():
    ms, ratio, *off = zip(*found)
    print('%12d  %-28s %10.2f  %-26s %s' % (size, algo, statistics.median(ms),
        middle(ratio, '%.2f'), middle(off[0], '%+.1f') if off else ''))
END_PYTHON
