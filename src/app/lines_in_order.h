// Lines of text in, their translations out, in the same order: each as soon as it and those before it are done.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dragoman/glossary.h"
#include "dragoman/memory.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

using OnTranslation = std::function<void(const dragoman::Translation&)>;

// What all lines have in common besides their options: see dragoman::Request.
struct SharedByLines {
  bool tokens = true;
  const dragoman::Glossary* glossary = nullptr;
  const dragoman::Memory* memory = nullptr;
};

// Equal lines that wait together are translated once.
class LinesInOrder {
 public:
  // `options`: of each line. `at_once`: sentences that the translator works on; some more lines may wait for one before
  // them.
  LinesInOrder(dragoman::Translator& translator, const dragoman::Options& options, int64_t at_once,
               const SharedByLines& shared = {});

  bool empty() const { return lines_.empty(); }
  bool has_room() const { return lines_.size() < max_lines_; }
  void add(std::string_view text, std::string_view prefix = {});

  // Delivers finished lines up to the first unfinished one, for which it waits briefly.
  void deliver_finished(const OnTranslation& on_translation);

 private:
  struct Line {
    std::string key;
    std::shared_future<dragoman::Translation> done;
  };

  dragoman::Translator& translator_;
  const dragoman::Options& options_;
  const size_t max_lines_;
  const SharedByLines shared_;
  std::deque<std::shared_ptr<Line>> lines_;
  std::unordered_map<std::string, std::weak_ptr<Line>> equal_;  // by prefix and text
};

}  // namespace dragoman::internal
