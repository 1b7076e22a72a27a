// DeepL's endpoints for translation memories: what the server has, listed, read and exported. Which memories there are
// is its operator's to say.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "memory/words.h"
#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/memories/export.h"
#include "serve/requests/schemas.h"
#include "serve/requests/server_address.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr size_t max_page = 25, default_segments = 50, max_segments = 100;

std::shared_ptr<const ServedMemory> found_memory(const DeepL& api, const ServeCall& call) {
  return deepl_memory(api, call.name);
}

ordered_json memory_info(const ServedMemory& served) {
  return {{"translation_memory_id", served.name},
          {"name", served.name},
          {"source_language", served.memory->from()},
          {"target_languages", ordered_json::array({served.memory->to()})},
          {"segment_count", served.memory->size()}};
}

size_t number_of(const Fields& fields, const char* name, size_t otherwise, size_t least, size_t most) {
  if (fields.at(name).is_null()) return otherwise;
  const auto number = fields.integer(name);
  if (!number || *number < static_cast<int64_t>(least) || *number > static_cast<int64_t>(most))
    throw ServeError(400, fmt::format("Value for '{}' must be {} to {}.", name, least, most));
  return static_cast<size_t>(*number);
}

void list_memories_of_deepl(DeepL& api, const ServeCall& call) {
  const Fields fields(call);
  const size_t size = number_of(fields, "page_size", max_page, 1, max_page);
  const size_t begin = number_of(fields, "page", 0, 0, 1'000'000) * size;
  const ServedMemories& all = api.context.memories.all();
  ordered_json memories = ordered_json::array();
  for (size_t i = begin; i < std::min(begin + size, all.size()); ++i)
    memories.push_back(memory_info(*all[i]));
  call.responder.send(json_answer({{"translation_memories", memories}, {"total_count", all.size()}}));
}

void show_memory(DeepL& api, const ServeCall& call) {
  call.responder.send(json_answer(memory_info(*found_memory(api, call))));
}

std::string number_in_hex(std::string_view text) { return fmt::format("{:016x}", memory_key(text).number()); }

ordered_json segment_info(const MemorySegmentView& segment, const std::string& language) {
  ordered_json target = {
      {"target_segment_id", number_in_hex(std::string(segment.source) + '\n' + std::string(segment.target))},
      {"target_language", language},
      {"target_text", segment.target}};
  ordered_json source = {{"source_segment_id", number_in_hex(segment.source)},
                         {"source_text", segment.source}};
  if (segment.changed > 0) source["updated_time"] = target["updated_time"] = deepl_time(segment.changed);
  source["targets"] = ordered_json::array({std::move(target)});
  return source;
}

// Which segments a request lists: those that have a text, from the one with this number on.
struct SegmentPage {
  size_t begin = 0, size = default_segments;
  bool match_case = false;
  std::string filter = {};  // in lower case, unless case counts

  bool takes(std::string_view text) const {
    if (filter.empty()) return true;
    return match_case ? text.find(filter) != text.npos
                      : in_lower_case(text).find(filter) != std::string::npos;
  }
};

SegmentPage segment_page(const Fields& fields) {
  const bool match_case = fields.flag("filter_case_sensitive");
  const std::string filter = fields.text("filter_text");
  return {.begin = number_of(fields, "page_cursor", 0, 0, UINT32_MAX),
          .size = number_of(fields, "page_size", default_segments, 1, max_segments),
          .match_case = match_case,
          .filter = match_case ? filter : in_lower_case(filter)};
}

struct PageIsFull {};  // thrown to end the way through a memory

void list_segments(DeepL& api, const ServeCall& call) {
  const auto served = found_memory(api, call);
  const SegmentPage page = segment_page(Fields(call));
  ordered_json segments = ordered_json::array(), next = nullptr;
  size_t number = 0;
  try {
    served->memory->for_each([&](const MemorySegmentView& segment) {
      if (call.request.disconnected.stop_requested() || call.deadline <= std::chrono::steady_clock::now())
        throw ServeError(504,
                         "the time for the request is over: ask for fewer segments, or for earlier ones");
      if (!page.takes(segment.source) && !page.takes(segment.target)) return;
      if (number == page.begin + page.size) throw PageIsFull();
      if (number++ >= page.begin) segments.push_back(segment_info(segment, served->memory->to()));
    });
  } catch (const PageIsFull&) {
    next = std::to_string(number);
  }
  ordered_json answer = {{"segments", std::move(segments)}, {"segment_count", served->memory->size()}};
  if (!next.is_null()) answer["next_page_cursor"] = std::move(next);
  call.responder.send(json_answer(answer));
}

void begin_export(DeepL& api, const ServeCall& call) {
  const auto served = found_memory(api, call);
  const std::string id = api.exports.begin(served->name, call.client);
  call.responder.send(
      json_answer({{"job_id", id}, {"parameters", {{"translation_memory_id", served->name}}}}, 202));
}

// Nothing is left to be done: the file is made while it is fetched.
void show_export(DeepL& api, const ServeCall& call) {
  const MemoryExports::Job job = api.exports.find(call.name, call.client);
  const ordered_json result = {
      {"status", "completed"},
      {"download_url",
       fmt::format("{}/v3/translation_memories/exports/{}",
                   server_address(call, !api.context.settings.certificate.empty()), call.name)},
      {"expires_at", deepl_time(job.until)}};
  call.responder.send(json_answer({{"job_id", call.name},
                                   {"product", "translation_memory"},
                                   {"operation", "export"},
                                   {"creation_time", deepl_time(job.since)},
                                   {"updated_time", deepl_time(job.since)},
                                   {"parameters", {{"translation_memory_id", job.memory}}},
                                   {"results", ordered_json::array({result})}}));
}

// Without an API key, as DeepL's clients fetch it: who knows the job's id may have its file.
void fetch_export(DeepL& api, const ServeCall& call) {
  send_tmx(api.context, call, deepl_memory(api, api.exports.find(call.name).memory));
}

void refuse_change(DeepL&, const ServeCall&) {
  throw ServeError(403, "Translation memories are made and removed by the server's operator.");
}

ordered_json memory_schema() {
  return object_schema({{"translation_memory_id", text_schema()},
                        {"name", text_schema()},
                        {"source_language", text_schema()},
                        {"target_languages", list_schema(text_schema())},
                        {"segment_count", {{"type", "integer"}}}},
                       {"translation_memory_id", "name", "source_language", "target_languages"});
}

ordered_json job_schema() { return object_schema(text_properties({"job_id"}), {"job_id"}); }

}  // namespace

std::string deepl_time(int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.000Z", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::shared_ptr<const ServedMemory> deepl_memory(const DeepL& api, const std::string& id) {
  for (const auto& served : api.context.memories.all())
    if (served->name == id) return served;
  throw ServeError(404, "Translation memory not found");
}

std::string MemoryExports::begin(const std::string& memory, const std::string& client) {
  const int64_t now = std::time(nullptr);
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [&](const Job& job) { return job.until < now; });
  const auto is_clients = [&](const Job& job) { return job.client == client; };
  if (std::ranges::count_if(jobs_, is_clients) >= max_jobs_of_client)
    jobs_.erase(std::ranges::find_if(jobs_, is_clients));
  if (jobs_.size() >= max_jobs)
    throw ServeError(429, "Too many exports: fetch fewer", {{"retry-after", "60"}});
  jobs_.push_back({random_hex(16), memory, client, now, now + seconds_kept});
  return jobs_.back().id;
}

MemoryExports::Job MemoryExports::find(const std::string& id, const std::string& client) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(jobs_, id, &Job::id);
  if (found == jobs_.end() || found->until < std::time(nullptr) ||
      (!client.empty() && found->client != client))
    throw ServeError(404, "Translation memory job not found");
  return *found;
}

std::vector<Route> deepl_memory_routes(const std::shared_ptr<DeepL>& api) {
  const std::string all = "/v3/translation_memories", one = all + "/<name>";
  const ordered_json text = text_schema(), whole = {{"type", "integer"}, {"minimum", 0}};
  const auto make = [&](Route route, DeepLHandler handler) {
    if (route.errors.empty()) route.errors = {404};
    return deepl_route(api, std::move(route), handler);
  };
  return {make({.method = "GET",
                .path = all,
                .summary = "The translation memories",
                .query = {{"page", whole}, {"page_size", whole}},
                .answer = object_schema({{"translation_memories", list_schema(memory_schema())}},
                                        {"translation_memories"})},
               list_memories_of_deepl),
          make({.method = "GET",
                .path = all + "/jobs/<name>",
                .summary = "The state of an export",
                .answer = job_schema()},
               show_export),
          make({.method = "GET",
                .path = all + "/exports/<name>",
                .summary = "What was exported, as TMX",
                .answer_type = "application/xml",
                .open = true},
               fetch_export),
          make({.method = "GET", .path = one, .summary = "A translation memory", .answer = memory_schema()},
               show_memory),
          make({.method = "GET",
                .path = one + "/segments",
                .summary = "A translation memory's segments, page by page",
                .query = {{"page_size", whole},
                          {"page_cursor", text},
                          {"filter_text", text},
                          {"filter_case_sensitive", {{"type", "boolean"}}}},
                .answer = object_schema({{"segments", list_schema({{"type", "object"}})}}, {"segments"}),
                .uses_files = true},
               list_segments),
          make({.method = "POST",
                .path = one + "/export",
                .summary = "Begins an export",
                .body_types = {"application/json", "application/x-www-form-urlencoded"},
                .answer = job_schema(),
                .body_bytes = 4096,
                .changes_data = true},
               begin_export),
          make({.method = "DELETE",
                .path = one,
                .summary = "Is refused: memories are the operator's",
                .errors = {403}},
               refuse_change)};
}

}  // namespace dragoman::internal
