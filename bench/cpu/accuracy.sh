#!/usr/bin/env bash
# accuracy.sh SOLVER ITERATIONS [seeds...]: compare the test accuracy after training in
# float32 and in bf16 from the same seeds, with one thread. The steps of the learning rate
# are scaled to ITERATIONS. Run it in the repository's root.
set -eu
solver=$1 iterations=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for seed in ${*:-1 2 3}; do
    awk -v n="$iterations" '
        /^max_iter:/ { all = $2 }
        /^stepvalue:/ { step[++steps] = $2; next }
        !/^(max_iter|test_interval|display|snapshot.*|random_seed):/
        END { for (i = 1; i <= steps; i++) print "stepvalue:", int(step[i] * n / all) }
    ' "$solver" > "$tmp/solver.prototxt"
    cat >> "$tmp/solver.prototxt" <<END
max_iter: $iterations test_interval: $iterations test_initialization: false display: 0
snapshot_after_train: false snapshot_prefix: "$tmp/net" random_seed: $seed
END
    for precision in fp32 bf16; do
        "${FIRECAFFE:-build/firecaffe}" train --solver "$tmp/solver.prototxt" --threads 1 \
            --precision $precision > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
        echo "seed $seed $precision $(grep -o 'accuracy = [0-9.]*' "$tmp/log" | tail -1)"
    done
done
