// How well probabilities tell what is right: of what was given 0.8, 80 % should be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::internal {

// The cases whose probabilities are in the same tenth.
struct ReliabilityBin {
  int64_t cases = 0;
  double confidence = 0, right = 0;  // means; 0 without cases
};

struct Reliability {
  std::vector<ReliabilityBin> bins;  // ten, from 0 to 1
  // The expected calibration error (Naeini et al., 2015): the mean over all cases of |confidence − right| of their
  // bins.
  double error = 0;
};

// `right`: 1 or 0, of each case.
Reliability reliability(std::span<const double> probabilities, std::span<const double> right);

// Spearman's: how far both are in the same order. 0 where one of the two is constant.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace dragoman::internal
