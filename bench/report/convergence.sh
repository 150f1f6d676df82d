#!/usr/bin/env bash
# convergence.sh - does a larger batch learn as well? LeNet on MNIST for the same number of
# epochs with a batch of 256, with 1024 and a learning rate scaled as the batch, and with 1024
# and the rate of 256; drawn over each other as in figure 2 of the FireCaffe supplement.
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

train() { # train NAME BATCH LEARNING_RATE
    local iterations=$((epochs * images / $2))
    sed "0,/batch_size: [0-9]*/s//batch_size: $2/" models/lenet/train_val.prototxt >"$out/net-$2.prototxt"
    cat >"$out/$1.prototxt" <<SOLVER
net: "$out/net-$2.prototxt"
base_lr: $3
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
    build/firecaffe train --solver "$out/$1.prototxt" --run_dir "$out/$1" --quiet
    printf '%-22s %s\n' "$1" "$(grep '"name":"accuracy"' "$out/$1/run.jsonl" | tail -n 1)"
}

train batch-256 256 0.01
train batch-1024 1024 0.04
train batch-1024-same-rate 1024 0.01
build/firecaffe report "$out"/batch-{256,1024,1024-same-rate} -o "$out/convergence.html"
