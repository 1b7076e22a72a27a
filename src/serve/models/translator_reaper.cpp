#include "serve/models/translator_reaper.h"

#include <utility>

#include "base/threads.h"

namespace dragoman::internal {

TranslatorReaper::TranslatorReaper() : thread_(start_thread([this] { work(); })) {}

TranslatorReaper::~TranslatorReaper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

std::shared_ptr<dragoman::Translator> TranslatorReaper::adopt(
    std::unique_ptr<dragoman::Translator> translator) {
  {
    const std::lock_guard lock(mutex_);
    ++owned_;
  }
  return {translator.release(), [this](dragoman::Translator* unused) { retire(unused); }};
}

void TranslatorReaper::retire(dragoman::Translator* translator) {
  const std::lock_guard lock(mutex_);
  unused_.emplace_back(translator);
  wake_.notify_all();
}

void TranslatorReaper::work() {
  std::unique_lock lock(mutex_);
  while (!stop_ || owned_ > 0) {
    wake_.wait(lock, [&] { return !unused_.empty() || (stop_ && owned_ == 0); });
    auto unused = std::exchange(unused_, {});
    owned_ -= unused.size();
    lock.unlock();
    unused.clear();
    lock.lock();
  }
}

}  // namespace dragoman::internal
