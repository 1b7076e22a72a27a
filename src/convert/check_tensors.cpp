#include "convert/check_tensors.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quotes.h"
#include "model/transformer.h"

namespace dragoman::internal {

void check_tensors(const ImportedModel& model, const std::string& path, const ForeignTensors& tensors,
                   const TensorNames& names) {
  Device device(kernels_for("baseline"), 1);
  const Transformer transformer(model.config, device, Buffers::none_yet);
  std::set<std::string, std::less<>> known;
  for (const Parameter& parameter : transformer.parameters.list()) {
    model.tensors_of(parameter);
    for (std::string& name : names.of(parameter.name)) known.insert(std::move(name));
  }
  std::vector<std::string> others;
  for (const auto& [name, tensor] : tensors)
    if (!known.contains(name) && !names.can_ignore(name)) others.push_back(name);
  if (others.empty()) return;
  throw Error("{}: unsupported tensor {}{}: {}", path, in_quotes(others[0]),
              others.size() > 1 ? fmt::format(" (the first of {})", others.size()) : "",
              names.reason ? names.reason(others[0]) : "models with additional weights cannot be imported");
}

}  // namespace dragoman::internal
