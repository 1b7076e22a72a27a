// What a server adapts: each of its models to the segments that its users confirmed in the model's languages, and the
// command that does so.
#pragma once

#include <string>
#include <vector>

#include "serve/models/folder_watch.h"

namespace dragoman::internal {

class MemoryStore;
class Translations;
struct ServeSettings;

struct AdaptJob {
  std::string label;                  // of the model, as the metrics have it
  std::string base, out;              // folders
  std::string from, to;               // languages, as the model has them
  std::vector<std::string> memories;  // folders
  std::string suggestions;            // a file; empty: none
};

// One for each model that can be adapted; what keeps the others from it is logged.
std::vector<AdaptJob> adapt_jobs(const Translations& translations, const MemoryStore& memories,
                                 const ServeSettings& settings);

// `dragoman adapt` always begins with the base and learns all segments, so that errors do not pile up.
// `program`: the path of dragoman.
std::vector<std::string> adapt_command(const std::string& program, const AdaptJob& job,
                                       const ServeSettings& settings);

// Of all that the command reads. Equal where nothing was written.
FolderState inputs_of(const AdaptJob& job);

}  // namespace dragoman::internal
