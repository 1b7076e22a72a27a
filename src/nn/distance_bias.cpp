#include "nn/distance_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace dragoman::internal {
namespace {

// At least `keys`, and seldom another one.
int64_t power_of_2(int64_t keys) {
  constexpr int64_t least = 64;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(keys, least))));
}

}  // namespace

int64_t t5_bucket(int64_t distance, bool both_directions, int64_t buckets, int64_t max_distance) {
  const int64_t here = both_directions ? buckets / 2 : buckets;
  const int64_t first = both_directions && distance > 0 ? here : 0;
  const int64_t far = both_directions ? std::abs(distance) : std::max<int64_t>(-distance, 0);
  const int64_t exact = here / 2;
  if (far < exact) return first + far;
  // In floats, as the models were trained.
  const auto limit =
      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
  const float share = std::log(static_cast<float>(far) / static_cast<float>(exact)) / limit;
  const auto beyond = static_cast<int64_t>(share * static_cast<float>(here - exact));
  return first + std::min(exact + beyond, here - 1);
}

// A geometric series that ends at 2^-8; for a number of heads that is no power of 2, that of the power below it, and
// every second one of that of the power above.
std::vector<double> alibi_slopes(int64_t heads) {
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t among = h < below ? below : 2 * below, exponent = h < below ? h + 1 : 2 * (h - below) + 1;
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(exponent) / static_cast<double>(among)));
  }
  return slopes;
}

DistanceBias DistanceBias::alibi(int64_t heads) {
  DistanceBias bias;
  bias.heads_ = heads;
  return bias;
}

DistanceBias DistanceBias::t5(const Tensor& weights, bool both_directions, int64_t max_distance) {
  DistanceBias bias;
  bias.weights_ = weights;
  bias.both_directions_ = both_directions;
  bias.max_distance_ = max_distance;
  return bias;
}

// A bias of the distances that occur, so that a long sentence makes those after it no slower.
Tensor DistanceBias::rows(Pass& pass, int64_t keys) {
  if (weights_)
    return look_up(pass, weights_, buckets(pass.device.pool, std::min(power_of_2(keys), max_distance_)));
  if (heads_ == 0) return {};
  if (!slopes_ || slopes_.rows() < 2 * keys) slopes_ = falling(pass.device.pool, power_of_2(keys));
  const int64_t reach = (slopes_.rows() - 1) / 2;
  return slopes_.row_range(reach - keys, 2 * keys + 1);
}

const Array<int32_t>& DistanceBias::buckets(Pool& pool, int64_t reach) {
  if (const auto known = buckets_.find(reach); known != buckets_.end()) return known->second;
  std::vector<int32_t> all;
  for (int64_t d = -reach; d <= reach; ++d)
    all.push_back(static_cast<int32_t>(t5_bucket(d, both_directions_, weights_.rows(), max_distance_)));
  return buckets_.emplace(reach, Array<int32_t>(pool, all)).first->second;
}

Tensor DistanceBias::falling(Pool& pool, int64_t reach) const {
  const Tensor table(pool, 2 * reach + 1, heads_);
  const HostView<float> values = table.new_values();
  const std::vector<double> slopes = alibi_slopes(heads_);
  float* value = values.data();
  for (int64_t d = -reach; d <= reach; ++d) {
    for (const double slope : slopes)
      *value++ = static_cast<float>(-slope * static_cast<double>(std::abs(d)));
  }
  return table;
}

}  // namespace dragoman::internal
