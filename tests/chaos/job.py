"""One training under torment: its command, its log, its processes, what it leaves."""
import hashlib
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import disk
import process

ITERATION = re.compile(r"\] Iteration (\d+) \(")
RESUMED = re.compile(r"Resuming from \S*_iter_(\d+)\.solverstate")
BROKE = "Training broke off"
SHM = "/dev/shm"

# Settings whose results do not depend on the number of workers.
COMM = ["--comm=tree", "--comm=rhd", "--comm=auto", "--comm=tree --overlap=off",
        "--comm=rhd --overlap=thread", "--comm=tree --overlap=poll",
        "--comm=rhd --update=sharded"]


class Bench:
    """What all jobs share: the data, the program, the weights of undisturbed trainings."""

    def __init__(self, top, root, program, emulated, iterations):
        self.top, self.root, self.program, self.emulated = top, root, program, emulated
        self.iterations = iterations
        self.wanted = {}
        if not os.path.isdir(f"{top}/db"):
            images = f"{root}/data/mnist/t10k"
            subprocess.run([program, "convert", "mnist", f"{images}-images-idx3-ubyte.gz",
                            f"{images}-labels-idx1-ubyte.gz", f"{top}/db"], check=True,
                           capture_output=True)
        with open(f"{root}/tests/mpi/tempting.prototxt", encoding="utf-8") as f:
            net = f.read().replace('"db"', f'"{top}/db"')
        with open(f"{top}/net.prototxt", "w", encoding="utf-8") as f:
            f.write(net)

    def environment(self, mark):
        env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")
        env[process.MARK] = mark
        return env

    def write_solver(self, path, prefix, snapshot):
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"net: '{self.top}/net.prototxt' base_lr: 0.01 lr_policy: 'inv' "
                    "gamma: 0.0001 power: 0.75 momentum: 0.9 weight_decay: 0.0005 "
                    f"display: 1 max_iter: {self.iterations} snapshot: {snapshot} "
                    f"snapshot_prefix: '{prefix}' random_seed: 3 solver_mode: CPU "
                    "test_iter: 2 test_interval: 200\n")

    def want(self, lanes, gpu):
        """The sum of the weights of a training by one worker that nobody disturbs."""
        if (lanes, gpu) not in self.wanted:
            prefix = f"{self.top}/want{lanes}{'g' if gpu else ''}"
            self.write_solver(f"{prefix}.prototxt", prefix, 0)
            subprocess.run([self.emulated if gpu else self.program, "train",
                            f"--solver={prefix}.prototxt", f"--lanes={lanes}",
                            "--bucket_mb=0.02"] + (["--gpu=0"] if gpu else []),
                           check=True, capture_output=True, env=self.environment("none"))
            self.wanted[lanes, gpu] = weights(prefix, self.iterations)
        return self.wanted[lanes, gpu]


def weights(prefix, iterations):
    try:
        with open(f"{prefix}_iter_{iterations}.caffemodel", "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return "none"


class Job:
    def __init__(self, bench, number, rng, kind, network):
        self.bench, self.number, self.kind, self.network = bench, number, kind, network
        self.workers = rng.randint(2, 5)
        self.lanes = self.workers * rng.choice([1, 1, 2])
        self.interval = rng.choice([5, 10, 20])
        self.deadline = rng.choice([3, 4])
        self.dir = f"{bench.top}/job{number}"
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        self.disk = disk.Disk(self.dir)
        self.prefix = f"{self.disk.folder}/snap"
        self.mark = f"{os.getpid()}.{number}"
        self.shared = network.shm if kind == "hosts" else [SHM]
        key = hashlib.sha256(os.path.realpath(self.prefix).encode()).hexdigest()[:16]
        self.state = f"firecaffe.{os.geteuid()}.{key}"
        self.shm = {f: set(os.listdir(f)) for f in self.shared}
        self.want = bench.want(self.lanes, kind == "gpu")
        bench.write_solver(f"{self.dir}/solver.prototxt", self.prefix, rng.choice([50, 100]))
        self.command = self._command(rng)
        self.log = f"{self.dir}/log"
        self.at = self.iteration = 0        # place in the log; newest iteration in it
        self.resumed = None                 # iteration of the last resume
        self.broke = 0                      # how often it broke off
        self.start([])

    def _command(self, rng):
        program = self.bench.emulated if self.kind == "gpu" else self.bench.program
        words = [program, "train", f"--solver={self.dir}/solver.prototxt",
                 f"--lanes={self.lanes}", "--bucket_mb=0.02", f"--deadline={self.deadline}",
                 f"--memory_snapshot={self.interval}", "--restarts=100", "--keep=4",
                 f"--workers={self.workers}", *rng.choice(COMM).split()]
        if self.kind == "gpu":
            words.append("--gpu=0")
        if self.kind == "mpi":
            words.append("--launcher=mpirun")
        if self.kind == "hosts":
            mark = f"{process.MARK}={self.mark}"
            words.append(f"--launcher={self.network.write_launcher(self.dir, mark)}")
        return words

    def describe(self):
        return (f"{self.kind}, {self.workers} workers, {self.lanes} lanes, memory every "
                f"{self.interval}, {' '.join(w for w in self.command if '--comm' in w)}")

    def start(self, more):
        with open(self.log, "a", encoding="utf-8") as log:
            self.supervisor = subprocess.Popen(
                self.command + more, cwd=self.dir, stdout=log, stderr=log,
                env=self.bench.environment(self.mark), start_new_session=True)

    # ---- its log ----

    def look(self):
        """Read what has been logged since."""
        with open(self.log, encoding="utf-8", errors="replace") as f:
            f.seek(self.at)
            while line := f.readline():
                if not line.endswith("\n"):
                    break
                self.at = f.tell()
                if m := ITERATION.search(line):
                    self.iteration = int(m.group(1))
                elif m := RESUMED.search(line):
                    self.resumed = int(m.group(1))
                elif BROKE in line:
                    self.broke += 1

    def ended(self):
        return self.supervisor.poll() is not None

    # ---- its processes ----

    def ranks(self):
        """Processes that train: those of the program, but for who started them."""
        return [p for p in process.marked(self.mark)
                if process.program(p) == os.path.realpath(self.command[0]) and
                p != self.supervisor.pid]

    def launchers(self):
        ranks = set(self.ranks())
        return [p for p in process.marked(self.mark)
                if p not in ranks and p != self.supervisor.pid and
                os.path.basename(process.program(p)) in ("mpirun", "orterun", "prterun",
                                                         "orted", "prted")]

    def shared_left(self):
        """What it has left in shared memory. Other jobs use theirs."""
        left = []
        for top in self.shared:
            for name in set(os.listdir(top)) - self.shm[top]:
                path = f"{top}/{name}"
                if name == self.state or (re.match(r"vader|sm_segment|osc_|mpich", name) and
                                          self.kind != "threads" and
                                          not process.maps(path)):
                    left.append(path)
        return left

    def newest(self, where):
        """The newest file of a snapshot, on disk or in memory."""
        patterns = [f"{self.prefix}_iter_*"]
        if where == "memory":
            patterns = [f"{top}/{self.state}/*_iter_*" for top in self.shared]
        files = [f for p in patterns for f in glob.glob(p) if ".tmp" not in f]
        return max(files, key=lambda f: int(re.search(r"_iter_(\d+)", f).group(1)),
                   default=None)

    # ---- its end ----

    def kill(self):
        for p in process.marked(self.mark):
            process.signal(p, signal.SIGKILL)

    def check(self):
        """What is wrong after its end."""
        bad = []
        if self.supervisor.returncode != 0:
            bad.append(f"it ended with status {self.supervisor.returncode}")
        got = weights(self.prefix, self.bench.iterations)
        if got != self.want:
            bad.append(f"other weights: {got}, not {self.want}")
        until = time.monotonic() + 2
        while (orphans := process.marked(self.mark)) and time.monotonic() < until:
            time.sleep(0.05)
        if orphans:
            bad.append("processes are left: " + ", ".join(
                f"{p} ({os.path.basename(process.program(p))})" for p in orphans))
            self.kill()
        files = [f for f in os.listdir(self.disk.folder)
                 if not re.fullmatch(r"snap_iter_\d+\.(caffemodel|solverstate)|lost\+found", f)]
        if files:
            bad.append("files are left: " + ", ".join(files))
        if shared := self.shared_left():
            bad.append("shared memory is left: " + ", ".join(shared))
        return bad

    def remove(self):
        self.disk.close()
        shutil.rmtree(self.dir, ignore_errors=True)
