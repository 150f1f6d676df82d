"""The counterpart of bench_step --gpu: whole training steps of one of our nets in PyTorch,
timed by events of the GPU. Prints one line of JSON.

    python3 torch_step.py MODEL_DIR BATCH [--precision fp32|tf32|bf16] [--steps N]
                          [--mode eager|graph|compile]

bf16 uses autocast and channels last, tf32 channels last, as PyTorch is fastest so."""
import argparse
import json
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cpu"))
from torch_net import train_net  # noqa: E402


def make_step(a, net, x, y, keep_memory):
    rule = torch.optim.SGD(net.parameters(), 0.001, momentum=0.9, weight_decay=5e-4,
                           fused=True)
    run = torch.compile(net) if a.mode == "compile" else net

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=a.precision == "bf16"):
            loss = run(x, y)
        rule.zero_grad(set_to_none=not keep_memory)
        loss.backward()
        rule.step()
        return loss

    return step


def record(step):
    """The step as a CUDA graph, after some runs beside the main stream as it must be."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def time_of(step, steps):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(steps):
        step()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / steps


def main():
    a = argparse.ArgumentParser()
    a.add_argument("model")
    a.add_argument("batch", type=int)
    a.add_argument("--precision", default="fp32", choices=["fp32", "tf32", "bf16"])
    a.add_argument("--mode", default="eager", choices=["eager", "graph", "compile"])
    a.add_argument("--steps", type=int, default=20)
    a = a.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = a.precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = a.precision != "fp32"
    net, shape = train_net(a.model)
    net = net.cuda().train()
    x, y = torch.randn(a.batch, *shape).cuda(), (torch.arange(a.batch) * 7 % 10).cuda()
    if a.precision != "fp32":
        net = net.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    step = make_step(a, net, x, y, a.mode == "graph")
    if a.mode == "graph":
        step = record(step)
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    ms = [round(time_of(step, a.steps), 4) for _ in range(3)]
    print(json.dumps({
        "model": a.model, "batch": a.batch, "precision": a.precision, "mode": a.mode,
        "ms": ms, "images_per_s": round(a.batch * 1e3 / sorted(ms)[1], 1),
        "params": sum(p.numel() for p in net.parameters()),
        "peak_mb": round(torch.cuda.max_memory_allocated() / 2**20, 1),
        "torch": torch.__version__}))


if __name__ == "__main__":
    main()
