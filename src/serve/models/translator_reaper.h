// TranslatorReaper: destroys unused translators on a thread of its own. Their last user may be a result's callback,
// which runs on the translator's own thread, and that cannot wait for itself.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "dragoman/translator.h"

namespace dragoman::internal {

class TranslatorReaper {
 public:
  TranslatorReaper();
  ~TranslatorReaper();  // waits until the last of them is destroyed

  std::shared_ptr<dragoman::Translator> adopt(std::unique_ptr<dragoman::Translator> translator);

 private:
  void work();
  void retire(dragoman::Translator* translator);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<dragoman::Translator>> unused_;
  size_t owned_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dragoman::internal
