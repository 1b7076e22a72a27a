#!/usr/bin/env python3
"""The model in docs/scale.md of the time per update on N processes.

    bench/step_model.py --parameters 60.5e6 --last 19e6 --compute 3.5 --gbit 1 10 100

An update of one batch per process computes for `compute` seconds, of which the last two thirds are the backward pass.
Gradients are sent during that pass, except those of the `last` parameters (a tied embedding's, which it computes last).
Each process sends and receives 2 (N - 1) / N times the gradients, at the link's speed, in slices of max(2^20, 2^14 N)
floats, each of which costs 2 (N - 1) messages of some microseconds. All wait for the slowest of N processes: if times
have a relative standard deviation s, it takes about s sqrt(2 ln N) longer than the mean.
"""
import argparse
import math


def update_seconds(n, compute, spread, parameters, last, bytes_each, bytes_per_second, message_seconds):
    def exchange(count):
        slices = -(-count // max(2**20, 2**14 * n))
        return 2 * (n - 1) / n * count * bytes_each / bytes_per_second + slices * 2 * (n - 1) * message_seconds

    slowest = compute * (1 + spread * math.sqrt(2 * math.log(n)))
    beyond_backward = max(0.0, exchange(parameters - last) - 2 / 3 * slowest)
    return slowest + beyond_backward + exchange(last)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--parameters", type=float, required=True)
    p.add_argument("--last", type=float, default=0, help="parameters whose gradients are completed last")
    p.add_argument("--compute", type=float, required=True, help="seconds that a process computes per update")
    p.add_argument("--spread", type=float, default=0.03, help="relative standard deviation of those seconds")
    p.add_argument("--bf16", action="store_true", help="send gradients in 16 bits")
    p.add_argument("--gbit", type=float, nargs="+", default=[1, 10, 100], help="bandwidths of a process's link, each way")
    p.add_argument("--message-us", type=float, default=20)
    p.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8, 16, 64, 256, 1000])
    a = p.parse_args()
    print("processes" + "".join(f"{g:>14g} Gbit/s" for g in a.gbit))
    for n in a.processes:
        cells = []
        for gbit in a.gbit:
            t = update_seconds(n, a.compute, a.spread, a.parameters, a.last, 2 if a.bf16 else 4, gbit * 1e9 / 8,
                               a.message_us * 1e-6)
            cells.append(f"{t:9.2f} s {100 * a.compute / t:5.0f} %  ")
        print(f"{n:>9}" + "  ".join(cells))


if __name__ == "__main__":
    main()
