#!/usr/bin/env bash
# convergence.sh - does a larger batch learn as well? LeNet on MNIST with batches of 256 and
# 1024 images, the learning rate scaled with the batch, the same number of epochs; drawn
# over each other as in figure 2 of the FireCaffe supplement.
#
#   bench/report/convergence.sh [OUT_DIR] [EPOCHS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-build/convergence} epochs=${2:-6} images=60000
mkdir -p "$out"

for part in train t10k; do
    db=examples/mnist/mnist_${part/t10k/test}_lmdb
    [[ -d $db ]] || build/firecaffe convert mnist data/mnist/$part-images-idx3-ubyte.gz \
        data/mnist/$part-labels-idx1-ubyte.gz "$db"
done

for batch in 256 1024; do
    iterations=$((epochs * images / batch))
    sed "0,/batch_size: [0-9]*/s//batch_size: $batch/" models/lenet/train_val.prototxt >"$out/net-$batch.prototxt"
    cat >"$out/solver-$batch.prototxt" <<SOLVER
net: "$out/net-$batch.prototxt"
base_lr: $(awk "BEGIN {print 0.02 * $batch / 256}")
lr_policy: "poly"
power: 1
momentum: 0.9
weight_decay: 0.0005
max_iter: $iterations
display: $((iterations / 40))
test_iter: 100
test_interval: $((iterations / (2 * epochs)))
snapshot_prefix: "lenet"
random_seed: 1
solver_mode: CPU
fire { shuffle: true }
SOLVER
    build/firecaffe train --solver "$out/solver-$batch.prototxt" --run_dir "$out/batch-$batch" --quiet
done
build/firecaffe report "$out/batch-256" "$out/batch-1024" -o "$out/convergence.html"
