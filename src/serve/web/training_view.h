// The data of the page /training: the histories of the runs in a folder, read on a thread of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "report/training_watch.h"
#include "serve/route.h"

namespace dragoman::internal {

class TrainingView {
 public:
  explicit TrainingView(std::string folder);  // empty: there is nothing to see, as the answer says
  ~TrainingView();

  std::vector<Route> routes();  // "/v1/training"; they use this object

 private:
  void answer_calls(const std::stop_token& stop);
  void refresh();
  void keep(std::string data);

  TrainingWatch watch_;
  std::string data_, tag_;  // as it was read last, and its ETag
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<ServeCall> waiting_;
  std::jthread thread_;
};

}  // namespace dragoman::internal
