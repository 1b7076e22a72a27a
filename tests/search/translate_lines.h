// The translations of lines, in their order, as many at once as a translator has room for.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "search/stepped.h"

namespace dragoman::internal {

inline std::vector<TranslatedLine> translate_lines(SavedModel& model, const std::vector<std::string>& lines,
                                                   const SearchOptions& options,
                                                   const BatchLimits& limits = {},
                                                   const std::string& prefix = "", int64_t* steps = nullptr) {
  SteppedTranslator translator(model, limits);
  std::vector<TranslatedLine> done(lines.size());
  for (size_t i = 0; i < lines.size(); ++i)
    translator.add(i, {.text = lines[i], .prefix = prefix, .options = options});
  while (translator.busy()) {
    for (TranslationResult& result : translator.step()) {
      if (result.status != SearchStatus::finished) throw Error(result.error);
      done[result.id] = std::move(result.line);
    }
    if (steps != nullptr) ++*steps;
  }
  return done;
}

}  // namespace dragoman::internal
