// POST /v1/translate: texts with all options of a search, at once or as they are translated.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "serve/answers.h"
#include "serve/memories/store.h"
#include "serve/requests/schemas.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/translations/combined_stop.h"
#include "serve/translations/worker_pool.h"
#include "serve/v1/answer.h"
#include "serve/v1/event_stream.h"
#include "serve/v1/memory_use.h"
#include "serve/v1/options.h"
#include "serve/v1/routes.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::vector<std::string> texts_in(const json& body) {
  if (body["text"].is_string()) return {body["text"].get<std::string>()};
  return body["text"].get<std::vector<std::string>>();
}

std::shared_ptr<const dragoman::Glossary> glossary_in(const json& body) {
  if (!body.contains("glossary") || body["glossary"].empty()) return nullptr;
  std::vector<dragoman::Glossary::Entry> entries;
  for (const json& entry : body["glossary"]) entries.push_back({entry["source"], entry["target"]});
  try {
    return std::make_shared<dragoman::Glossary>(entries);
  } catch (const dragoman::Error& error) {
    throw ServeError(400, fmt::format("glossary: {}", error.what()));
  }
}

bool wants_stream(const ServeCall& call) {
  return call.body.value("stream", false) || prefers_events(call.request.header("accept"));
}

AnswerDetail detail_of(const json& body, const TextWork& work) {
  const bool attention = body.value("attention", false);
  return {.detected = work.from.empty() || work.from == "auto",
          .lines = body.value("details", true),
          .memory = !work.memories.empty(),
          .of_lines = {.alternatives = work.alternatives > 0 || body.value("nbest", 1) > 1,
                       .alignment = body.value("alignment", false),
                       .attention = attention,
                       .words = true,
                       .findings = true}};
}

constexpr size_t enough_unsent = 256 << 10;  // bytes, beyond which no progress is sent

// Where the character begins that the byte belongs to.
size_t character_at(std::string_view text, size_t byte) {
  byte = std::min(byte, text.size());
  while (byte > 0 && byte < text.size() && is_continuation(text[byte])) --byte;
  return byte;
}

// The texts of one request. Lives until the last is done.
class TranslateCall : public std::enable_shared_from_this<TranslateCall> {
 public:
  TranslateCall(ServeCall call, size_t texts, AnswerDetail detail, WorkerPool& workers)
      : call_(std::move(call)),
        is_list_(call_.body["text"].is_array()),
        detail_(detail),
        workers_(workers),
        stop_(call_.request.disconnected, std::stop_token()),
        events_(wants_stream(call_) ? std::make_unique<EventStream>(call_.responder) : nullptr),
        results_(texts),
        reported_(texts),
        settled_(texts),
        left_(texts) {}

  void start(Translations& translations, std::vector<TextWork> works) {
    try {
      if (works.empty()) finish();
      for (size_t i = 0; i < works.size(); ++i) {
        TextWork& work = works[i];
        work.stop = stop_.token();
        if (events_) {
          work.on_progress = [self = shared_from_this(), i](const Progress& progress) {
            self->report(i, progress);
          };
        }
        translations.translate(std::move(work), [self = shared_from_this(), i](std::future<TextResult> done) {
          self->receive(i, std::move(done));
        });
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Some forty times a second: more could not be seen, and fewer where the client does not keep up. Each event has what
  // may have changed since the last. Calls for one text come from one thread at a time.
  void report(size_t i, const Progress& progress) {
    const Clock::time_point now = Clock::now();
    if (now - reported_[i] < std::chrono::milliseconds(25) || events_->unsent() > enough_unsent) return;
    reported_[i] = now;
    const size_t begin = character_at(progress.text, settled_[i]);
    ordered_json data = {{"index", i}};
    if (begin > 0) data["begin"] = begin;
    data["text"] = progress.text.substr(begin);
    data["final_bytes"] = progress.final_bytes;
    settled_[i] = progress.final_bytes;
    if (!events_->send("progress", json_text(data))) stop_.request_stop();
  }

  // On a thread of the model, which the JSON of all tokens would hold up.
  void receive(size_t i, std::future<TextResult> done) {
    try {
      auto result = std::make_shared<TextResult>(done.get());
      if (!detail_.lines) return keep(i, *result);
      workers_.run([self = shared_from_this(), i, result = std::move(result)] { self->keep(i, *result); });
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void keep(size_t i, const TextResult& result) {
    try {
      results_[i] = text_json(result, detail_);
      if (--left_ == 0) finish();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void finish() {
    if (ended_.exchange(true)) return;
    std::string answer = is_list_ ? "{\"translations\":[" : "";
    for (size_t i = 0; i < results_.size(); ++i) {
      if (i > 0) answer += ',';
      answer += results_[i];
    }
    if (is_list_) answer += "]}";
    if (events_) return events_->end("result", answer);
    call_.responder.send({.body = std::move(answer)});
  }

  void fail(const std::exception_ptr& error) {
    if (ended_.exchange(true)) return;
    stop_.request_stop();
    const HttpResponse answer = error_answer(call_.route->tag, of_the_request(error), call_.request.id);
    if (events_) return events_->fail(answer);
    call_.responder.send(answer);
  }

  // The client asked for a shortlist, and learns that the model has none.
  std::exception_ptr of_the_request(const std::exception_ptr& error) const {
    if (!call_.body.value("shortlist", false)) return error;
    try {
      std::rethrow_exception(error);
    } catch (const dragoman::Error& failure) {
      if (std::string_view(failure.what()).find("has no shortlist") == std::string_view::npos) return error;
    } catch (...) {
      return error;
    }
    return std::make_exception_ptr(ServeError(400, "this model has no shortlist: leave the option out"));
  }

  const ServeCall call_;
  const bool is_list_;  // of texts: then of answers, too
  const AnswerDetail detail_;
  WorkerPool& workers_;
  CombinedStop stop_;
  const std::unique_ptr<EventStream> events_;  // null: one answer
  std::vector<std::string> results_;           // JSON
  std::vector<Clock::time_point> reported_;
  std::vector<size_t> settled_;  // bytes of each text that the client has and that will not change
  std::atomic<size_t> left_;
  std::atomic<bool> ended_ = false;
};

// Of the glossary, and of the prefix, which each text has.
size_t characters_beside(const json& body, size_t texts) {
  size_t characters = 0;
  if (body.contains("prefix"))
    characters += texts * code_point_count(body["prefix"].get_ref<const std::string&>());
  if (!body.contains("glossary")) return characters;
  for (const json& entry : body["glossary"])
    for (const json& term : entry) characters += code_point_count(term.get_ref<const std::string&>());
  return characters;
}

// The works of one pattern, one for each text, with room for them.
std::vector<TextWork> admitted(ServeContext& context, const ServeCall& call, const TextWork& pattern,
                               std::vector<std::string> texts, size_t characters) {
  check_hypotheses(context, texts,
                   std::max<int64_t>(call.body.value("nbest", 1), int64_t{1} + pattern.alternatives));
  std::vector<TextWork> works(texts.size(), pattern);
  for (size_t i = 0; i < texts.size(); ++i) works[i].text = std::move(texts[i]);
  admit_works(context, call, works, characters);
  return works;
}

void translate(ServeContext& context, ServeCall call) {
  std::vector<std::string> texts = texts_in(call.body);
  const json& body = call.body;
  const size_t characters = checked_characters(context, texts, characters_beside(body, texts.size()));
  TextWork work = work_of(context, call, "");
  work.from = body.value("from", "");
  work.to = body.value("to", "");
  if (const std::string format = body.value("format", "text"); format != "text") work.format = format;
  work.name = "text";
  work.prefix = body.value("prefix", "");
  work.alternatives = body.value("alternatives", 0);
  work.update = body.value("update", "");
  work.glossary = glossary_in(body);
  work.options = options_in(body);
  if (body.value("attention", false) && !body.value("alignment", false))
    work.options.emplace_back("alignment", true);
  choose_memories(context, body, work);
  const AnswerDetail detail = detail_of(body, work);
  std::vector<TextWork> works = admitted(context, call, work, std::move(texts), characters);
  std::make_shared<TranslateCall>(std::move(call), works.size(), detail, context.workers)
      ->start(context.translations, std::move(works));
}

}  // namespace

ordered_json language_properties() {
  const auto language = [](const char* help) -> ordered_json {
    return {{"type", "string"}, {"maxLength", 35}, {"description", help}};
  };
  return {{"from", language("the source's language, as en or pt-BR; left out or auto: detected")},
          {"to", language("may be left out where the models have only one")}};
}

namespace {

// No longer than the longest output, of subwords of four characters.
int64_t longest_prefix(const ServeLimits& limits) { return std::min(limits.characters, 4 * limits.output); }

ordered_json translate_body_schema(const ServeLimits& limits) {
  const ordered_json text = text_schema();
  ordered_json properties = {
      {"text",
       {{"description", "a text, or a list of texts, which are translated as one batch"},
        {"oneOf", {text, list_schema(text)}}}},
      {"format", {{"type", "string"}, {"enum", {"text", "html"}}, {"default", "text"}}},
      {"prefix",
       {{"type", "string"},
        {"maxLength", longest_prefix(limits)},
        {"description", "the beginning of the translation, for a text of one line"}}},
      {"alternatives",
       {{"type", "integer"},
        {"minimum", 0},
        {"maximum", limits.beam - 1},
        {"default", 0},
        {"description", "translations besides the best"}}},
      {"glossary",
       {{"type", "array"},
        {"maxItems", 10'000},
        {"description", "terms with their prescribed translations"},
        {"items", strict_object_schema({{"source", text}, {"target", text}}, {"source", "target"})}}},
      {"memory",
       {{"description",
         "a memory's name, or false for none; by default all of the languages: a line that they have is not "
         "translated again"},
        {"oneOf", ordered_json::array({{{"type", "boolean"}}, text})}}},
      {"update",
       {{"type", "string"},
        {"maxLength", 255},
        {"description", "an update of the model, as /v1/models names them; by default the model as it is"}}},
      {"details",
       {{"type", "boolean"},
        {"default", true},
        {"description",
         "lines: subwords, probabilities, words' confidence, flags, findings, as translate --format json"}}},
      {"attention",
       {{"type", "boolean"},
        {"default", false},
        {"description", "with details: what each subword attended to"}}},
      {"stream",
       {{"type", "boolean"},
        {"default", false},
        {"description", "server-sent events: progress as the output grows, then result or error"}}}};
  properties.update(language_properties());
  properties.update(option_properties(limits));
  return strict_object_schema(std::move(properties), {"text"});
}

// A text has its answer, a list of texts a list of them.
ordered_json translate_answer_schema() {
  const ordered_json text = translation_schema();
  const ordered_json list = object_schema({{"translations", list_schema(text)}}, {"translations"});
  return {{"oneOf", ordered_json::array({text, list})}};
}

}  // namespace

Route v1_translate_route(ServeContext& context) {
  return {.method = "POST",
          .path = "/v1/translate",
          .tag = "Dragoman",
          .summary = "Translate texts",
          .body = translate_body_schema(context.settings.limits),
          .answer = translate_answer_schema(),
          .streams = true,
          .errors = {400, 404, 413, 415, 429, 503, 504},
          .body_bytes = static_cast<size_t>(context.settings.limits.body),
          .needs_room = true,
          .uses_files = !context.memories.all().empty(),
          .handle = [&context](ServeCall call) { translate(context, std::move(call)); }};
}

}  // namespace dragoman::internal
