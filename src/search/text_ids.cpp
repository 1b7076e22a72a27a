#include "search/text_ids.h"

#include "text/unicode.h"

namespace dragoman::internal {

std::vector<int32_t> source_ids(const SavedModel& model, std::string_view text,
                                const SearchOptions& options) {
  std::vector<int32_t> ids = model.encode_source(repaired(text), options);
  if (ids.empty()) ids.push_back(model.vocabularies.source->special().empty_source_token());
  return ids;
}

std::vector<int32_t> target_ids(const SavedModel& model, std::string_view text,
                                const SearchOptions& options) {
  const Vocabulary& vocabulary = *model.vocabularies.target;
  std::vector<int32_t> ids = model.direction(options).start.all(),
                       subwords = vocabulary.encode(repaired(text));
  const int32_t end = vocabulary.special().end;
  // Without an end mark the decoder is given the first symbol.
  if (end < 0 && !subwords.empty()) subwords.erase(subwords.begin());
  ids.insert(ids.end(), subwords.begin(), subwords.end());
  if (end >= 0) ids.push_back(end);
  return ids;
}

}  // namespace dragoman::internal
