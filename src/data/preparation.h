// What the stages of a corpus's preparation share: how they show their progress, and whether they are to stop.
#pragma once

#include <functional>

#include <fmt/core.h>

#include "base/signals.h"
#include "base/status_line.h"

namespace dragoman::internal {

struct Preparation {
  StatusLine status = {};
  std::function<bool()> stop = {};  // asked besides signals, by several threads
  const char* doing = "preparing the corpus";

  bool is_to_stop() const { return stop_requested() != 0 || (stop && stop()); }
  void stop_if_asked() const {
    if (is_to_stop())
      throw Stopped(stop_requested(), fmt::format("stopped while {}; nothing was saved", doing));
  }
};

}  // namespace dragoman::internal
