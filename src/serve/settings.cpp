#include "serve/settings.h"

#include "api/engine_options.h"
#include "base/error.h"
#include "serve/proxies.h"

namespace dragoman::internal {

void declare_models(Section& own, ServeSettings& s) {
  own.add("model", s.models,
          "model folder, or FROM-TO=FOLDER for a model that does not know its languages; may be repeated; "
          "replace "
          "a folder by renaming another to its name, never by writing into it");
  declare_threads(own, s.threads);
  declare_precision(own, s.precision);
  declare_batch(own, s.batch);
  declare_workers(own, s.workers);
  own.add("cache", s.cache, "MiB of sentences whose translations are kept; 0: none", at_least(0));
  own.add("detector", s.detector,
          "fastText's lid.176.ftz, to detect languages: tools/get_detector downloads it");
}

void declare_network(Section& own, ServeSettings& s) {
  own.add("host", s.host, "address to listen on; 0.0.0.0 or ::: all of this machine's");
  own.add("host-name", s.host_names,
          "name that requests may have as their Host where only this machine's own address is listened on");
  own.add("port", s.port, "port to listen on; 0: any free one", at_least(0).at_most(65535));
  own.add("certificate", s.certificate, "PEM file of the certificate and its chain, for HTTPS");
  own.add("key", s.key, "PEM file of the certificate's private key");
  own.add("connections", s.connections, "connections at once", at_least(1).at_most(1'000'000));
  own.add("connections-per-address", s.connections_of_address, "connections at once from one address",
          at_least(1).at_most(1'000'000));
  own.add("header-time", s.header_time, "seconds that a client may take to send a request's headers",
          at_least(1).at_most(3600));
  own.add("idle-time", s.idle_time, "seconds that a connection may wait for its next request",
          at_least(1).at_most(3600));
}

void declare_limits(Section& own, ServeLimits& l) {
  own.add("max-body", l.body, "bytes of a request's body", at_least(1024).at_most(1 << 30));
  own.add("max-upload", l.upload, "bytes of a document to translate", at_least(1024).at_most(1 << 30));
  own.add(
      "max-buffered", l.buffered,
      "bytes of the requests larger than 64 KiB that are read or worked on at once; beyond, requests of that "
      "size are refused with 503",
      at_least(1024));
  own.add("max-characters", l.characters, "characters of a request's texts together, or of a document",
          at_least(1));
  own.add("max-texts", l.texts, "texts of a request", at_least(1).at_most(1'000'000));
  own.add("max-beam", l.beam, "largest beam, and most alternatives, that a request may ask for",
          at_least(1).at_most(1000));
  own.add("max-output", l.output, "longest output that a request may ask for, in subwords a sentence",
          at_least(1).at_most(100'000));
  own.add("timeout", l.timeout, "seconds after which a request times out", at_least(1).at_most(86'400));
  own.add("queue", l.queue,
          "lines of text, and documents, that may wait; beyond, requests are refused with 503", at_least(1));
  own.add("queue-characters", l.queue_characters,
          "characters of these; of a text that has more than a quarter, a quarter counts", at_least(1));
  own.add("requests-per-client", l.requests_of_client, "requests at once of one API key or address",
          at_least(1).at_most(1'000'000));
  own.add("characters-per-minute", l.characters_a_minute,
          "characters a minute that one API key or address may have translated; 0: any number", at_least(0));
  own.add(
      "keep-megabytes", l.keep_megabytes,
      "megabytes of translated files that are kept until they are fetched, in the folder for temporary files",
      at_least(1).at_most(1 << 20));
  own.add("keep-minutes", l.keep_minutes, "minutes after which a translated file is deleted",
          at_least(1).at_most(10'080));
}

void declare_access(Section& own, ServeSettings& s) {
  own.add("api-keys", s.api_keys,
          "file of API keys, one of which each request then needs: dragoman serve --new-key NAME makes one");
  own.add("cors", s.cors, "origins whose pages may use the server from a browser; *: all");
  own.add("proxy", s.proxies,
          "addresses of proxies, or networks such as 10.0.0.0/8; their X-Forwarded-For names the client that "
          "limits "
          "count");
}

void declare_operation(Section& own, ServeSettings& s) {
  own.add(
      "log", s.log, "requests on standard error: a line of text or a JSON object each, or off",
      {{"text", RequestLogFormat::text}, {"json", RequestLogFormat::json}, {"off", RequestLogFormat::off}});
  own.add("drain-time", s.drain_time, "seconds that accepted requests have to end after SIGTERM",
          at_least(0).at_most(3600));
  own.add("training", s.training, "a training run's folder, whose curves /training shows");
  own.add("suggestions", s.suggestions,
          "file to which translations that users suggest are appended, as JSON lines");
  own.add("glossaries", s.glossaries, "folder that keeps the glossaries that clients make");
}

void validate(const ServeSettings& s) {
  if (s.certificate.empty() != s.key.empty())
    throw OptionError(s.key.empty() ? "certificate" : "key",
                      "needs the other file of the pair: give both --certificate and --key");
  for (const std::string& proxy : s.proxies) {
    try {
      check_proxy(proxy);
    } catch (const Error& error) {
      throw OptionError("proxy", error.what());
    }
  }
}

}  // namespace dragoman::internal
