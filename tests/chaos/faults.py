"""What is done to a job, and what it does then."""
import collections
import os
import signal
import time

import process

HANG = 45   # seconds without an iteration after which a job hangs
POLL = 0.01


class Result:
    def __init__(self):
        self.faults = collections.Counter()
        self.recoveries, self.losses, self.bad = [], [], []


# ---- faults: each returns what it did, or None if it could not ----
# ends: the job must go on from a snapshot. keeps: at most the interval is lost.

Fault = collections.namedtuple("Fault", "name act ends keeps kinds weight")


def _signal_rank(number):
    def act(job, rng):
        ranks = job.ranks()
        if not ranks:
            return None
        pid = rng.choice(ranks)
        return f"{number.name} to rank process {pid}" if process.signal(pid, number) else None
    return act


def _stop_for_a_while(job, rng):
    ranks = job.ranks()
    if not ranks:
        return None
    pid, seconds = rng.choice(ranks), rng.uniform(0.1, 0.5 * job.deadline)
    process.signal(pid, signal.SIGSTOP)
    time.sleep(seconds)
    process.signal(pid, signal.SIGCONT)
    return f"rank process {pid} stood still for {seconds:.1f} s"


def _signal_launcher(number):
    def act(job, rng):
        launchers = job.launchers()
        if not launchers:
            return None
        pid = rng.choice(launchers)
        name = os.path.basename(process.program(pid))
        return f"{number.name} to {name} {pid}" if process.signal(pid, number) else None
    return act


def _kill_supervisor(job, rng):
    """All that it started must end too; then its user goes on."""
    del rng
    job.supervisor.kill()
    job.supervisor.wait()
    until = time.monotonic() + job.deadline + 10
    while process.marked(job.mark) and time.monotonic() < until:
        time.sleep(POLL)
    if left := process.marked(job.mark):
        job.complaints.append(f"after the supervisor was killed, {len(left)} processes stay")
        job.kill()
    job.start(["--snapshot=auto"])
    return "SIGKILL to the supervisor, started again with --snapshot=auto"


def _damage(where):
    def act(job, rng):
        path = job.newest(where)
        ranks = job.ranks()
        if path is None or not ranks:
            return None
        for pid in ranks:          # so that no newer one is written before
            process.signal(pid, signal.SIGSTOP)
        path = job.newest(where)
        try:
            with open(path, "r+b") as f:
                size = os.fstat(f.fileno()).st_size
                at = rng.randrange(max(size, 1))
                f.seek(at)
                byte = f.read(1)
                f.seek(at)
                f.write(bytes([byte[0] ^ 1 << rng.randrange(8)]) if byte else b"")
        except OSError:
            path = None
        for pid in ranks:
            process.signal(pid, signal.SIGKILL)
        return f"bit flipped in {os.path.basename(path or 'nothing')}, ranks killed"
    return act


def _full_disk(job, rng):
    if not job.disk.mounted:
        return None
    seconds = rng.uniform(0.3, 2)
    job.disk.fill()
    time.sleep(seconds)
    job.disk.empty()
    return f"disk full for {seconds:.1f} s"


def _full_disk_and_kill(job, rng):
    if not job.disk.mounted or not (ranks := job.ranks()):
        return None
    job.disk.fill()
    time.sleep(rng.uniform(0.1, 1))
    process.signal(rng.choice(ranks), signal.SIGKILL)
    time.sleep(rng.uniform(0, 0.5))
    job.disk.empty()
    return "disk full, a rank killed meanwhile"


def _hanging_disk(job, rng):
    if not job.disk.mounted:
        return None
    seconds = rng.uniform(0.3, 3)
    job.disk.freeze()
    time.sleep(seconds)
    job.disk.thaw()
    return f"disk hung for {seconds:.1f} s"


def _link_down(job, rng):
    host, seconds = rng.randrange(3), rng.uniform(0.5, 3 * job.deadline)
    job.network.link(host, False)
    time.sleep(seconds)
    job.network.link(host, True)
    return f"link of host {host} down for {seconds:.1f} s"


def _lossy_link(job, rng):
    host, seconds = rng.randrange(3), rng.uniform(1, 5)
    job.network.lossy(host, True)
    time.sleep(seconds)
    job.network.lossy(host, False)
    return f"link of host {host} lossy for {seconds:.1f} s"


def _booted_host(job, rng):
    """Its processes and its memory are gone."""
    host, ranks = rng.randrange(3), job.ranks()
    if not ranks:
        return None
    job.network.link(host, False)
    name = job.network.hosts[host]
    for pid in process.marked(job.mark):
        if process.host(pid) == name:
            process.signal(pid, signal.SIGKILL)
    job.network.forget(host)
    time.sleep(rng.uniform(0.2, 3))
    job.network.link(host, True)
    return f"host {host} was gone and has booted"


ALL, MANY = ("threads", "mpi", "hosts", "gpu"), ("mpi", "hosts")
FAULTS = [
    Fault("rank killed", _signal_rank(signal.SIGKILL), True, True, ALL, 4),
    Fault("rank: segmentation fault", _signal_rank(signal.SIGSEGV), True, True, ALL, 2),
    Fault("rank: bus error", _signal_rank(signal.SIGBUS), True, True, ALL, 2),
    Fault("rank aborted", _signal_rank(signal.SIGABRT), True, True, ALL, 1),
    Fault("rank stopped", _signal_rank(signal.SIGSTOP), True, True, ALL, 1),
    Fault("rank stopped for a while", _stop_for_a_while, False, True, ALL, 2),
    Fault("launcher killed", _signal_launcher(signal.SIGKILL), True, True, MANY, 2),
    Fault("launcher terminated", _signal_launcher(signal.SIGTERM), True, True, MANY, 1),
    Fault("supervisor killed", _kill_supervisor, True, True, ALL, 1),
    Fault("newest snapshot damaged", _damage("disk"), True, True, ALL, 1),
    Fault("state in memory damaged", _damage("memory"), True, False, ALL, 1),
    Fault("disk full", _full_disk, False, True, ALL, 1),
    Fault("disk full and rank killed", _full_disk_and_kill, True, True, ALL, 1),
    Fault("disk hangs", _hanging_disk, False, True, ALL, 1),
    Fault("link down", _link_down, None, True, ("hosts",), 4),
    Fault("host booted", _booted_host, None, True, ("hosts",), 2),
    Fault("link lossy", _lossy_link, False, True, ("hosts",), 3),
]


# ---- a job from its start to its end ----

def _say(job, began, text):
    print(f"{time.monotonic() - began:7.2f} s  job {job.number}: {text}", flush=True)


def _wait(job, until, seconds):
    """Follow the log until until(), the end, or so many seconds; True unless they are over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job.look()
        if until() or job.ended():
            return True
        time.sleep(POLL)
    return False


def _strike(job, rng, began, result):
    """One fault. False: the job hangs."""
    able = [f for f in FAULTS if job.kind in f.kinds]
    fault = rng.choices(able, [f.weight for f in able])[0]
    job.look()
    before, broke, job.resumed = job.iteration, job.broke, None
    start = time.monotonic()
    did = fault.act(job, rng)
    if did is None or job.ended():
        return True
    result.faults[fault.name] += 1
    _say(job, began, f"iteration {before}: {did}")
    if fault.ends is not True:
        seen = job.iteration
        return _wait(job, lambda: job.iteration != seen, HANG)
    again = "supervisor" in fault.name
    if not _wait(job, lambda: again or job.broke > broke, HANG):
        return False
    job.look()
    at = job.at
    if not _wait(job, lambda: job.at > at and job.resumed is not None and
                 job.iteration >= job.resumed, HANG):
        return False
    if job.ended():
        return True
    seconds = time.monotonic() - start
    lost = before - (job.resumed or 0)
    _say(job, began, f"goes on after {seconds:.2f} s at iteration {job.resumed}")
    if fault.name in ("rank killed", "rank: segmentation fault", "rank: bus error"):
        result.recoveries.append(seconds)
    if fault.keeps and lost >= 0:
        result.losses.append(lost)
    return True


def torment(job, rng, most):
    result, began = Result(), time.monotonic()
    job.complaints = result.bad
    _say(job, began, job.describe())
    alive = _wait(job, lambda: job.iteration > 0, HANG)
    for _ in range(rng.randint(1, most)):
        if not alive or job.ended():
            break
        time.sleep(rng.uniform(0.05, 1.5))
        alive = job.ended() or _strike(job, rng, began, result)
    seen = -1
    while alive and not job.ended():
        seen = job.iteration
        alive = _wait(job, lambda: job.iteration != seen, HANG)
    if not alive:
        result.bad.append(f"it hangs at iteration {job.iteration}")
        job.kill()
        job.supervisor.wait()
    result.bad += job.check()
    _say(job, began, "ended" if not result.bad else "; ".join(result.bad))
    job.disk.close() if not result.bad else job.disk.thaw()
    return result


