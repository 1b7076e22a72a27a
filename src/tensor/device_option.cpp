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

}  // namespace

Declaration declare_device(Section& section, std::string& device) {
  return section.add(
      "device", device,
      "where to compute; auto: on a GPU if one can be used, else on the processor; cuda: on the "
      "first GPU; cuda:1: on the second",
      {.kind = "auto|cpu|cuda", .expected = "auto, cpu, cuda or cuda:N", .allows = is_device});
}

}  // namespace dragoman::internal
