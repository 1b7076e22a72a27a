#include "app/lines_in_order.h"

#include <chrono>

namespace dragoman::internal {
namespace {

constexpr int64_t lines_per_sentence = 16;
constexpr std::chrono::milliseconds moment{5};

}  // namespace

LinesInOrder::LinesInOrder(dragoman::Translator& translator, const dragoman::Options& options,
                           int64_t at_once, const SharedByLines& shared)
    : translator_(translator),
      options_(options),
      max_lines_(static_cast<size_t>(lines_per_sentence * at_once)),
      shared_(shared) {}

void LinesInOrder::add(std::string_view text, std::string_view prefix) {
  std::string key = std::string(prefix) + '\n' + std::string(text);
  std::weak_ptr<Line>& equal = equal_[key];
  std::shared_ptr<Line> line = equal.lock();
  if (!line) {
    line = std::make_shared<Line>();
    dragoman::Request request = {.text = std::string(text),
                                 .options = options_,
                                 .prefix = std::string(prefix),
                                 .tokens = shared_.tokens,
                                 .memory = shared_.memory};
    if (shared_.glossary != nullptr) request.terms = shared_.glossary->terms(request.text);
    line->done = translator_.submit(std::move(request)).share();
    line->key = std::move(key);
    equal = line;
  }
  lines_.push_back(std::move(line));
}

void LinesInOrder::deliver_finished(const OnTranslation& on_translation) {
  while (!lines_.empty() && lines_.front()->done.wait_for(moment) == std::future_status::ready) {
    const std::shared_ptr<Line> line = std::move(lines_.front());
    lines_.pop_front();
    if (line.use_count() == 1) equal_.erase(line->key);
    on_translation(line->done.get());
  }
}

}  // namespace dragoman::internal
