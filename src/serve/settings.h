// What `dragoman serve` lets its operator choose. Each option is declared once (settings.cpp), in five groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

enum class RequestLogFormat { text, json, off };

// What one request, one client and all of them together may ask for.
struct ServeLimits {
  int64_t body = 2 << 20, upload = 32 << 20;         // bytes of a request: of text, of a file
  int64_t buffered = 256 << 20;                      // bytes of all large requests together
  int64_t characters = 100'000, texts = 1000;        // of a request
  int64_t beam = 20, output = 1000;                  // the largest that a request may ask for
  int64_t timeout = 120;                             // seconds
  int64_t queue = 4096, queue_characters = 4 << 20;  // texts and characters that wait
  int64_t requests_per_client = 256;                 // at once
  int64_t characters_per_minute = 0;                 // of a client; 0: any number
  int64_t keep_megabytes = 1024, keep_minutes = 30;  // of translated files
};

struct ServeSettings {
  std::vector<std::string> models;
  std::string device = "auto";
  int64_t threads = 0, batch = 0, workers = 0, cache = 64;  // MiB
  dragoman::Precision precision = dragoman::Precision::as_saved;
  std::string detector;
  std::vector<std::string> memories;
  double adapt_every = 0;    // hours; 0: never
  double adapt_minutes = 5;  // of training
  std::string adapted;       // a folder; empty: beside each model
  std::string updates;       // a folder
  int64_t loaded_updates = 4;

  std::string host = "127.0.0.1";
  std::vector<std::string> host_names;  // besides localhost
  int64_t port = 5000;
  std::string certificate, key;
  int64_t connections = 4096, connections_per_address = 256;
  int64_t header_time = 10, idle_time = 75;  // seconds

  ServeLimits limits;

  std::string api_keys;                     // a file
  std::vector<std::string> memory_writers;  // names of API keys; none: all
  std::vector<std::string> cors;            // origins, or "*"
  std::vector<std::string> proxies;         // addresses, networks

  RequestLogFormat log = RequestLogFormat::text;
  int64_t drain_time = 25;  // seconds
  std::string training;     // a run's folder
  std::string suggestions;  // a file
  std::string glossaries;   // a folder
};

void declare_models(Section& own, ServeSettings& settings);
void declare_network(Section& own, ServeSettings& settings);
void declare_limits(Section& own, ServeLimits& limits);
void declare_access(Section& own, ServeSettings& settings);
void declare_operation(Section& own, ServeSettings& settings);

// Throws OptionError naming the first option whose value does not fit another's.
void validate(const ServeSettings& settings);

}  // namespace dragoman::internal
