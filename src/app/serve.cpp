// dragoman serve: translation over HTTP, until a signal ends it.
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "serve/api_keys.h"
#include "serve/host_names.h"
#include "serve/json_log.h"
#include "serve/server.h"

namespace dragoman::internal {
namespace {

struct ServeOptions {
  ServeSettings settings;
  std::string new_key;
};

constexpr std::chrono::milliseconds poll_time(50);

// Not those of base/signals.h, for which the library stops all work at once: here what was accepted is answered first.
volatile std::sig_atomic_t loaded = 0, stop_signal = 0, reload_requested = 0;

// Nothing is accepted before the models are loaded, which may take long; and nobody waits after a second signal.
extern "C" void on_stop(int signal) {
  if (loaded == 0 || stop_signal != 0) _exit(128 + signal);
  stop_signal = signal;
}
extern "C" void on_hangup(int) { reload_requested = 1; }

void watch(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void print_new_key(const std::string& name) {
  const NewKey made = new_api_key(name);
  std::cout << made.line << "\n";
  log_info(
      "the API key of {}, which is stored nowhere: {}\nappend the line above to the file given by --api-keys",
      name, made.key);
}

void print_address(const ServeSettings& s, const TranslationServer& server) {
  std::vector<std::string> pairs;
  for (const ServedPair& pair : server.pairs()) {
    pairs.push_back(pair.via.empty()
                        ? fmt::format("{}-{}", pair.from, pair.to)
                        : fmt::format("{}-{} via {}", pair.from, pair.to, fmt::join(pair.via, ", ")));
  }
  constexpr size_t shown = 12;
  std::string more = pairs.size() > shown ? fmt::format(" and {} more", pairs.size() - shown) : "";
  pairs.resize(std::min(pairs.size(), shown));
  const std::string host = s.host.find(':') == s.host.npos ? s.host : "[" + s.host + "]";
  log_info("translates {}{}", fmt::join(pairs, ", "), more);
  log_info("{}://{}:{}/", s.certificate.empty() ? "http" : "https", host, server.port());
}

// Reads anew on SIGHUP, on a thread of its own: models take their time, and a signal to stop must not wait for them.
void reload_on_hangup(TranslationServer& server, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(poll_time);
    if (reload_requested == 0) continue;
    reload_requested = 0;
    server.reload();
  }
}

int wait_for_signal() {
  while (stop_signal == 0) std::this_thread::sleep_for(poll_time);
  return stop_signal;
}

}  // namespace

void serve(const Arguments& arguments) {
  ServeOptions o;
  std::array<Options, 5> groups;
  auto models = groups[0].section("", "Models");
  declare_models(models, o.settings);
  auto network = groups[1].section("", "Network");
  declare_network(network, o.settings);
  auto limits = groups[2].section("", "Limits");
  declare_limits(limits, o.settings.limits);
  auto access = groups[3].section("", "Access");
  declare_access(access, o.settings);
  access.add("new-key", o.new_key,
             "create an API key with this name, print its line for the --api-keys file, and exit");
  auto operation = groups[4].section("", "Operation");
  declare_operation(operation, o.settings);
  CommandLine line("serve", summary_of("serve"));
  for (Options& group : groups) line.add_options(group);
  if (!line.read(arguments)) return;
  if (!o.new_key.empty()) return print_new_key(o.new_key);
  groups[1].check([&] { validate(o.settings); });
  if (o.settings.models.empty()) throw UsageError("serve needs --model DIR: see dragoman serve --help");
  if (!is_loopback(o.settings.host) && o.settings.api_keys.empty())
    log_warning("anyone who can reach {} may use the server: require keys with --api-keys FILE",
                o.settings.host);
  if (o.settings.log == RequestLogFormat::json) log_as_json();
  for (const int signal : {SIGINT, SIGTERM}) watch(signal, on_stop);
  watch(SIGHUP, on_hangup);
  watch(SIGPIPE, SIG_IGN);  // whoever reads the log may go
  TranslationServer server(o.settings);
  server.start();
  server.load();
  loaded = 1;
  print_address(o.settings, server);
  const int signal = [&] {
    const std::jthread reloads([&](const std::stop_token& stop) { reload_on_hangup(server, stop); });
    return wait_for_signal();
  }();
  log_info("stopping: accepted requests are finished first");
  if (server.stop())
    log_info("stopped");
  else
    log_warning("stopped before all requests were answered");
  throw Stopped(signal, "");
}

}  // namespace dragoman::internal
