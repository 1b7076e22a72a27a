// OrderedTranslator: lines of text in, their translations out, in the same order.
//
//   OrderedTranslator translator(model, options);
//   while (more lines come, or translator.busy()) {
//     while (translator.has_room() && another line is there) translator.add(line);
//     translator.step();
//     while (auto line = translator.take()) print(line->translations[0].text);
//   }
//
// A line goes out as soon as all before it have; memory is bounded by the room. Equal lines that wait together are
// translated once.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "search/translator.h"

namespace dragoman::internal {

class OrderedTranslator {
 public:
  // Throws an Error where the model cannot do what the options ask for.
  OrderedTranslator(SavedModel& model, const SearchOptions& options, const BatchLimits& limits = {});

  bool has_room() const;
  bool busy() const { return !lines_.empty(); }
  // `prefix`: text with which the output begins.
  void add(std::string_view line, std::string_view prefix = {});
  // A token further, for as many sentences as are translated at once. An Error where the model fails.
  void step();
  // The next line, if it is done.
  std::optional<TranslatedLine> take();

 private:
  struct Line {
    std::string key;
    std::optional<TranslatedLine> done = {};
  };

  Translator translator_;
  const SearchOptions options_;
  const int64_t max_lines_;
  uint64_t requests_ = 0;
  std::deque<std::shared_ptr<Line>> lines_;
  std::unordered_map<std::string, std::weak_ptr<Line>> equal_lines_;  // by text and prefix
  std::unordered_map<uint64_t, std::shared_ptr<Line>> requested_;     // by the request's id
};

}  // namespace dragoman::internal
