#!/usr/bin/env python3
"""Measure what this GPU can reach, for kernels.py to compare with: TB/s of a copy of 4 GiB,
TFLOP/s of products of two 8192 x 8192 matrices of random numbers, by PyTorch."""
import torch

SIDE = 8192


def seconds(run, times=20):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(5):
        run()
    begin.record()
    for _ in range(times):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e-3 / times


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    x = torch.randn(1 << 30, device="cuda")
    y = torch.empty_like(x)
    print(f"copy: {8 * x.numel() / seconds(lambda: y.copy_(x)) / 1e12:.2f} TB/s")
    for name, dtype in ("bf16", torch.bfloat16), ("tf32", torch.float32):
        a, b = (torch.randn(SIDE, SIDE, device="cuda").to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        rate = 2 * SIDE ** 3 / seconds(lambda: torch.mm(a, b, out=out)) / 1e12
        print(f"product, {name}: {rate:.0f} TFLOP/s")


if __name__ == "__main__":
    main()
