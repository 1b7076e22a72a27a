#include "serve/settings.h"

#include <filesystem>

#include "api/options.h"
#include "base/error.h"
#include "base/quotes.h"
#include "serve/limits/proxies.h"

namespace dragoman::internal {

void declare_models(Section& own, ServeSettings& s) {
  own.add("model", s.models,
          "model folder, or FROM-TO=FOLDER if the folder does not name its languages; may be repeated; "
          "replace "
          "a folder by renaming another to its name, never by writing into it")
      .letter('m');
  declare_machine(own, s.device, s.threads, Devices::several);
  declare_precision(own, s.precision);
  declare_batch(own, s.batch);
  declare_workers(own, s.workers);
  own.add("cache", s.cache, "size of the translation cache in MiB; 0: no cache", at_least(0));
  own.add("memory", s.memories,
          "translation memory, or NAME=DIR: lines that it has are translated as it has them, and clients may "
          "add to it; may be repeated")
      .shows("DIR");
  own.add(
      "adapt-every", s.adapt_every,
      "hours after which models are adapted again to --memory and --suggestions, where segments were added; "
      "0: never",
      at_least(0).at_most(8760));
  own.add("adapt-minutes", s.adapt_minutes, "minutes that adapting trains at most; 0: no limit", at_least(0));
  own.add("adapted", s.adapted,
          "folder of the adapted models, which are served in their models' places; by default MODEL.adapted "
          "beside each")
      .shows("DIR");
  own.add("updates", s.updates,
          "folder of updates of the models (adapt --weights low_rank), one of which a request may name")
      .shows("DIR");
  own.add("loaded-updates", s.loaded_updates, "of the updates, how many stay loaded",
          at_least(1).at_most(10'000));
  own.add("detector", s.detector,
          "fastText's lid.176.ftz, to detect languages: tools/get_detector downloads it");
}

void declare_network(Section& own, ServeSettings& s) {
  own.add("host", s.host, "address to listen on; 0.0.0.0 or :: for all interfaces");
  own.add("host-name", s.host_names,
          "name that requests may have as their Host where only this machine's own address is listened on");
  own.add("port", s.port, "port to listen on; 0: any free port", at_least(0).at_most(65535));
  own.add("certificate", s.certificate, "PEM file of the certificate and its chain, for HTTPS").shows("FILE");
  own.add("key", s.key, "PEM file of the certificate's private key").shows("FILE");
  own.add("connections", s.connections, "maximum open connections", at_least(1).at_most(1'000'000));
  own.add("connections-per-address", s.connections_per_address, "maximum open connections per client address",
          at_least(1).at_most(1'000'000));
  own.add("header-time", s.header_time, "time limit for receiving a request's headers, in seconds",
          at_least(1).at_most(3600));
  own.add("idle-time", s.idle_time, "seconds after which an idle connection is closed",
          at_least(1).at_most(3600));
}

void declare_limits(Section& own, ServeLimits& l) {
  own.add("max-body", l.body, "maximum size of a request body, in bytes", at_least(1024).at_most(1 << 30));
  own.add("max-upload", l.upload, "maximum size of an uploaded document, in bytes",
          at_least(1024).at_most(1 << 30));
  own.add(
      "max-buffered", l.buffered,
      "maximum bytes of the requests larger than 64 KiB that are in progress; further ones are refused with "
      "503",
      at_least(1024));
  own.add("max-characters", l.characters,
          "maximum characters per request, all texts together, or of a document", at_least(1));
  own.add("max-texts", l.texts, "maximum texts per request", at_least(1).at_most(1'000'000));
  own.add("max-beam", l.beam, "maximum beam size and number of alternatives per request",
          at_least(1).at_most(1000));
  own.add("max-output", l.output, "maximum output length per sentence, in subwords",
          at_least(1).at_most(100'000));
  own.add("timeout", l.timeout, "seconds after which a request times out", at_least(1).at_most(86'400));
  own.add("queue", l.queue, "maximum queued lines and documents; further requests are refused with 503",
          at_least(1));
  own.add("queue-characters", l.queue_characters,
          "maximum characters of these; a text of more than a quarter counts as a quarter", at_least(1));
  own.add("requests-per-client", l.requests_per_client, "maximum concurrent requests per API key or address",
          at_least(1).at_most(1'000'000));
  own.add("characters-per-minute", l.characters_per_minute,
          "maximum characters per minute per API key or address; 0: no limit", at_least(0));
  own.add("keep-megabytes", l.keep_megabytes,
          "maximum megabytes of translated files that wait in the folder for temporary files until they are "
          "fetched",
          at_least(1).at_most(1 << 20));
  own.add("keep-minutes", l.keep_minutes, "minutes after which a translated file is deleted",
          at_least(1).at_most(10'080));
}

void declare_access(Section& own, ServeSettings& s) {
  own.add(
      "api-keys", s.api_keys,
      "file of API keys, one of which every request must have; dragoman serve --new-key NAME creates one");
  own.add("memory-writers", s.memory_writers,
          "names of the API keys that may add to memories; by default every client may");
  own.add("cors", s.cors, "origins allowed to use the server from a browser; *: all");
  own.add("proxy", s.proxies,
          "addresses of proxies, or networks such as 10.0.0.0/8; their X-Forwarded-For names the client that "
          "limits "
          "count");
}

void declare_operation(Section& own, ServeSettings& s) {
  own.add(
      "log", s.log, "request log on standard error: one line of text or one JSON object per request, or off",
      {{"text", RequestLogFormat::text}, {"json", RequestLogFormat::json}, {"off", RequestLogFormat::off}});
  own.add("drain-time", s.drain_time, "seconds to finish accepted requests after SIGTERM",
          at_least(0).at_most(3600));
  own.add("training", s.training, "folder of a training run, or of several, shown at /training").shows("DIR");
  own.add("suggestions", s.suggestions, "file to append users' suggested translations to, as JSON lines")
      .shows("FILE");
  own.add("glossaries", s.glossaries, "folder to store clients' glossaries in").shows("DIR");
}

namespace {

void check_adapting(const ServeSettings& s) {
  if (s.adapt_every == 0) {
    if (!s.adapted.empty()) throw OptionError("adapted", "has no effect without --adapt-every HOURS");
    return;
  }
  if (s.suggestions.empty() && s.memories.empty())
    throw OptionError("adapt-every",
                      "needs segments that users confirm: give --memory DIR or --suggestions FILE");
  if (!s.suggestions.empty() && std::filesystem::path(s.suggestions).extension() != ".jsonl")
    throw OptionError("suggestions", fmt::format("is {}, but adapting reads a file whose name ends in .jsonl",
                                                 in_quotes(s.suggestions)));
}

}  // namespace

void validate(const ServeSettings& s) {
  if (s.certificate.empty() != s.key.empty())
    throw OptionError(s.key.empty() ? "certificate" : "key",
                      "needs the other file of the pair: give both --certificate and --key");
  for (const std::string& origin : s.cors) {
    const size_t host = origin.find("://");
    if (origin == "*" || origin == "null" ||
        (host != origin.npos && origin.find('/', host + 3) == origin.npos))
      continue;
    throw OptionError("cors", fmt::format("contains {}, but an origin is like https://example.org, or *: a "
                                          "scheme and a host, without a path",
                                          in_quotes(origin)));
  }
  if (std::filesystem::exists(s.training) && !std::filesystem::is_directory(s.training))
    throw OptionError("training", fmt::format("is {}, which is not a folder", in_quotes(s.training)));
  if (!s.memory_writers.empty() && s.api_keys.empty())
    throw OptionError("memory-writers", "needs --api-keys: else nobody has a key");
  check_adapting(s);
  for (const std::string& proxy : s.proxies) {
    try {
      check_proxy(proxy);
    } catch (const Error& error) {
      throw OptionError("proxy", error.what());
    }
  }
}

}  // namespace dragoman::internal
