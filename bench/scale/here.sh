#!/usr/bin/env bash
# here.sh - does `plan` predict this machine? Measures it, times the layers of two nets on
# MNIST, predicts steps with 2 and 4 workers, then trains and compares.
#
#   bench/scale/here.sh [OUT_DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-build/here} fire=$PWD/build/firecaffe
mpi=(mpirun --allow-run-as-root --oversubscribe --bind-to none)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$out"
db=examples/mnist/mnist_train_lmdb
[[ -d $db ]] || "$fire" convert mnist data/mnist/train-images-idx3-ubyte.gz \
    data/mnist/train-labels-idx1-ubyte.gz $db

# Two layers of 2048: many gradients (23 MB) and little computing.
cat >"$out/wide.prototxt" <<NET
name: "wide"
layer {
  name: "data" type: "Data" top: "data" top: "label"
  transform_param { scale: 0.0039 }
  data_param { source: "$db" batch_size: 64 backend: LMDB }
}
$(for i in 1 2; do cat <<LAYER
layer {
  name: "ip$i" type: "InnerProduct" bottom: "$([[ $i == 1 ]] && echo data || echo ip1)" top: "ip$i"
  inner_product_param { num_output: 2048 weight_filler { type: "xavier" } }
}
layer { name: "relu$i" type: "ReLU" bottom: "ip$i" top: "ip$i" }
LAYER
done)
layer {
  name: "ip3" type: "InnerProduct" bottom: "ip2" top: "ip3"
  inner_product_param { num_output: 10 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip3" bottom: "label" top: "loss" }
NET

"${mpi[@]}" -np 2 "$fire" plan --machine measure --threads 1 --save "$out/machine.json" --quiet
printf '%-6s %6s %8s %13s %12s %7s\n' net batch workers 'predicted ms' 'measured ms' ratio
compare() { # compare NET MODEL BATCH ITERATIONS
    local net=$1 model=$2 batch=$3 iterations=$4 workers predicted measured
    sed "0,/batch_size: [0-9]*/s//batch_size: $batch/" "$model" >"$out/$net.net.prototxt"
    cat >"$out/$net.solver.prototxt" <<SOLVER
net: "$out/$net.net.prototxt"
base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 weight_decay: 0.0005
max_iter: $iterations display: 0 solver_mode: CPU random_seed: 1
snapshot_prefix: "s" snapshot_after_train: false
SOLVER
    for workers in 2 4; do
        "${mpi[@]}" -np $workers "$fire" time --model "$out/$net.net.prototxt" --iterations 40 \
            --json --batch $((batch / workers)) --quiet >"$out/$net.times.json"
        "${mpi[@]}" -np $workers "$fire" train --solver "$out/$net.solver.prototxt" --comm hier \
            --run_dir "$out/$net-$workers" --quiet
        predicted=$("$fire" plan --model "$out/$net.net.prototxt" --machine "$out/machine.json" \
            --times "$out/$net.times.json" --batch "$batch" --workers $workers --comm hier --json 2>/dev/null |
            sed -n 's/.*"step_s": *\([0-9.e-]*\).*/\1/p')
        measured=$(sed -n 's/.*"type":"times".*"n":\([0-9]*\),"seconds":\[\([0-9.e-]*\).*/\1 \2/p' \
            "$out/$net-$workers/run.jsonl" | awk '{n += $1; s += $2} END {print s / n}')
        awk -v net="$net" -v b="$batch" -v w=$workers -v p="$predicted" -v m="$measured" \
            'BEGIN {printf "%-6s %6d %8d %13.2f %12.2f %7.2f\n", net, b, w, 1e3 * p, 1e3 * m, p / m}'
    done
}
compare lenet models/lenet/train_val.prototxt 64 300
compare lenet models/lenet/train_val.prototxt 256 100
compare wide "$out/wide.prototxt" 64 100
compare wide "$out/wide.prototxt" 256 60
