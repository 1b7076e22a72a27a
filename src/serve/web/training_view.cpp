#include "serve/web/training_view.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "serve/web/pages.h"

namespace dragoman::internal {

TrainingView::TrainingView(std::string folder) : watch_(folder) {
  if (!folder.empty()) thread_ = std::jthread([this](const std::stop_token& stop) { answer_calls(stop); });
}

TrainingView::~TrainingView() = default;

// All that wait get the answer of one reading.
void TrainingView::answer_calls(const std::stop_token& stop) {
  for (;;) {
    std::vector<ServeCall> calls;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      calls = std::exchange(waiting_, {});
    }
    refresh();
    for (const ServeCall& call : calls) call.responder.send(tagged_answer(call.request, data_, tag_));
  }
}

void TrainingView::refresh() {
  try {
    const auto data = watch_.update();
    if (!data) return;
    keep(json_text(*data));
  } catch (const std::exception& error) {
    log_warning("the training runs cannot be read: {}", error.what());
    if (data_.empty()) keep(R"({"runs":[]})");
  }
}

void TrainingView::keep(std::string data) {
  data_ = std::move(data);
  tag_ = entity_tag(data_);
}

std::vector<Route> TrainingView::routes() {
  const nlohmann::ordered_json runs = {{"type", "array"}, {"items", {{"type", "object"}}}};
  return {{.method = "GET",
           .path = "/v1/training",
           .tag = "Dragoman",
           .summary = "The curves and samples of training runs, up to now",
           .answer = {{"type", "object"}, {"required", {"runs"}}, {"properties", {{"runs", runs}}}},
           .errors = {404},
           .handle = [this](ServeCall call) {
             if (!thread_.joinable())
               throw ServeError(404, "this server shows no training runs: start it with --training DIR");
             {
               const std::lock_guard lock(mutex_);
               waiting_.push_back(std::move(call));
             }
             wake_.notify_one();
           }}};
}

}  // namespace dragoman::internal
