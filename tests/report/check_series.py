"""Event files and the console log tell the numbers of run.jsonl. Events are read by their
protobuf schema, checksums included, and by TensorBoard itself where it is installed."""
import glob
import json
import re
import struct
import subprocess

import bench
from bench import holds

# ---- tensorboard/compat/proto: event.proto and summary.proto, as far as we use them ----

EVENT = {1: ("wall_time", "double"), 2: ("step", "varint"), 3: ("file_version", "text"), 5: ("summary", "SUMMARY")}
SUMMARY = {1: ("value", "VALUE")}
VALUE = {1: ("tag", "text"), 2: ("simple_value", "float")}
MESSAGES = {"SUMMARY": SUMMARY, "VALUE": VALUE}
WIRE = {"varint": 0, "double": 1, "text": 2, "SUMMARY": 2, "VALUE": 2, "float": 5}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at


def decode(data, schema):
    """[(field, value)]; a field that the schema does not know is a mistake."""
    fields, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        name, kind = schema[key >> 3]
        if key & 7 != WIRE[kind]:
            raise ValueError(f"{name} has wire type {key & 7}")
        if kind == "varint":
            value, at = varint(data, at)
        elif kind in ("double", "float"):
            size = 8 if kind == "double" else 4
            value, at = struct.unpack_from("<d" if size == 8 else "<f", data, at)[0], at + size
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            value = value.decode() if kind == "text" else dict(decode(value, MESSAGES[kind]))
        fields.append((name, value))
    return fields


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read_events(path):
    """Records of a TFRecord file: length, its checksum, data, their checksum."""
    with open(path, "rb") as f:
        data = f.read()
    events, at = [], 0
    while at < len(data):
        size, check = struct.unpack_from("<QI", data, at)
        holds_quietly(check == masked(data[at:at + 8]), "checksum of a length")
        record, (end,) = data[at + 12:at + 12 + size], struct.unpack_from("<I", data, at + 12 + size)
        holds_quietly(end == masked(record), "checksum of a record")
        events.append(dict(decode(record, EVENT)))
        at += 16 + size
    return events


def holds_quietly(condition, what):
    if not condition:
        holds(what, False)


def check_events(place, log):
    events = read_events(glob.glob(place.path("board/events.out.tfevents.*"))[0])
    holds("the version comes first", events[0].get("file_version") == "brain.Event:2", events[0])
    times = [e["wall_time"] for e in events]
    holds("time goes forward", times == sorted(times) and times[0] > 1.5e9)
    scalars = {}
    for e in events[1:]:
        value = e["summary"]["value"]
        scalars.setdefault(value["tag"], []).append((e.get("step", 0), round(value["simple_value"], 5)))
    compare("events", scalars, log)
    return scalars


def compare(who, scalars, log):
    loss = [(r["iter"], round(r["loss"], 5)) for r in log if r["type"] == "display"]
    accuracy = [(r["iter"], round(r["value"], 5)) for r in log if r["type"] == "test" and r["name"] == "accuracy"]
    holds(f"{who}: losses are those of the log", scalars["train/loss"] == loss and len(loss) == 3, (scalars["train/loss"], loss))
    holds(f"{who}: accuracies too", scalars["test/accuracy"] == accuracy and len(accuracy) == 2, scalars["test/accuracy"])
    holds(f"{who}: rate and speed are there", {"train/lr", "speed/images_per_second"} <= set(scalars), set(scalars))


def check_tensorboard(place, log):
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        print("        (TensorBoard itself is not installed here)")
        return
    board = EventAccumulator(place.path("board"))
    board.Reload()
    compare("TensorBoard", {tag: [(e.step, round(e.value, 5)) for e in board.Scalars(tag)]
                            for tag in board.Tags()["scalars"]}, log)


# ---- the console log, by the rules of Caffe's parse_log.py ----

NUMBER = r"([-+.\deE]+|nan|inf)"


def parse_console(text):
    """Outputs by phase: {iteration: {name: value}}, and the learning rates."""
    rows, rates, at = {"Train": {}, "Test": {}}, {}, None
    for line in text.splitlines():
        found = re.search(r"Iteration (\d+)", line)
        at = int(found.group(1)) if found else at
        if at is None:
            continue
        found = re.search(r"lr = " + NUMBER, line)
        if found:
            rates[at] = float(found.group(1))
        found = re.search(r"(Train|Test) net output #\d+: (\S+) = " + NUMBER, line)
        if found:
            rows[found.group(1)].setdefault(at, {})[found.group(2)] = float(found.group(3))
    return rows, rates


def check_console(text, log):
    rows, rates = parse_console(text)
    short = lambda x: float("%g" % x)
    displays = [r for r in log if r["type"] == "display"]
    train = {r["iter"]: {name: short(value) for name, value in r["outputs"]} for r in displays}
    test = {}
    for r in log:
        if r["type"] == "test":
            test.setdefault(r["iter"], {})[r["name"]] = short(r["value"])
    holds("console: training outputs are those of the log", rows["Train"] == train and len(train) == 3, (rows["Train"], train))
    holds("console: test outputs too", rows["Test"] == test and len(test) == 2, (rows["Test"], test))
    holds("console: and rates", rates == {r["iter"]: short(r["lr"]) for r in displays}, rates)


def main():
    with bench.Place() as place:
        done = subprocess.run([place.program, "train", "--solver", place.solver(12), "--run_dir", "run", "--tensorboard",
                               "board"], cwd=place.dir, capture_output=True, text=True, check=True)
        with open(place.path("run/run.jsonl")) as f:
            log = [json.loads(line) for line in f]
        check_events(place, log)
        check_tensorboard(place, log)
        check_console(done.stderr, log)


main()
