// The translations of lines, in their order, as many at once as a translator has room for.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "search/translator.h"

namespace dragoman::internal {

inline std::vector<TranslatedLine> translate_lines(SavedModel& model, const std::vector<std::string>& lines,
                                                   const SearchOptions& options,
                                                   const BatchLimits& limits = {},
                                                   const std::string& prefix = "", int64_t* steps = nullptr) {
  Translator translator(model, limits);
  std::vector<TranslatedLine> done(lines.size());
  for (size_t next = 0; next < lines.size() || translator.busy();) {
    for (; next < lines.size() && translator.has_room(); ++next)
      translator.add(next, {.text = lines[next], .prefix = prefix, .options = options});
    for (TranslationResult& result : translator.step()) {
      if (result.status != SearchStatus::finished) throw Error(result.error);
      done[result.id] = std::move(result.line);
    }
    if (steps != nullptr) ++*steps;
  }
  return done;
}

}  // namespace dragoman::internal
