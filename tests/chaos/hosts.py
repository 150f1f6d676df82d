"""Hosts on one machine: network namespaces, joined by a bridge, each with a /dev/shm of its own.
Needs root and iproute2."""
import glob
import os
import shutil
import subprocess

COUNT = 3
NET = "10.78.0"


def _ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True).returncode == 0


def possible():
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
        return False
    name = f"fire-try-{os.getpid()}"
    if not _ip("netns", "add", name, check=False):
        return False
    _ip("netns", "del", name)
    return True


class NoNetwork:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


class Network:
    """Namespaces SWITCH, HEAD (where mpirun is) and COUNT hosts, addresses NET.1 and on."""

    def __init__(self):
        self.name = f"fire{os.getpid()}"
        self.switch = f"{self.name}-sw"
        self.hosts = [f"{self.name}-h{i}" for i in range(COUNT + 1)]  # the last is the head
        self.shm = [f"/dev/shm/{host}" for host in self.hosts]

    def __enter__(self):
        _ip("netns", "add", self.switch)
        _ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", self.switch, "link", "set", "br0", "up")
        for i, host in enumerate(self.hosts):
            os.makedirs(self.shm[i], exist_ok=True)
            _ip("netns", "add", host)
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", self.switch, "link", "add", f"p{i}", "type", "veth", "peer", "name",
                "eth0", "netns", host)
            _ip("-n", self.switch, "link", "set", f"p{i}", "master", "br0", "up")
            _ip("-n", host, "addr", "add", f"{NET}.{i + 1}/24", "dev", "eth0")
            _ip("-n", host, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_):
        for name in self.hosts + [self.switch]:
            _ip("netns", "del", name, check=False)
        for folder in self.shm:
            shutil.rmtree(folder, ignore_errors=True)
        return False

    def forget(self, host):
        """As a host that has booted: nothing is in its memory."""
        for path in glob.glob(f"{self.shm[host]}/*"):
            shutil.rmtree(path, ignore_errors=True)

    def link(self, host, up):
        _ip("-n", self.switch, "link", "set", f"p{host}", "up" if up else "down", check=False)

    def lossy(self, host, on):
        """A queue of three packets: what does not fit is lost."""
        where = ["tc", "-n", self.switch, "qdisc"]
        if on:
            subprocess.run([*where, "replace", "dev", f"p{host}", "root", "tbf", "rate",
                            "20mbit", "burst", "4kb", "limit", "5kb"], capture_output=True)
        else:
            subprocess.run([*where, "del", "dev", f"p{host}", "root"], capture_output=True)

    def write_launcher(self, folder, mark):
        """A script that is mpirun on these hosts; its path."""
        agent, launcher = f"{folder}/agent", f"{folder}/launcher"
        with open(agent, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nhost=$1; shift\n'
                    f'ns={self.name}-h$(( ${{host##*.}} - 1 ))\n'
                    f'mkdir -p {folder}/tmp.$ns\n'
                    'exec ip netns exec $ns unshare --uts --mount sh -c "hostname $ns; '
                    'mount --bind /dev/shm/$ns /dev/shm; '
                    f'export TMPDIR={folder}/tmp.$ns {mark}; $*"\n')
        slots = ",".join(f"{NET}.{i + 1}:4" for i in range(COUNT))
        with open(launcher, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\n'
                    f'exec ip netns exec {self.hosts[-1]} unshare --uts sh -c \''
                    f'hostname {self.hosts[-1]}; exec "$@"\' sh '
                    f'mpirun --host {slots} --map-by node --mca plm rsh '
                    f'--mca plm_rsh_agent {agent} --mca plm_rsh_no_tree_spawn 1 '
                    f'--mca oob_tcp_if_include {NET}.0/24 '
                    f'--mca btl_tcp_if_include {NET}.0/24 --mca pml ob1 '
                    '--mca btl tcp,self "$@"\n')
        for script in (agent, launcher):
            os.chmod(script, 0o755)
        return launcher
