// Small corpora for tests: files in a folder that goes away.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random.h"
#include "text/corpus_config.h"

namespace dragoman {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dragoman-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    set_log_level(LogLevel::off);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    set_log_level(LogLevel::info);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

 private:
  std::string path_;
};

// Sentences of 1 to `longest` words out of a small made-up language, and the same in another.
struct ToyText {
  std::string source, target;  // files' contents
  std::vector<std::string> source_lines, target_lines;
};
inline ToyText toy_text(int64_t pairs, int64_t longest = 12, uint64_t seed = 1) {
  const char* syllables[] = {"ka", "lo", "mi", "ter", "sun", "é", "var", "do"};
  Random random(seed);
  ToyText text;
  for (int64_t i = 0; i < pairs; ++i) {
    std::string source, target;
    const uint64_t words = 1 + random.below(static_cast<uint64_t>(longest));
    for (uint64_t word = 0; word < words; ++word) {
      const uint64_t first = random.below(8), second = random.below(8);
      source += fmt::format("{}{}{}", word > 0 ? " " : "", syllables[first], syllables[second]);
      target += fmt::format("{}{}o{}", word > 0 ? " " : "", syllables[second], syllables[first]);
    }
    text.source += source + "\n";
    text.target += target + "\n";
    text.source_lines.push_back(source);
    text.target_lines.push_back(target);
  }
  return text;
}

inline DataConfig toy_data(const TemporaryFolder& folder, const ToyText& text,
                           const std::string& name = "toy") {
  DataConfig data;
  data.source = {folder.write(name + ".source", text.source)};
  data.target = {folder.write(name + ".target", text.target)};
  return data;
}

inline VocabularyConfig toy_vocabulary() { return {.size = 60}; }

}  // namespace dragoman
