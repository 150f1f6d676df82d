"""TensorBoard's own reader reads what --tensorboard writes, and finds the log's numbers."""
import json
import sys

import bench
from bench import holds

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    print("skipped: Python's tensorboard is not here")
    sys.exit(77)


def main():
    with bench.Place() as place:
        place.train("run", "--tensorboard", "board", iters=12)
        with open(place.path("run/run.jsonl")) as f:
            log = [json.loads(line) for line in f]
        board = EventAccumulator(place.path("board"))
        board.Reload()
        shown = [(e.step, round(e.value, 5)) for e in board.Scalars("train/loss")]
        want = [(r["iter"], round(r["loss"], 5)) for r in log if r["type"] == "display"]
        holds("losses are those of the log", shown == want and len(want) == 3, (shown, want))
        shown = [(e.step, round(e.value, 5)) for e in board.Scalars("test/accuracy")]
        want = [(r["iter"], round(r["value"], 5)) for r in log if r["type"] == "test" and r["name"] == "accuracy"]
        holds("accuracies are those of the log", shown == want and len(want) == 2, (shown, want))
        tags = set(board.Tags()["scalars"])
        holds("rate and speed are there", {"train/lr", "speed/images_per_second"} <= tags, tags)


main()
