#include "search/ordered_translator.h"

#include <utility>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr int64_t lines_per_sentence =
    16;  // lines that may wait for one before them, for each sentence at once

}  // namespace

OrderedTranslator::OrderedTranslator(SavedModel& model, const SearchOptions& options,
                                     const BatchLimits& limits)
    : translator_(model, limits),
      options_(options),
      max_lines_(lines_per_sentence * limits.sentences * limits.searches) {
  translator_.check(options);
}

bool OrderedTranslator::has_room() const {
  return translator_.has_room() && static_cast<int64_t>(lines_.size()) < max_lines_;
}

void OrderedTranslator::add(std::string_view text, std::string_view prefix) {
  std::string key = std::string(prefix) + '\n' + std::string(text);
  if (const auto equal = equal_lines_.find(key); equal != equal_lines_.end()) {
    if (auto line = equal->second.lock()) return lines_.push_back(std::move(line));
  }
  auto line = std::make_shared<Line>(key);
  translator_.add(requests_, {.text = std::string(text), .prefix = std::string(prefix), .options = options_});
  equal_lines_[std::move(key)] = line;
  lines_.push_back(line);
  requested_[requests_++] = std::move(line);
}

void OrderedTranslator::step() {
  for (TranslationResult& result : translator_.step()) {
    if (result.status == SearchStatus::failed) throw Error(result.error);
    requested_.extract(result.id).mapped()->done = std::move(result.line);
  }
}

std::optional<TranslatedLine> OrderedTranslator::take() {
  if (lines_.empty() || !lines_.front()->done) return std::nullopt;
  const std::shared_ptr<Line> line = std::move(lines_.front());
  lines_.pop_front();
  if (line.use_count() > 1) return line->done;
  equal_lines_.erase(line->key);
  return std::move(line->done);
}

}  // namespace dragoman::internal
