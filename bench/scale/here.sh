#!/usr/bin/env bash
# here.sh - does `plan` predict this machine? Measures it, times the layers of two nets on
# MNIST, predicts steps with 2 and 4 workers and trains, in turns, because the speed of a shared
# machine changes from second to second; medians of ROUNDS (5) count.
#
#   bench/scale/here.sh [OUT_DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-build/here} rounds=${ROUNDS:-5} fire=$PWD/build/firecaffe
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

median() { sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

write_net() { # write_net NET MODEL BATCH ITERATIONS
    sed "0,/batch_size: [0-9]*/s//batch_size: $3/" "$2" >"$out/$1.net.prototxt"
    cat >"$out/$1.solver.prototxt" <<SOLVER
net: "$out/$1.net.prototxt"
base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 weight_decay: 0.0005
max_iter: $4 display: 0 solver_mode: CPU random_seed: 1
snapshot_prefix: "s" snapshot_after_train: false
SOLVER
}

predict() { # predict NET BATCH WORKERS: seconds
    "${mpi[@]}" -np "$3" "$fire" time --model "$out/$1.net.prototxt" --iterations 20 \
        --json --batch $(($2 / $3)) --quiet >"$out/$1.times.json"
    "$fire" plan --model "$out/$1.net.prototxt" --machine "$out/machine.json" \
        --times "$out/$1.times.json" --batch "$2" --workers "$3" --comm hier --json 2>/dev/null |
        sed -n 's/.*"step_s": *\([0-9.e-]*\).*/\1/p'
}

train() { # train NET WORKERS: seconds, without the first line of times, that of a cold start
    "${mpi[@]}" -np "$2" "$fire" train --solver "$out/$1.solver.prototxt" --comm hier \
        --run_dir "$out/$1-$2" --quiet
    sed -n 's/.*"type":"times".*"n":\([0-9]*\),"seconds":\[\([0-9.e-]*\).*/\1 \2/p' \
        "$out/$1-$2/run.jsonl" | awk 'NR > 1 {n += $1; s += $2} END {print s / n}'
}

measure_machine() {
    "${mpi[@]}" -np 2 "$fire" plan --machine measure --threads 1 --save "$out/machine.json" --quiet
}

# compare NET MODEL BATCH: a prediction and a measurement more of each, over about three seconds
compare() {
    local workers name seconds
    for workers in 2 4; do
        name=$out/$1-$3-$workers
        write_net "$@" 1
        seconds=$(predict "$1" "$3" $workers)
        echo "$seconds" >>"$name.predicted"
        write_net "$@" "$(awk -v s="$seconds" 'BEGIN {print int(3 / s)}')"
        train "$1" $workers >>"$name.measured"
    done
}

print_row() { # print_row NET BATCH WORKERS
    local name=$out/$1-$2-$3
    awk -v net="$1" -v b="$2" -v w="$3" -v p="$(median <"$name.predicted")" \
        -v m="$(median <"$name.measured")" -v all="$(sort -g "$name.measured" | sed -n '1p;$p' | xargs)" \
        'BEGIN {
            split(all, range, " ")
            printf "%-6s %6d %8d %13.2f %12.2f %7.2f %9.2f to %.2f\n", net, b, w, 1e3 * p, 1e3 * m, p / m,
                   1e3 * range[1], 1e3 * range[2]
        }'
}

rm -f "$out"/*.predicted "$out"/*.measured
for ((round = 0; round < rounds; round++)); do
    measure_machine
    for batch in 64 256; do
        compare lenet models/lenet/train_val.prototxt $batch
        compare wide "$out/wide.prototxt" $batch
    done
done
printf '%-6s %6s %8s %13s %12s %7s   %s\n' net batch workers 'predicted ms' 'measured ms' ratio 'measured in a round'
for net in lenet wide; do
    for batch in 64 256; do
        for workers in 2 4; do print_row $net $batch $workers; done
    done
done
