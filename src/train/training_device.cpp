#include "train/training_device.h"

#include "kernels/devices.h"
#include "kernels/fastest.h"

namespace dragoman::internal {

const Kernels& training_kernels(const TrainingConfig& training) {
  const Kernels& kernels = kernels_of_device(training.device);
  if (training.precision == TrainingPrecision::tf32) {
    if (is_gpu(kernels)) return with_tf32(kernels);
    throw UsageError(
        "training.precision is tf32, which only GPUs have, but this run is on a processor ({}): use fp32, "
        "bf16 or auto",
        device_name(kernels));
  }
  return training.precision == TrainingPrecision::fp32 ? kernels : fastest_in_bf16(kernels);
}

Precision precision_of(const TrainingConfig& training) {
  return training.precision == TrainingPrecision::bf16 ? Precision::bf16 : Precision::fp32;
}

void use_training_device(Processes& processes, const TrainingConfig& training) {
  run_on_first_then_others(processes, [&] { training_kernels(training); });
  processes.use_device(training_kernels(training));
}

}  // namespace dragoman::internal
