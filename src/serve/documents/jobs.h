// DocumentJobs: documents that are translated after their upload was answered, and fetched later by an id and a key.
//
// Every member function may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "serve/documents/download_store.h"
#include "serve/translations.h"

namespace dragoman::internal {

class DocumentJobs {
 public:
  explicit DocumentJobs(DownloadStore& files) : files_(files) {}

  static constexpr size_t max_jobs = 2000;  // those whose files were fetched and those that failed among them

  struct Ticket {
    std::string id, key;
  };
  struct Status {
    bool done = false;
    std::string error = {};  // what the client is told; empty unless it failed
    std::string name = {};   // of the translated file
  };

  // `name`: of the translated file. `bytes`: of the document, for whose translation space is reserved. Throws a
  // ServeError where there is none.
  Ticket begin(const std::string& name, const std::string& client, size_t bytes);
  // Keeps the file, or what the client is told of why there is none. `request`: the upload's id, for the log.
  void finish(const std::string& id, std::future<TextResult>& result, std::string_view request);
  void forget(const std::string& id);

  // These throw a ServeError of status 404 where the document does not exist, or has expired.
  Status status(const Ticket& ticket) const;
  std::string file(const Ticket& ticket);

 private:
  struct Job {
    std::string key;
    Status status = {};
    std::shared_ptr<DownloadStore::Place> place = {};  // until it is finished
    std::string kept = {};                             // its name in files_
    bool fetched = false;
    std::chrono::steady_clock::time_point until = {};  // once it is finished
  };
  const Job& find(const Ticket& ticket) const;  // holding the lock
  void make_room();

  DownloadStore& files_;
  mutable std::mutex mutex_;
  std::map<std::string, Job> jobs_;
};

}  // namespace dragoman::internal
