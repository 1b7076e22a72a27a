#include "serve/context.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/checksum.h"
#include "serve/answers.h"
#include "serve/client_limits.h"
#include "serve/settings.h"
#include "serve/translations.h"
#include "serve/worker_pool.h"
#include "text/unicode.h"

namespace dragoman::internal {

void admit_texts(ServeContext& context, const ServeCall& call, const std::vector<std::string>& texts) {
  const ServeLimits& limits = context.settings.limits;
  if (texts.size() > static_cast<size_t>(limits.texts)) {
    throw ServeError(
        413, fmt::format("the request has {} texts, and this server takes at most {}: send several requests",
                         texts.size(), limits.texts));
  }
  size_t characters = 0;
  for (const std::string& text : texts) characters += code_point_count(text);
  if (characters > static_cast<size_t>(limits.characters)) {
    throw ServeError(
        413, fmt::format("the request has {} characters, and this server takes at most {}: send several "
                         "requests",
                         characters, limits.characters));
  }
  const int64_t wait =
      context.clients.take(call.client, static_cast<int64_t>(characters), std::chrono::steady_clock::now());
  if (wait > 0) {
    throw ServeError(
        429,
        fmt::format("more than {} characters in a minute: wait, or send fewer", limits.characters_a_minute),
        {{"retry-after", std::to_string(wait)}});
  }
}

void answer_on_worker(ServeContext& context, ServeCall call, std::function<HttpResponse()> make) {
  const uint64_t client = client_number(call);
  const auto task = [call = std::move(call), make = std::move(make)] {
    if (call.request.gone.stop_requested()) return;
    answer(call, [&] {
      if (std::chrono::steady_clock::now() > call.deadline)
        throw ServeError(504, "the deadline passed before work on the answer began");
      return make();
    });
  };
  context.waiting.run(task, client);
}

uint64_t client_number(const ServeCall& call) { return std::hash<std::string>()(call.client) | 1; }

TextWork work_of(const ServeCall& call, std::string text) {
  return {.text = std::move(text),
          .deadline = call.deadline,
          .stop = call.request.gone,
          .client = client_number(call)};
}

}  // namespace dragoman::internal
