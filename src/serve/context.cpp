#include "serve/context.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "serve/answers.h"
#include "serve/limits/clients.h"
#include "serve/memories/store.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/translations/text_job.h"
#include "serve/translations/worker_pool.h"
#include "text/unicode.h"

namespace dragoman::internal {

namespace {

void check_characters(const ServeLimits& limits, size_t characters, const char* what) {
  if (characters <= static_cast<size_t>(limits.characters)) return;
  throw ServeError(
      413, fmt::format("the {} has {} characters, and this server takes at most {}: send several {}s", what,
                       characters, limits.characters, what));
}

}  // namespace

void take_characters(ServeContext& context, const std::string& client, size_t characters) {
  const int64_t wait =
      context.clients.take(client, static_cast<int64_t>(characters), std::chrono::steady_clock::now());
  if (wait == 0) return;
  throw ServeError(429,
                   fmt::format("more than {} characters in a minute: wait, or send fewer",
                               context.settings.limits.characters_per_minute),
                   {{"retry-after", std::to_string(wait)}});
}

size_t checked_characters(const ServeContext& context, const std::vector<std::string>& texts, size_t others) {
  const ServeLimits& limits = context.settings.limits;
  if (texts.size() > static_cast<size_t>(limits.texts)) {
    throw ServeError(
        413, fmt::format("the request has {} texts, and this server takes at most {}: send several requests",
                         texts.size(), limits.texts));
  }
  size_t characters = others;
  for (const std::string& text : texts) characters += code_point_count(text);
  check_characters(limits, characters, "request");
  return characters;
}

// As many as the characters of a request may have lines: all of them are kept until the last is done.
void check_hypotheses(const ServeContext& context, const std::vector<std::string>& texts,
                      int64_t hypotheses) {
  if (hypotheses <= 1) return;
  size_t lines = 0;
  for (const std::string& text : texts) lines += lines_with_text(text);
  if (lines <= static_cast<size_t>(context.settings.limits.characters / hypotheses)) return;
  throw ServeError(
      413, fmt::format("the request asks for {} translations of each of {} lines, and this server makes at "
                       "most {} together: ask for fewer alternatives, or send several requests",
                       hypotheses, lines, context.settings.limits.characters));
}

void admit_texts(ServeContext& context, const ServeCall& call, const std::vector<std::string>& texts) {
  take_characters(context, call.client, checked_characters(context, texts));
}

std::shared_ptr<void> admit_computation(ServeContext& context, const ServeCall& call,
                                        std::vector<std::string> texts) {
  const size_t characters = checked_characters(context, texts);
  std::vector<TextWork> works;
  for (std::string& text : texts) works.push_back({.text = std::move(text)});
  admit_works(context, call, works, characters);
  const auto rooms = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (TextWork& work : works) rooms->push_back(std::move(work.room));
  return rooms;
}

void admit_works(ServeContext& context, const ServeCall& call, std::vector<TextWork>& works,
                 size_t characters) {
  context.translations.reserve(works);
  take_characters(context, call.client, characters);
}

void admit_file(ServeContext& context, const std::string& client, size_t characters) {
  check_characters(context.settings.limits, characters, "file");
  take_characters(context, client, characters);
}

void answer_on_worker(ServeContext& context, ServeCall call, std::function<HttpResponse()> make) {
  const uint64_t client = client_number(call);
  const auto task = [call = std::move(call), make = std::move(make)] {
    if (call.request.disconnected.stop_requested()) return;
    answer(call, [&] {
      if (std::chrono::steady_clock::now() > call.deadline)
        throw ServeError(504, "the deadline passed before the request was started");
      return make();
    });
  };
  context.waiting.run(task, client);
}

void run_on_worker(ServeContext& context, const ServeCall& call, std::function<void()> task) {
  context.waiting.run(std::move(task), client_number(call));
}

uint64_t client_number(const ServeCall& call) { return std::hash<std::string>()(call.client) | 1; }

TextWork work_of(const ServeContext& context, const ServeCall& call, std::string text) {
  return {.text = std::move(text),
          .memories = context.memories.all(),
          .deadline = call.deadline,
          .stop = call.request.disconnected,
          .client = client_number(call)};
}

}  // namespace dragoman::internal
