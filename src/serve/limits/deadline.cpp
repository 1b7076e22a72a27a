#include "serve/limits/deadline.h"

#include <algorithm>
#include <optional>

#include "base/parse_number.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

using std::chrono::milliseconds;

std::optional<int64_t> whole_number(std::string_view text) {
  const auto number = parse_number<int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// What is not understood is ignored, as the RFC asks.
std::optional<int64_t> preferred_wait(std::string_view prefer) {
  const size_t at = prefer.find("wait=");
  if (at == prefer.npos || (at > 0 && prefer[at - 1] != ' ' && prefer[at - 1] != ',')) return std::nullopt;
  prefer.remove_prefix(at + 5);
  return whole_number(prefer.substr(0, prefer.find_first_of(",; ")));
}

}  // namespace

std::chrono::steady_clock::time_point deadline_of(const IncomingRequest& request, int64_t seconds) {
  int64_t time = 1000 * seconds;
  if (const std::string_view header = request.header("x-timeout-ms"); !header.empty()) {
    const auto wanted = whole_number(header);
    if (!wanted || *wanted == 0)
      throw ServeError(400, "X-Timeout-Ms must be a whole number of milliseconds, at least 1");
    time = std::min(time, *wanted);
  }
  if (const auto wait = preferred_wait(request.header("prefer")))
    time = std::min(time, std::min(*wait, seconds) * 1000);
  return request.received + milliseconds(std::max<int64_t>(time, 1));
}

}  // namespace dragoman::internal
