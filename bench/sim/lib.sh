# lib.sh - what the scripts of bench/sim share: building for SimGrid, platforms, one run.
# Sourced from the root of the repository; $dir is where everything goes.
# shellcheck shell=bash
config=(--log=root.thres:error --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1
        --cfg=network/crosstraffic:0 --cfg=smpi/simulate-computation:no
        --cfg=smpi/test:0 --cfg=smpi/host-speed:1Tf
        --cfg=smpi/auto-shared-malloc-thresh:65536 --cfg=smpi/shared-malloc-blocksize:33554432)

build_step() { # the exchange engine and the collectives themselves, with SimGrid's MPI
    mkdir -p "$dir"
    if [[ -e $dir/step && -z $(find src/base src/comm src/train src/device/cpu bench/sim \
            -newer "$dir/step" -name '*.[ch]') ]]; then
        return 0
    fi
    smpicc -O2 -D_GNU_SOURCE -DFIRE_HAVE_MPI -Isrc -Iinclude bench/sim/step.c src/base/*.c \
        src/comm/*.c src/comm/*/*.c src/train/exchange.c src/train/exchange_thread.c \
        src/device/cpu/parallel.c -o "$dir/step" -lm -lpthread
}

# platform STAR_OR_FAT NODES GB_PER_S LATENCY_US: $dir/KIND.xml and $dir/hosts
platform() {
    local shape='' links=2 # on the way from one node to another
    [[ $1 == star ]] || links=4
    [[ $1 == star ]] || shape='topology="FAT_TREE" topo_parameters="2;16,'$((($2 + 15) / 16))';1,16;1,1"'
    cat >"$dir/$1.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="0-$(($2 - 1))" speed="1Tf" bw="$3GBps"
 lat="$(awk -v l="$4" -v n=$links 'BEGIN {print l / n}')us" $shape
 sharing_policy="SPLITDUPLEX" loopback_bw="20GBps" loopback_lat="0.1us"/>
</zone></platform>
XML
    seq -f 'n%.0f' 0 $(($2 - 1)) >"$dir/hosts"
}

# simulate PLATFORM WORKERS STEP_ARGUMENTS...: prints the line of the step. A deadlock and an
# abort end with status 0: only the line itself shows success.
simulate() {
    local line
    line=$(smpirun "${config[@]}" -np "$2" -platform "$dir/$1.xml" -hostfile "$dir/hosts" \
        "$dir/step" "${@:3}" 2>"$dir/errors" | grep '^{' || true)
    [[ -n $line ]] || { cat "$dir/errors" >&2; echo "failed: ${*:3} on $2 workers" >&2; return 1; }
    echo "$line"
}

# field FILE NAME: the first number behind "NAME" in a JSON file
field() { grep -o "\"$2\": *[0-9.]*" "$1" | head -n 1 | sed 's/.*: *//'; }
