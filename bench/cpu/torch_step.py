"""The counterpart of bench_step: the same steps of the same net in PyTorch. Prints one line
of JSON.

    python3 torch_step.py MODEL_DIR BATCH [--layout nchw|nhwc] [--threads N] [--steps N]
                          [--infer] [--bf16]
"""
import argparse
import json
import resource
import time

import torch

from torch_net import deploy_net, train_net


def main():
    a = argparse.ArgumentParser()
    a.add_argument("model")
    a.add_argument("batch", type=int)
    a.add_argument("--layout", default="nchw", choices=["nchw", "nhwc"])
    a.add_argument("--threads", type=int, default=0)
    a.add_argument("--steps", type=int, default=5)
    a.add_argument("--infer", action="store_true")
    a.add_argument("--bf16", action="store_true")
    a = a.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    net, shape = (deploy_net if a.infer else train_net)(a.model)
    net.train(not a.infer)
    x = torch.randn(a.batch, *shape)
    y = torch.arange(a.batch) * 7 % 10
    if a.layout == "nhwc":
        net = net.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    if not a.infer:
        rule = torch.optim.SGD(net.parameters(), 0.001, momentum=0.9, weight_decay=5e-4)

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=a.bf16):
            if a.infer:
                with torch.no_grad():
                    return net(x)
            loss = net(x, y)
        rule.zero_grad()
        loss.backward()
        rule.step()
        return loss

    for _ in range(2):
        out = step()
    ms = []
    for _ in range(a.steps):
        wall, cpu = time.perf_counter(), time.process_time()
        out = step()
        ms.append([round((time.perf_counter() - wall) * 1e3, 3),
                   round((time.process_time() - cpu) * 1e3, 3)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"model": a.model, "batch": a.batch, "layout": a.layout,
                      "mode": "infer" if a.infer else "train", "threads": a.threads,
                      "params": sum(p.numel() for p in net.parameters()), "ms": ms,
                      "loss": float(out.mean()), "peak_mb": round(peak, 1)}))


if __name__ == "__main__":
    main()
