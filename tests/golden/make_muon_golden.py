#!/usr/bin/env python3
"""Writes fixtures/muon.json: steps of Muon by singular value decompositions in double precision, with numpy.

    python3 tests/golden/make_muon_golden.py

A matrix's direction U·S·Vᵀ becomes U·p(S)·Vᵀ, where p is one polynomial after another: other arithmetic than Dragoman's,
which never computes singular values. Weights, gradients and what they come to are written with nine digits.
"""
import json
import pathlib

import numpy as np

# The polynomials a·x + b·x³ + c·x⁵ of src/train/muon.cpp. Those that are nearest to 1 over [0.02, 1], and then over what
# they leave.
POLYNOMIALS = [(7.711, -22.1138, 16.2488), (3.1929, -2.3508, 0.4794), (2.2128, -1.5684, 0.3966)]
MOMENTUM, RATE, STEPS = 0.9, 0.03, 3


def moved_to_one(s):
    for a, b, c in POLYNOMIALS:
        s = a * s + b * s**3 + c * s**5
    return s


def orthogonal(x):
    u, s, v = np.linalg.svd(x, full_matrices=False)
    norm = np.sqrt(np.sqrt(np.sum(s**4)))  # the root of the Frobenius norm of x·xᵀ
    return u @ np.diag(moved_to_one(s / norm)) @ v


def steps(rng, rows, columns, down, across):
    """A weight of down × across matrices, each moved for itself."""
    def listed(matrix):
        return [float(f"{value:.9g}") for value in np.asarray(matrix).ravel()]

    weight = rng.normal(size=(rows, columns)).astype(np.float32).astype(np.float64)
    momentum = np.zeros_like(weight)
    case = {"rows": rows, "columns": columns, "down": down, "across": across, "before": listed(weight), "gradients": []}
    height, width = rows // down, columns // across
    for _ in range(STEPS):
        gradient = (100 * rng.normal(size=(rows, columns))).astype(np.float32).astype(np.float64)
        case["gradients"].append(listed(gradient))
        momentum = MOMENTUM * momentum + (1 - MOMENTUM) * gradient
        direction = MOMENTUM * momentum + (1 - MOMENTUM) * gradient
        for i in range(down):
            for j in range(across):
                block = np.s_[i * height:(i + 1) * height, j * width:(j + 1) * width]
                weight[block] -= RATE * 0.2 * np.sqrt(max(height, width)) * orthogonal(direction[block])
    case["after"] = listed(weight)
    return case


def main():
    reached = moved_to_one(np.geomspace(0.02, 1, 10001))
    assert 0.9 < reached.min() and reached.max() < 1.1, (reached.min(), reached.max())
    rng = np.random.default_rng(7)
    # Neighbours are wide and tall matrices of one size, and matrices of one height and two widths.
    shapes = [(6, 20, 1, 1), (20, 6, 1, 1), (8, 8, 1, 1), (12, 24, 1, 3), (24, 12, 4, 1), (5, 1, 1, 1)]
    fixture = {"momentum": MOMENTUM, "rate": RATE, "cases": [steps(rng, *shape) for shape in shapes]}
    path = pathlib.Path(__file__).resolve().parent / "fixtures" / "muon.json"
    path.write_text(json.dumps(fixture) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size} bytes")


main()
