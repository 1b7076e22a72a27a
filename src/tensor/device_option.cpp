#include "tensor/device_option.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

// Whether it may name a device. Which ones there are is known when it is opened.
bool is_device(const std::string& text) {
  const std::string numbered = "cuda:";
  if (!text.starts_with(numbered)) return text == "auto" || text == "cpu" || text == "cuda";
  const std::string number = text.substr(numbered.size());
  constexpr size_t most_digits = 4;
  return !number.empty() && number.size() <= most_digits &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

// Or several: what kernels_of_devices() takes.
bool are_devices(const std::string& text) {
  if (text == "cuda:all" || is_device(text)) return true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    if (!one.starts_with("cuda:") || !is_device(one)) return false;
    begin = end + 1;
  }
  return true;
}

constexpr const char* of_one =
    "where to compute; auto: on a GPU if one can be used, else on the processor; cuda: on the "
    "first GPU; cuda:1: on the second";
constexpr const char* of_several =
    "where to compute; auto: on a GPU if one can be used, else on the processor; cuda: on the "
    "first GPU; cuda:1: on the second; cuda:0,cuda:1: on both; cuda:all: on all";

}  // namespace

Declaration declare_device(Section& section, std::string& device, Devices devices) {
  if (devices == Devices::one)
    return section.add(
        "device", device, of_one,
        {.kind = "auto|cpu|cuda", .expected = "auto, cpu, cuda or cuda:N", .allows = is_device});
  return section.add("device", device, of_several,
                     {.kind = "auto|cpu|cuda",
                      .expected = "auto, cpu, cuda or cuda:N, or several GPUs: cuda:0,cuda:1 or cuda:all",
                      .allows = are_devices});
}

}  // namespace dragoman::internal
