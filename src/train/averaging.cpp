#include "train/averaging.h"

#include "model/weights.h"

namespace dragoman::internal {

void average_weights(Parameters& parameters, const std::vector<std::string>& files) {
  std::vector<double> sums(parameters.weights().size());
  for (const std::string& file : files) {
    read_weights(file, parameters);
    const HostView<const float> weights(parameters.memory(), parameters.weights());
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(weights[i]);
  }
  {
    const HostView<float> weights(parameters.memory(), parameters.weights());
    for (size_t i = 0; i < sums.size(); ++i)
      weights[i] = static_cast<float>(sums[i] / static_cast<double>(files.size()));
  }
  parameters.changed();
}

}  // namespace dragoman::internal
