// POST /v1/memories/NAME/import: a file of segments, added as a whole or not at all.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "memory/read_segments.h"
#include "serve/answers.h"
#include "serve/api_keys.h"
#include "serve/memories/writing.h"
#include "serve/requests/multipart.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/v1/routes.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr size_t most_segments = 500'000;        // all are in memory until they are added
constexpr size_t most_segment_bytes = 64 << 10;  // of a side

FormPart file_of_segments(const IncomingRequest& request) {
  for (const FormPart& part : parse_multipart(request.header("content-type"), request.body))
    if (part.is_file && part.name == "file") return part;
  throw ServeError(400, "the form has no file: send one in the field \"file\"");
}

// A folder of its own, so that the file keeps the name that its client gave it, which tells its format.
class FileOfClient {
 public:
  explicit FileOfClient(const FormPart& part) : path_(folder_.path() + "/" + part.file_name) {
    write_file(path_, {part.content});
  }

  const std::string& path() const { return path_; }
  // A sentence about it, without the server's folder.
  std::string told(std::string sentence) const {
    for (size_t at; (at = sentence.find(folder_.path() + "/")) != sentence.npos;)
      sentence.erase(at, folder_.path().size() + 1);
    return sentence;
  }

 private:
  const ScratchFolder folder_{"import"};
  const std::string path_;
};

void check_name(const std::string& name) {
  if (name.size() > 200) throw ServeError(400, "the file's name has more than 200 bytes: shorten it");
  const std::string ending = std::filesystem::path(name).extension().string();
  for (const char* known : {".tmx", ".xlf", ".xliff", ".po", ".tsv"})
    if (ending == known) return;
  throw ServeError(
      400, "the file's name must end in .tmx, .xlf, .xliff, .po or .tsv, and it must not be compressed");
}

// Readers decompress gzip and Zstandard by their first bytes, whatever the file's name is: a small upload could become
// gigabytes.
void check_not_compressed(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, 4);
  const bool is_gzip = first.starts_with("\x1f\x8b"), is_zstd = first == "\x28\xb5\x2f\xfd";
  const bool is_skippable =
      first.ends_with("\x2a\x4d\x18") && (first[0] & 0xf0) == 0x50;  // a frame of Zstandard
  if (is_gzip || is_zstd || is_skippable)
    throw ServeError(400, "the file is compressed with gzip or Zstandard: decompress it before you send it");
}

void import_segments(ServeContext& context, const ServeCall& call) {
  const auto served = context.memories.named(call.name);
  check_may_add(context, call);
  const FormPart part = file_of_segments(call.request);
  check_name(part.file_name);
  check_not_compressed(part.content);
  const FileOfClient file(part);
  std::vector<MemorySegment> segments;
  size_t characters = 0;
  int64_t too_long = 0;
  const auto take = [&](const MemorySegmentView& segment) {
    if (std::max(segment.source.size(), segment.target.size()) > most_segment_bytes) {
      ++too_long;
      return;
    }
    if (segments.size() == most_segments)
      throw ServeError(413,
                       fmt::format("the file has more than {} segments: send it in parts", most_segments));
    segments.push_back(segment.copy());
    characters += code_point_count(segment.source) + code_point_count(segment.target);
  };
  SegmentCounts counts;
  try {
    counts = read_segments({.files = {file.path()},
                            .source = {},
                            .target = {},
                            .from = served->memory->from(),
                            .to = served->memory->to(),
                            .origin = context.keys.needed() ? call.client : ""},
                           take);
  } catch (const dragoman::Error& error) {
    throw ServeError(400, file.told(error.what()));
  }
  take_characters(context, call.client, characters);
  if (!segments.empty()) served->memory->add(segments);
  call.responder.send(json_answer({{"added", counts.taken - too_long},
                                   {"read", counts.read},
                                   {"empty", counts.empty},
                                   {"invalid", counts.invalid},
                                   {"too_long", too_long},
                                   {"other_language", counts.other_language}}));
}

ordered_json import_answer() {
  ordered_json properties = ordered_json::object();
  for (const char* name : {"added", "read", "empty", "invalid", "too_long", "other_language"})
    properties[name] = {{"type", "integer"}};
  return object_schema(std::move(properties), {"added", "read"});
}

}  // namespace

Route v1_memory_import_route(ServeContext& context) {
  return {.method = "POST",
          .path = "/v1/memories/<name>/import",
          .tag = "Dragoman",
          .summary = "Adds a file's segments: TMX, XLIFF, PO or TSV",
          .body = object_schema({{"file", {{"type", "string"}, {"format", "binary"}}}}, {"file"}),
          .body_types = {"multipart/form-data"},
          .answer = import_answer(),
          .errors = {403, 404},
          .body_bytes = static_cast<size_t>(context.settings.limits.upload),
          .uses_files = true,
          .changes_data = true,
          .own_checks = true,
          .handle = [&context](const ServeCall& call) { import_segments(context, call); }};
}

}  // namespace dragoman::internal
