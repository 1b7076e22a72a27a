#include "base/log.h"
#include "data/encode_corpus.h"
#include "data/prepare_corpus.h"

namespace dragoman::internal {

std::vector<TextPair> validation_pairs(const DataConfig& data, const std::string& folder) {
  const bool held_out = !has_validation_files(data);
  if (held_out && data.hold_out == 0) return {};
  const std::vector<CorpusSource> held_out_files = {
      {is_one_sided(data) ? "" : held_out_path(folder, "source"), held_out_path(folder, "target"),
       TextFormat::text}};
  DroppedPairs left_out;
  auto pairs = held_out ? read_pairs(held_out_files, false, left_out, data.max_length)
                        : read_pairs(validation_sources(data), data.swap, left_out, data.max_length);
  if (left_out.total() > 0) {
    log_warning("validation: {} pairs left out, {} empty, {} invalid and {} too long", left_out.total(),
                left_out.empty, left_out.invalid, left_out.too_long);
  }
  return pairs;
}

}  // namespace dragoman::internal
