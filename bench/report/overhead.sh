#!/usr/bin/env bash
# What run log, trace and events cost a training of LeNet on MNIST (docs/bench/run-log.md).
#   bench/report/overhead.sh [PAIRS]     on a machine that does nothing else
set -eu
cd "$(dirname "$0")/../.."
pairs=${1:-2000} build=${BUILD:-build}
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
ninja -C "$build" firecaffe bench_overhead >&2
fire=$PWD/$build/firecaffe bench=$PWD/$build/bench_overhead data=$PWD/data/mnist
sed 's#examples/mnist/mnist_[a-z]*_lmdb#mnist#' models/lenet/train_val.prototxt >"$out/net.prototxt"
cd "$out"
"$fire" convert mnist "$data"/train-images-idx3-ubyte.gz "$data"/train-labels-idx1-ubyte.gz mnist --quiet >&2
cat >solver.prototxt <<'END'
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 weight_decay: 0.0005
display: 100 max_iter: 1000000 random_seed: 1
END
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$bench" solver.prototxt run "$pairs" 2>/dev/null
