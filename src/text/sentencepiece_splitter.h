// Splits text into the pieces of a SentencePiece model, as text: for measurements that count them, such as spBLEU. What
// translates needs ids: vocabulary.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace dragoman::internal {

class SentencePieceSplitter {
 public:
  // Throws an Error if the file is not a SentencePiece model.
  explicit SentencePieceSplitter(const std::string& path);
  ~SentencePieceSplitter();

  // "▁the ▁mat": separated by spaces. Characters that no piece has stand as they are. Thread-safe.
  std::string split(std::string_view text) const;

 private:
  struct Processor;

  std::string path_;
  std::unique_ptr<Processor> processor_;
};

}  // namespace dragoman::internal
