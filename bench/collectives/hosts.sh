#!/usr/bin/env bash
# hosts.sh - a cluster on one machine: N network namespaces as hosts, each with its
# own address and a link of a given rate to a switch; then a command under mpirun with
# one process per host. Needs root, iproute2 and Open MPI.
#
#   bench/collectives/hosts.sh N RATE COMMAND...
#   bench/collectives/hosts.sh 4 200mbit build/firecaffe bench allreduce --bytes 10M
#
# MPIRUN_ARGS adds arguments to mpirun. Everything is removed at the end.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
n=$1 rate=$2
shift 2
name=fire$$ # several clusters can exist at a time
net=10.77.$(($$ % 250)).
work=$(mktemp -d)

down() {
    for ns in $(ip netns list | grep -o "^$name-[a-z0-9]*"); do
        ip netns pids "$ns" | xargs -r kill 2>/dev/null || true
        ip netns del "$ns"
    done
    rm -rf "$work"
}
trap down EXIT

# host NAME ADDRESS [RATE]: a namespace with a link to the switch
host() {
    ip netns add "$name-$1"
    ip -n "$name-$1" link set lo up
    ip -n "$name-sw" link add "p$1" type veth peer name eth0 netns "$name-$1"
    ip -n "$name-sw" link set "p$1" master br0 up
    ip -n "$name-$1" addr add "$net$2/24" dev eth0
    ip -n "$name-$1" link set eth0 up
    [ -z "${3-}" ] && return
    # Both directions; a short queue would drop packets and collapse.
    ip netns exec "$name-$1" tc qdisc add dev eth0 root tbf rate "$3" burst 128kb latency 20ms
    ip netns exec "$name-sw" tc qdisc add dev "p$1" root tbf rate "$3" burst 128kb latency 20ms
    ip -n "$name-$1" route change "${net}0/24" dev eth0 src "$net$2" congctl cubic 2>/dev/null || true
}

ip netns add "$name-sw"
ip -n "$name-sw" link add br0 type bridge
ip -n "$name-sw" link set br0 up
host head 250
list=
for i in $(seq 1 "$n"); do
    host "h$i" "$i" "$rate"
    list+="${list:+,}$net$i:1"
done

# What mpirun calls instead of ssh: agent ADDRESS COMMAND...
cat > "$work/agent" <<END
#!/bin/sh
host=\$1; shift
ns=$name-h\${host##*.}
mkdir -p "$work/\$ns"
exec ip netns exec \$ns unshare --uts sh -c "hostname \$ns; export TMPDIR=$work/\$ns; \$*"
END
chmod +x "$work/agent"

# Ranks share few cores, so they yield; PUT would not use both directions at once.
# shellcheck disable=SC2086
ip netns exec "$name-head" unshare --uts sh -c "hostname $name-head; exec \"\$@\"" sh \
    mpirun --allow-run-as-root --host "$list" -np "$n" \
    --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include "${net}0/24" --mca btl_tcp_if_include "${net}0/24" \
    --mca pml ob1 --mca btl tcp,self --mca btl_tcp_flags send --mca mpi_yield_when_idle 1 \
    ${MPIRUN_ARGS-} "$@"
