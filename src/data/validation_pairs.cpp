#include "data/encode_corpus.h"
#include "data/prepare_corpus.h"

namespace dragoman::internal {

std::vector<TextPair> validation_pairs(const DataConfig& data, const std::string& folder) {
  const bool held_out = !has_validation_files(data);
  if (held_out && data.hold_out == 0) return {};
  const std::vector<CorpusSource> held_out_files = {
      {is_one_sided(data) ? "" : held_out_path(folder, "source"), held_out_path(folder, "target"),
       TextFormat::text}};
  return held_out ? read_pairs_of_user("validation", held_out_files, false, data.max_length)
                  : read_pairs_of_user("validation", validation_sources(data), data.swap, data.max_length);
}

}  // namespace dragoman::internal
