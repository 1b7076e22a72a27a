#include "serve/translations/translate_all.h"

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/answers.h"
#include "serve/translations/combined_stop.h"

namespace dragoman::internal {
namespace {

class ResultCollector {
 public:
  ResultCollector(const ServeCall& call, size_t texts,
                  std::function<HttpResponse(std::vector<TextResult>)> make)
      : responder_(call.responder),
        tag_(call.route->tag),
        request_(call.request.id),
        make_(std::move(make)),
        stop_(call.request.disconnected, std::stop_token()),
        results_(texts),
        left_(texts) {}

  std::stop_token stop() const { return stop_.token(); }
  bool failed() const {
    const std::lock_guard lock(mutex_);
    return error_ != nullptr;
  }

  void receive(size_t i, std::future<TextResult>& done) {
    try {
      results_[i] = done.get();
    } catch (...) {
      fail(std::current_exception());
    }
    end(1);
  }

  // For those that were not begun, too.
  void fail(const std::exception_ptr& error) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = error;
    }
    stop_.request_stop();
  }

  void end(size_t texts) {
    {
      const std::lock_guard lock(mutex_);
      if ((left_ -= texts) > 0) return;
    }
    try {
      if (error_) std::rethrow_exception(error_);
      responder_.send(make_(std::move(results_)));
    } catch (...) {
      responder_.send(error_answer(tag_, std::current_exception(), request_));
    }
  }

 private:
  const Responder responder_;
  const std::string tag_, request_;  // its id
  const std::function<HttpResponse(std::vector<TextResult>)> make_;
  CombinedStop stop_;
  mutable std::mutex mutex_;
  std::vector<TextResult> results_;
  size_t left_;
  std::exception_ptr error_;
};

}  // namespace

void translate_all(Translations& translations, const ServeCall& call, std::vector<TextWork> works,
                   std::function<HttpResponse(std::vector<TextResult>)> make) {
  const auto collector = std::make_shared<ResultCollector>(call, works.size(), std::move(make));
  for (size_t i = 0; i < works.size(); ++i) {
    works[i].stop = collector->stop();
    try {
      if (collector->failed()) return collector->end(works.size() - i);
      translations.translate(std::move(works[i]),
                             [collector, i](std::future<TextResult> done) { collector->receive(i, done); });
    } catch (...) {
      collector->fail(std::current_exception());
      return collector->end(works.size() - i);
    }
  }
}

}  // namespace dragoman::internal
