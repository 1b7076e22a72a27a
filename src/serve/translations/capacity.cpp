#include "serve/translations/capacity.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "serve/route.h"
#include "serve/translations/text_job.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::chrono::duration<double> period{1.0};
constexpr double newest_weight = 0.3;  // of a period in the rate
constexpr int longest_wait = 60;
constexpr size_t most_large = 2;

}  // namespace

void Capacity::reserve(std::vector<TextWork>& works) {
  std::vector<Size> sizes;
  Size all;
  for (const TextWork& work : works) {
    const Size& size = sizes.emplace_back(size_of(work));
    all.texts += size.texts;
    all.characters += size.characters;
    all.large = std::min(all.large + size.large, most_large);
  }
  if (all.texts > max_.texts || all.characters > max_.characters) {
    throw ServeError(413,
                     fmt::format("the request's {} texts are more than the {} lines and {} characters that "
                                 "may wait for this server: send several requests",
                                 works.size(), max_.texts, max_.characters));
  }
  const std::lock_guard lock(mutex_);
  if (const auto refusal = refusal_of(all)) throw *refusal;
  for (size_t i = 0; i < works.size(); ++i) works[i].room = taken(sizes[i]);
}

std::shared_ptr<void> Capacity::take(const TextWork& work) {
  const Size size = size_of(work);
  const std::lock_guard lock(mutex_);
  if (const auto refusal = refusal_of(size)) throw *refusal;
  return taken(size);
}

std::optional<Overloaded> Capacity::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_of({.texts = 1, .characters = 1});
}

// Of a document the whole file counts: nobody has read it yet.
Capacity::Size Capacity::size_of(const TextWork& work) const {
  const Size whole = {.texts = work.format.empty() ? std::max<size_t>(1, lines_with_text(work.text)) : 1,
                      .characters = code_point_count(work.text)};
  const Size quarter = {.texts = std::max<size_t>(1, max_.texts / 4),
                        .characters = std::max<size_t>(1, max_.characters / 4)};
  return {.texts = std::min(whole.texts, quarter.texts),
          .characters = std::min(whole.characters, quarter.characters),
          .large = whole.texts > quarter.texts || whole.characters > quarter.characters ? 1u : 0u};
}

std::optional<Overloaded> Capacity::refusal_of(const Size& size) const {
  if (used_.texts + size.texts <= max_.texts && used_.characters + size.characters <= max_.characters &&
      used_.large + size.large <= most_large)
    return {};
  const int seconds = seconds_until_room();
  return Overloaded(fmt::format("the server is busy with {} texts: try again in {} s", used_.texts, seconds),
                    seconds);
}

std::shared_ptr<void> Capacity::taken(const Size& size) {
  if (used_.texts == 0) since_ = Clock::now();  // an idle time says nothing about the rate
  std::shared_ptr<void> room(this, [size](Capacity* capacity) { capacity->release(size); });
  used_.texts += size.texts;
  used_.characters += size.characters;
  used_.large += size.large;
  return room;
}

void Capacity::release(const Size& size) {
  const std::lock_guard lock(mutex_);
  used_.texts -= size.texts;
  used_.characters -= size.characters;
  used_.large -= size.large;
  released_ += size.characters;
  const std::chrono::duration<double> passed = Clock::now() - since_;
  if (passed < period) return;
  const double rate = static_cast<double>(released_) / passed.count();
  rate_ = rate_ == 0 ? rate : (1 - newest_weight) * rate_ + newest_weight * rate;
  released_ = 0;
  since_ = Clock::now();
}

// Half of what waits is then done: others ask again, too.
int Capacity::seconds_until_room() const {
  if (rate_ == 0) return 1;
  const double seconds = std::ceil(static_cast<double>(used_.characters) / 2 / rate_);
  return static_cast<int>(std::clamp<double>(seconds, 1, longest_wait));
}

}  // namespace dragoman::internal
