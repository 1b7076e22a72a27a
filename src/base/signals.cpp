#include "base/signals.h"

#include <unistd.h>

#include <csignal>

namespace dragoman::internal {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void on_signal(int signal) {
  if (requested != 0 && signal == SIGINT) _exit(128 + SIGINT);
  requested = signal;
}

}  // namespace

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  struct sigaction hangup = {};  // of the terminal, which nohup has ignored
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

int stop_requested() { return requested; }

}  // namespace dragoman::internal
