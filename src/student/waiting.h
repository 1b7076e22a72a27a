// Waits for a translation, unless a signal asks to stop: then it throws Stopped with this message.
#pragma once

#include <chrono>
#include <future>
#include <string>

#include "base/signals.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

inline dragoman::Translation wait_for(std::future<dragoman::Translation>& translation,
                                      const std::string& if_stopped) {
  while (translation.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    if (stop_requested() != 0) throw Stopped(stop_requested(), if_stopped);
  return translation.get();
}

}  // namespace dragoman::internal
