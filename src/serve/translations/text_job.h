// A text on its way through one model, or through two: its lines, each a request, put together again.
#pragma once

#include <functional>
#include <future>
#include <stop_token>
#include <string_view>

#include "serve/models/models.h"
#include "serve/translations.h"

namespace dragoman::internal {

using OnText = std::function<void(std::future<TextResult>)>;

// `result` has the languages already. `end` cancels it, as the work's own token does. Throws usage errors before
// anything has begun.
void start_text(TextWork work, const LanguageRoute& route, TextResult result, const std::stop_token& end,
                OnText on_done);

// How many of a text's lines are not empty: each is a request.
size_t lines_with_text(std::string_view text);

// The options of each request of a step: with its languages, sentences split, and as many hypotheses as are asked for.
dragoman::Options step_options(const TextWork& work, const RouteStep& step, bool last);

// Throws a usage error where there is a glossary, which cannot be kept through a third language.
void check_glossary(const TextWork& work, const LanguageRoute& route);

// For a request's timeout: 0 where there is no deadline. Throws the Error of requests that expired.
std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline);

}  // namespace dragoman::internal
