#include "gil.h"

#include <unistd.h>

namespace dragoman::python {

GilRelease::~GilRelease() {
  try {
    PyEval_RestoreThread(state_);
  } catch (...) {  // the unwinding of a thread that Python ends: it may not leave this block
    sleep_for_ever();
  }
  deliver_log();
}

void sleep_for_ever() {
  for (;;) pause();
}

}  // namespace dragoman::python
