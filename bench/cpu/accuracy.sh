#!/usr/bin/env bash
# accuracy.sh [iterations] [seeds...]: test accuracy of a net of 3x3 windows on MNIST, trained
# in float32 and in bf16 from the same seeds, one thread. Run it in the repository's root.
set -eu
iterations=${1:-1000}
shift || true
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for seed in ${*:-1 2 3}; do
    cat > "$tmp/solver.prototxt" <<END
net: "bench/cpu/mnist_3x3.prototxt"
test_iter: 100 test_interval: $iterations test_initialization: false
base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 weight_decay: 0.0005
max_iter: $iterations display: 0 snapshot_after_train: false
snapshot_prefix: "$tmp/net" random_seed: $seed solver_mode: CPU
END
    for precision in fp32 bf16; do
        "${FIRECAFFE:-build/firecaffe}" train --solver "$tmp/solver.prototxt" --threads 1 \
            --precision $precision > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
        echo "seed $seed $precision $(grep -o 'accuracy = [0-9.]*' "$tmp/log" | tail -1)"
    done
done
