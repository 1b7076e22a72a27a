#include "text/sentencepiece_splitter.h"

#include <vector>

#include <sentencepiece_processor.h>

#include "base/error.h"
#include "base/files.h"
#include "text/sentencepiece_check.h"

namespace dragoman::internal {

struct SentencePieceSplitter::Processor : sentencepiece::SentencePieceProcessor {};

SentencePieceSplitter::SentencePieceSplitter(const std::string& path)
    : path_(path), processor_(std::make_unique<Processor>()) {
  const std::string model = read_file(path);
  check_sentencepiece(model, path);
  const auto status = processor_->LoadFromSerializedProto(model);
  if (!status.ok())
    throw Error("{} is not a SentencePiece model, or damaged: {}", path, status.error_message());
}

SentencePieceSplitter::~SentencePieceSplitter() = default;

std::string SentencePieceSplitter::split(std::string_view text) const {
  std::vector<std::string> pieces;
  const auto status = processor_->Encode(text, &pieces);
  if (!status.ok()) throw Error("{} cannot split a text: {}", path_, status.error_message());
  std::string joined;
  for (const std::string& piece : pieces) {
    if (!joined.empty()) joined += ' ';
    joined += piece;
  }
  return joined;
}

}  // namespace dragoman::internal
