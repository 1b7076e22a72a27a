#include "serve/route.h"

#include <algorithm>

namespace dragoman::internal {

bool path_matches(std::string_view route, std::string_view path, std::vector<std::string>& names) {
  names.clear();
  while (true) {
    const std::string_view part = route.substr(0, std::min(route.find('/', 1), route.size()));
    const size_t end = part.ends_with("*>") ? path.size() : std::min(path.find('/', 1), path.size());
    if (part.starts_with("/<")) {
      if (end < 2) return false;
      names.emplace_back(path.substr(1, end - 1));
    } else if (part != path.substr(0, end)) {
      return false;
    }
    route.remove_prefix(part.size());
    path.remove_prefix(end);
    if (route.empty() || path.empty()) return route.empty() && path.empty();
  }
}

}  // namespace dragoman::internal
