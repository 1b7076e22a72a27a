#include "serve/translate_all.h"

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/answers.h"
#include "serve/either_stop.h"

namespace dragoman::internal {
namespace {

class Gathering {
 public:
  Gathering(const ServeCall& call, size_t texts, std::function<HttpResponse(std::vector<TextResult>)> make)
      : responder_(call.responder),
        tag_(call.route->tag),
        request_(call.request.id),
        make_(std::move(make)),
        stop_(call.request.gone, std::stop_token()),
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
  EitherStop stop_;
  mutable std::mutex mutex_;
  std::vector<TextResult> results_;
  size_t left_;
  std::exception_ptr error_;
};

}  // namespace

void translate_all(Translations& translations, const ServeCall& call, std::vector<TextWork> works,
                   std::function<HttpResponse(std::vector<TextResult>)> make) {
  const auto gathering = std::make_shared<Gathering>(call, works.size(), std::move(make));
  for (size_t i = 0; i < works.size(); ++i) {
    works[i].stop = gathering->stop();
    try {
      if (gathering->failed()) return gathering->end(works.size() - i);
      translations.translate(std::move(works[i]),
                             [gathering, i](std::future<TextResult> done) { gathering->receive(i, done); });
    } catch (...) {
      gathering->fail(std::current_exception());
      return gathering->end(works.size() - i);
    }
  }
}

}  // namespace dragoman::internal
