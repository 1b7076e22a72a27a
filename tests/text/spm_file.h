// SentencePiece models as other systems have them.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include "text/vocabulary.h"

namespace dragoman::internal {

class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string>& lines) : lines_(lines) {}

  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  size_t next_ = 0;
};

// The bytes of a .spm file with these special tokens.
inline std::string spm_file(const std::vector<std::string>& lines, int size, const SpecialTokens& special) {
  std::string model;
  LineIterator sentences(lines);
  const std::string flags = fmt::format(
      "--model_type=bpe --vocab_size={} --hard_vocab_limit=false --unk_id={} --bos_id={} --eos_id={} "
      "--pad_id=-1 "
      "--minloglevel=3",
      size, special.unknown, special.start, special.end);
  const auto status = sentencepiece::SentencePieceTrainer::Train(flags, &sentences, &model);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return model;
}

}  // namespace dragoman::internal
