# lib.sh - what the scripts of bench/sim share: building for SimGrid, platforms, one run.
# Sourced from the root of the repository; $dir is where everything goes.
# shellcheck shell=bash
#
# Ideal factors: a message takes latency + bytes / bandwidth, messages that meet share a link
# evenly (weight-S), and a send ends when its bytes have left (detached). Collectives of the library,
# by which workers get to know each other, take p log p messages as Open MPI has them, not p squared
# (SimGrid's choice of a broadcast for many ranks asks all of them where they are).
config=(--log=root.thres:error --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1
        --cfg=network/crosstraffic:0 --cfg=network/weight-S:0 --cfg=smpi/send-is-detached-thresh:0 --cfg=smpi/simulate-computation:no
        --cfg=smpi/test:0 --cfg=smpi/host-speed:1Tf --cfg=smpi/coll-selector:ompi --cfg=smpi/bcast:binomial_tree
        --cfg=smpi/shared-malloc-blocksize:33554432)

build() { # build PROGRAM: with the exchange engine and the collectives themselves and SimGrid's MPI
    mkdir -p "$dir"
    if [[ -e $dir/$1 && -z $(find src/base src/comm src/train src/device/cpu bench/sim \
            -newer "$dir/$1" -name '*.[ch]') ]]; then
        return 0
    fi
    # Memory is folded, all ranks write to the same: adding would only take time.
    smpicc -O2 -D_GNU_SOURCE -DFIRE_SIMGRID -Isrc -Iinclude "bench/sim/$1.c" bench/sim/no_sums.c \
        src/base/*.c src/base/*/*.c $(ls src/comm/*.c src/comm/*/*.c src/comm/transport/module/*.c | grep -vE '/(reduce|nccl).c$') src/train/exchange/exchange.c \
        src/train/exchange/exchange_create.c src/train/exchange/exchange_thread.c src/device/cpu/parallel.c -o "$dir/$1" -lm -lpthread
}

# platform STAR_OR_FAT_TREE NODES GB_PER_S LATENCY_US: $dir/KIND.xml and $dir/hosts
platform() {
    "$1" "${@:2}" >"$dir/$1.xml"
    seq -f 'n%.0f' 0 $(($2 - 1)) >"$dir/hosts"
}

# A message to oneself takes a second per megabyte: the clock of step.c.
star() { # star NODES GB_PER_S LATENCY_US
    cat <<XML
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="w" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="0-$(($1 - 1))" speed="1Tf" bw="$2GBps"
 lat="$(awk -v l="$3" 'BEGIN {print l / 2}')us" sharing_policy="SPLITDUPLEX"
 loopback_bw="1MBps" loopback_lat="0us"/>
</zone></platform>
XML
}

# Leaves of 16; routes by the receiver's number. SimGrid gives a message a share of a link in inverse
# proportion to the latency of its way, so all ways have the same one, that of the cards.
fat_tree() { # fat_tree NODES GB_PER_S LATENCY_US
    awk -v n="$1" -v bw="$2" -v us="$3" -v leaf=16 '
        function link(name, latency) {
            printf "<link id=\"%s\" bandwidth=\"%sGBps\" latency=\"%sus\"/>\n", name, bw, latency
        }
        function route(from, to,   above) {
            if (int(from / leaf) != int(to / leaf))
                above = sprintf("<link_ctn id=\"up%d-%d\"/><link_ctn id=\"down%d-%d\"/>",
                                from / leaf, to % leaf, to / leaf, to % leaf)
            printf "<route src=\"n%d\" dst=\"n%d\" symmetrical=\"NO\"><link_ctn id=\"out%d\"/>%s" \
                   "<link_ctn id=\"in%d\"/></route>\n", from, to, from, above, to
        }
        BEGIN {
            print "<?xml version=\"1.0\"?>"
            print "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
            print "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\">"
            for (i = 0; i < n; i++) printf "<host id=\"n%d\" speed=\"1Tf\"/>\n", i
            for (i = 0; i < n; i++) { link("out" i, us / 2); link("in" i, us / 2) }
            for (i = 0; i < n / leaf; i++)
                for (s = 0; s < leaf; s++) { link("up" i "-" s, 0); link("down" i "-" s, 0) }
            for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (i != j) route(i, j)
            print "</zone></platform>"
        }'
}

# simulate PLATFORM WORKERS PROGRAM ARGUMENTS...: prints the line of the program. A deadlock and an
# abort end with status 0: only the line itself shows success.
simulate() {
    local line
    line=$(smpirun "${config[@]}" -np "$2" -platform "$dir/$1.xml" -hostfile "$dir/hosts" \
        "$dir/$3" "${@:4}" 2>"$dir/errors" | grep '^{' || true)
    [[ -n $line ]] || { cat "$dir/errors" >&2; echo "failed: ${*:3} on $2 workers" >&2; return 1; }
    echo "$line"
}

# field FILE NAME: the first number behind "NAME" in a JSON file
field() { grep -o "\"$2\": *[0-9.]*" "$1" | head -n 1 | sed 's/.*: *//'; }
