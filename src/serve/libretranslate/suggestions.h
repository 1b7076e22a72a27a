// Suggestions: translations that users would have preferred, a JSON object a line, for tuning later.
//
// {"time": "2026-01-31T12:00:00Z", "source": "en", "target": "fr", "q": "Hello", "s": "Bonjour"}
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace dragoman::internal {

struct Suggestion {
  std::string source, target;  // languages
  std::string text, translation;
};

class Suggestions {
 public:
  // Throws an Error where the file cannot be written. An empty path: off.
  explicit Suggestions(std::string path, size_t max_bytes = size_t{1} << 30);

  bool on() const { return !path_.empty(); }
  // Appends a line, whole, though other processes append as well; it is on the disk then. Throws an Error where that
  // fails or where the file has reached its largest size.
  void add(const Suggestion& suggestion);

 private:
  const std::string path_;
  const size_t max_bytes_;
  std::mutex mutex_;
};

}  // namespace dragoman::internal
