// The simplest jobs of the scheduler: a task, and a single request of tokens, for measurements and tests.
#pragma once

#include <functional>
#include <utility>

#include "search/queue/scheduler.h"

namespace dragoman::internal {

// Work that uses the model as a whole.
class TaskJob : public SearchJob {
 public:
  TaskJob(std::function<void()> work, std::function<void(const JobEnd&)> on_end)
      : work_(std::move(work)), on_end_(std::move(on_end)) {}

  bool is_task() const override { return true; }
  size_t read() override {
    work_();
    return 0;
  }
  void end(JobEnd end) override { on_end_(end); }

 private:
  std::function<void()> work_;
  std::function<void(const JobEnd&)> on_end_;
};

class RequestJob : public SearchJob {
 public:
  using OnEnd = std::function<void(const JobEnd&, const FoundSentence&)>;
  using OnProgress = std::function<void(const SearchProgress&)>;

  RequestJob(SearchRequest request, OnEnd on_end, OnProgress on_progress = {})
      : request_(std::move(request)), on_end_(std::move(on_end)), on_progress_(std::move(on_progress)) {}

  size_t read() override { return 1; }
  SearchRequest sentence(size_t) const override { return request_; }
  void found(size_t, const FoundSentence& found) override { found_ = found; }
  void moved(size_t, const SearchProgress& progress) override { progress_ = progress; }
  bool has_news() override {
    reported_ = progress_;
    return static_cast<bool>(on_progress_);
  }
  void report() override { on_progress_(reported_); }
  void end(JobEnd end) override { on_end_(end, found_); }

 private:
  SearchRequest request_;
  OnEnd on_end_;
  OnProgress on_progress_;
  FoundSentence found_;
  SearchProgress progress_, reported_;
};

}  // namespace dragoman::internal
