#include "base/nearest.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_letters = 100;

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, max_letters);  // no known word is as long
  b = b.substr(0, max_letters);
  // rows[i][j]: the distance of a's first i letters from b's first j.
  std::vector<std::vector<int>> rows(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int exchanged = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, exchanged});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  };
  const auto best = std::min_element(known.begin(), known.end(), closer);
  return best == known.end() ? "" : *best;
}

bool is_near(int distance, size_t letters) {
  const auto size = static_cast<int>(std::min(letters, max_letters));
  return distance < size && distance <= std::max(2, size / 4);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto distance = [lower = in_lower_case(word)](const std::string& other) {
    return edit_distance(lower, in_lower_case(other));
  };
  const auto best = std::ranges::min_element(known, {}, distance);
  const bool is_meant = best != known.end() && *best != word && is_near(distance(*best), word.size());
  return is_meant ? fmt::format("; did you mean {}?", *best) : "";
}

}  // namespace dragoman::internal
