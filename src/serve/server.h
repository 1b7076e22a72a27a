// TranslationServer: models, APIs and pages behind one address.
//
//   TranslationServer server(settings);
//   server.start();   // listens; requests are refused with 503 until the models are there
//   server.load();    // the models: throws where one cannot be opened
//   ...
//   server.stop();    // ends what was accepted
#pragma once

#include <memory>

#include "serve/settings.h"
#include "serve/translations.h"

namespace dragoman::internal {

class TranslationServer {
 public:
  explicit TranslationServer(const ServeSettings& settings);
  ~TranslationServer();

  void start();
  void load();
  void load(std::unique_ptr<Translations> translations);  // in their place
  // What has changed: models, API keys, the certificate. What cannot be read is logged, and the old one stays.
  void reload();
  // No new requests; waits until those that were accepted are answered, and documents translated and fetched. False
  // where some were not within drain-time.
  bool stop();

  int port() const;
  std::vector<ServedPair> pairs() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dragoman::internal
