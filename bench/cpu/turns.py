"""Two sides that train the same net in turns, each bench_step in a process of its own.

A machine whose speed changes from one minute to the next changes it for both sides. A
turn is a few steps of each side; its ratio is that of its two medians."""
import statistics
import subprocess
import sys


class Side:
    """bench_step BUILD MODEL_DIR BATCH, which makes one step for each line it reads."""

    def __init__(self, build, model_dir, batch, threads, flags):
        self.ms = []
        self.process = subprocess.Popen(
            [build + "/bench_step", model_dir, str(batch), "--turns", "--steps", "1000000",
             "--threads", str(threads)] + flags, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.read_up_to('"ms": [')

    def read_up_to(self, end):
        text = ""
        while not text.endswith(end):
            c = self.process.stdout.read(1)
            if not c:
                sys.exit("bench_step stopped")
            text += c
        return text

    def step(self):
        """Milliseconds of one step."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        wall = self.read_up_to("]").lstrip(", [").split(",")[0]
        self.ms.append(float(wall))
        return self.ms[-1]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(sides, turns, block):
    """sides: {name: Side}, two of them. Returns times and ratios first / second."""
    (first, a), (second, b) = sides.items()
    ratios = []
    for _ in range(turns):
        of = [statistics.median(side.step() for _ in range(block)) for side in (a, b)]
        ratios.append(of[0] / of[1])
    for side in (a, b):
        side.end()
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {first + "_ms": statistics.median(a.ms), second + "_ms": statistics.median(b.ms),
            "ratio": middle, "quarters": [low, high], "fastest": min(a.ms) / min(b.ms),
            "turns": [round(r, 3) for r in ratios], first: a.ms, second: b.ms}


def show(net, batch, first, second, row):
    low, high = row["quarters"]
    print(f"{net:14} {batch:3}  {first} {row[first + '_ms']:7.1f} ms  {second} "
          f"{row[second + '_ms']:7.1f} ms  ratio {row['ratio']:.3f} ({low:.3f} to {high:.3f})  "
          f"of medians {row[first + '_ms'] / row[second + '_ms']:.3f}  "
          f"fastest {min(row[first]):.1f}/{min(row[second]):.1f} {row['fastest']:.3f}",
          flush=True)
