#include "parallel/device_agreement.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "kernels/devices.h"

namespace dragoman::internal {
namespace {

struct Facts {
  bool is_gpu;
  std::array<unsigned char, 16> gpu;
  int nccl;
  char problem[256];  // why there is no NCCL
};

Facts facts_of(const SummingDevice& device) {
  Facts facts = {.is_gpu = device.is_gpu, .gpu = device.id, .nccl = device.nccl, .problem = {}};
  device.problem.copy(facts.problem, sizeof facts.problem - 1);
  return facts;
}

std::string words_of_version(int nccl) {
  return fmt::format("{}.{}.{}", nccl / 10000, nccl / 100 % 100, nccl % 100);
}

// All processes find the same; the first one alone says it.
template <class... Arguments>
[[noreturn]] void fail(const Processes& processes, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  if (!processes.first()) throw Error("");
  throw Error("{}", fmt::format(format, std::forward<Arguments>(arguments)...));
}

void check_gpus_differ(const Processes& processes, const std::vector<Facts>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!all[i].is_gpu || !all[j].is_gpu || all[i].gpu != all[j].gpu) continue;
      fail(
          processes,
          "processes {} and {} use the same GPU: start no more processes on a machine than it has GPUs, with "
          "--device cuda and not cuda:N, or use --device cpu",
          j, i);
    }
  }
}

}  // namespace

std::optional<DeviceSumsId> agree_on_device_sums(Processes& processes, const Kernels& kernels) {
  if (processes.count() == 1) return std::nullopt;
  const std::vector<Facts> all = processes.gather(facts_of(summing_device(kernels)));
  if (std::ranges::none_of(all, &Facts::is_gpu)) return std::nullopt;
  check_gpus_differ(processes, all);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].nccl == 0) {
      log_warning("gradients are summed by the host and MPI, since process {} {}{}", i,
                  all[i].is_gpu ? "cannot do it on its GPU: " : "has no GPU", all[i].problem);
      return std::nullopt;
    }
    if (all[i].nccl != all[0].nccl)
      fail(processes, "process 0 has NCCL {}, but process {} has {}: install one version everywhere",
           words_of_version(all[0].nccl), i, words_of_version(all[i].nccl));
  }
  log_info("gradients are summed in the GPUs' memory by NCCL {}", words_of_version(all[0].nccl));
  return processes.gather(processes.first() ? new_device_sums_id(kernels) : DeviceSumsId())[0];
}

}  // namespace dragoman::internal
