// What the handlers of all routes share. It outlives every call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/route.h"

namespace dragoman::internal {

class ApiKeys;
class ClientLimits;
class DownloadStore;
class MemoryStore;
class ServeMetrics;
class Translations;
class WorkerPool;
struct ServeSettings;
struct TextWork;

struct ServeContext {
  Translations& translations;
  const ServeSettings& settings;
  ServeMetrics& metrics;
  ClientLimits& clients;
  ApiKeys& keys;
  WorkerPool& workers;   // for what takes long and waits for nothing: answers with much to format
  WorkerPool& waiting;   // for what waits for a model
  DownloadStore& files;  // translated files until they are fetched, of all APIs
  MemoryStore& memories;
  std::atomic<bool> draining = false;  // stopping: what was accepted ends, nothing new begins
};

// The APIs, each in files of its own; server.cpp lists them.
std::vector<Route> v1_routes(ServeContext& context);

// Throws a ServeError where a request has too many texts or characters, or its client has had too many recently; counts
// them otherwise. To be called once for each request that translates.
void admit_texts(ServeContext& context, const ServeCall& call, const std::vector<std::string>& texts);

// Counts characters as the client's of this minute: a ServeError of status 429 where these are too many.
void take_characters(ServeContext& context, const std::string& client, size_t characters);

// The same in parts, so that nothing is counted for works that are then refused because others wait.
//
// The number of the texts' characters, and of those that come with them: a ServeError where there are too many.
size_t checked_characters(const ServeContext& context, const std::vector<std::string>& texts,
                          size_t others = 0);
// A ServeError where this number of translations of each line is too large.
void check_hypotheses(const ServeContext& context, const std::vector<std::string>& texts, int64_t hypotheses);
// The same for texts that a model computes something else of than a translation, a work each; and room among all that
// waits, until the last copy of the result goes.
std::shared_ptr<void> admit_computation(ServeContext& context, const ServeCall& call,
                                        std::vector<std::string> texts);
// Room for the works; then their characters count.
void admit_works(ServeContext& context, const ServeCall& call, std::vector<TextWork>& works,
                 size_t characters);
// Checks and counts the characters of a file, for TextWork::on_read.
void admit_file(ServeContext& context, const std::string& client, size_t characters);

// Makes the answer on a thread that may wait for a model, unless the client is gone or its deadline has passed by then.
void answer_on_worker(ServeContext& context, ServeCall call, std::function<HttpResponse()> make);

// On a thread that may wait; the task must not throw.
void run_on_worker(ServeContext& context, const ServeCall& call, std::function<void()> task);

// What limits and turns count the call for, as a number.
uint64_t client_number(const ServeCall& call);

// What TextWork takes of every call: its client's number, its deadline, that its client may go, and the memories.
TextWork work_of(const ServeContext& context, const ServeCall& call, std::string text);

}  // namespace dragoman::internal
