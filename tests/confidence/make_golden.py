#!/usr/bin/env python3
"""The numbers of logistic_test.cpp and reliability_test.cpp, by scikit-learn and SciPy.

    pip install scikit-learn scipy && python3 tests/confidence/make_golden.py
"""
import numpy as np
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

# The same cases as in the test: a generator that both can write down.
rows, state = [], 1
for _ in range(60):
    row = []
    for _ in range(3):
        state = (state * 48271) % 2147483647
        row.append(state / 2147483647)
    rows.append(row)
x = np.array(rows) * [1, 10, 0.1]
events = ((x @ [2, -0.3, 5] + np.sin(np.arange(60) * 1.7)) > 0.4).astype(int)
scale = StandardScaler().fit(x)
model = LogisticRegression(C=1, tol=1e-12, max_iter=10000).fit(scale.transform(x), events)
weights = model.coef_[0] / scale.scale_
bias = model.intercept_[0] - weights @ scale.mean_
print("events", "".join(map(str, events)))
print("weights", weights.tolist(), "bias", bias)
print("rank correlation", spearmanr([1, 2, 2, 5, 3, 0], [3, 1, 4, 4, 9, 2]).statistic)
