#include "train/averaging.h"

#include "base/error.h"
#include "model/weights.h"
#include "train/checkpoints.h"
#include "train/finite.h"

namespace dragoman::internal {

void average_weights(Parameters& parameters, const std::vector<std::string>& files) {
  std::vector<double> sums(parameters.weights().size());
  for (const std::string& file : files) {
    verify_checkpoint_file(file);  // earlier versions wrote no checksums of tensors
    read_weights(file, parameters);
    const HostView<const float> weights(parameters.memory(), parameters.weights());
    if (!all_finite(weights.span()))
      throw Error("{} contains non-finite values: it is damaged, or its training diverged; leave it out",
                  file);
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
