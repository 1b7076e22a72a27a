#include "api/service.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "api/guard.h"
#include "api/options.h"
#include "api/request_terms.h"
#include "api/results.h"
#include "base/error.h"
#include "base/log.h"
#include "dragoman/memory.h"
#include "search/simple_jobs.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kept_options = 16;
constexpr uint64_t first_own_client = uint64_t{1} << 63;  // above the numbers that callers choose

// What a request costs besides its length in bytes.
constexpr double base_cost = 16;

// Null where it finished. Thousands may be cancelled at once, so nothing is thrown for those.
std::exception_ptr error_of(const JobEnd& end) {
  using dragoman::Error;
  switch (end.status) {
    case SearchStatus::finished:
      return nullptr;
    case SearchStatus::cancelled:
      return std::make_exception_ptr(
          Error("the translation was cancelled before it was done", ErrorKind::cancelled));
    case SearchStatus::expired:
      return std::make_exception_ptr(
          Error("the translation was not done within its timeout", ErrorKind::expired));
    case SearchStatus::failed:
      break;
  }
  try {
    guarded([&] { std::rethrow_exception(end.error); });
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Through a copy, which keeps the memory open.
LookUpSegments look_up_in(const dragoman::Memory& memory) {
  return [memory](std::string_view text, const SearchOptions& options) {
    std::vector<KnownSegment> known;
    for (dragoman::MemorySegment& segment :
         memory.look_up(text, {.at_most = options.memory_segments > 0 ? known_candidates : 1,
                              .at_least = options.memory_segments > 0 ? options.memory_at_least : 1,
                              .match_case = options.match_case,
                              .match_numbers = options.match_numbers}))
      known.push_back(
          {std::move(segment.source), std::move(segment.target), segment.similarity, segment.exact});
    return known;
  };
}

// Languages that neither the model nor the request names are any.
void check_languages(const dragoman::Memory& memory, const SearchOptions& options) {
  const auto fits = [](const std::string& of_memory, const std::string& wanted) {
    return of_memory.empty() || wanted.empty() || same_language(of_memory, wanted);
  };
  if (fits(memory.from(), options.from) && fits(memory.to(), options.to)) return;
  const auto or_any = [](const std::string& language) { return language.empty() ? "any" : language; };
  throw UsageError(
      "the memory {} is from {} to {}, but the translation from {} to {}: give a memory of these languages",
      memory.folder(), memory.from(), memory.to(), or_any(options.from), or_any(options.to));
}

// A request between its submission and its end.
struct Submission {
  Service::OnDone on_done;
  std::stop_token stop;
  const Calibration* calibration;  // null: the model has none
  std::promise<dragoman::Translation> promise = {};
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};

  // What is to stop is cancelled, though it may have ended before the scheduler learned of that.
  void end(JobEnd end, TranslatedLine line) {
    if (end.status == SearchStatus::finished && stop.stop_requested()) end.status = SearchStatus::cancelled;
    if (std::exception_ptr error = error_of(end)) {
      promise.set_exception(std::move(error));
    } else {
      promise.set_value(to_public(std::move(line), calibration));
    }
    if (!on_done) return;
    try {
      on_done(promise.get_future());
    } catch (const std::exception& thrown) {
      log_warning("the callback of a translation threw an exception, which it must not: {}", thrown.what());
    } catch (...) {
      log_warning("the callback of a translation threw an exception, which it must not");
    }
  }
};

bool is_single(const SavedModel& model) { return model.others.empty() && !model.language_model; }

// A calibration is of one model alone.
std::optional<Calibration> calibration_of(const SavedModel& model) {
  if (!is_single(model)) return std::nullopt;
  return read_calibration(model.folder);
}

}  // namespace

Deadline deadline_after(std::chrono::milliseconds timeout) {
  const Clock::time_point now = Clock::now();
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  if (timeout.count() <= 0 || timeout > longest) return std::nullopt;
  return now + timeout;
}

Claim claim_of(uint64_t client, size_t bytes, std::chrono::milliseconds timeout) {
  return {.client = client != 0 ? client : Service::new_client(),
          .cost = base_cost + static_cast<double>(bytes),
          .deadline = deadline_after(timeout)};
}

Service::Service(std::unique_ptr<SavedModel> model, const BatchLimits& limits)
    : model_(std::move(model)),
      calibration_(calibration_of(*model_)),
      limits_(limits),
      process_(getpid()),
      translator_(*model_, limits) {}

std::shared_ptr<Service> Service::start(std::unique_ptr<SavedModel> model, const BatchLimits& limits) {
  const std::shared_ptr<Service> service(new Service(std::move(model), limits));
  service->translator_.searches.start(service);
  return service;
}

// In a forked process the threads' shares keep it for ever.
void Service::stop() {
  if (!is_forked()) translator_.searches.stop();
}

bool Service::is_forked() const { return getpid() != process_; }

void Service::check_process() const {
  if (is_forked())
    throw Error(
        "this translator was opened before fork(), which copies no threads: open one in this process");
}

std::future<dragoman::Translation> Service::submit(Request request, OnDone on_done) {
  check_process();
  TranslationRequest translation = {.options = options_of(request)};
  translation.terms = given_terms(request);
  const Claim claim = claim_of(request.client, request.text.size(), request.timeout);
  const auto submission = std::make_shared<Submission>();
  submission->on_done = std::move(on_done);
  submission->stop = request.stop;
  submission->calibration = calibration_ ? &*calibration_ : nullptr;
  std::future<dragoman::Translation> future;
  if (!submission->on_done) future = submission->promise.get_future();
  translation.text = std::move(request.text);
  translation.prefix = std::move(request.prefix);
  translation.tokens = request.tokens;
  translation.take_exact = request.take_exact;
  if (request.memory != nullptr) {
    check_languages(*request.memory, translation.options);
    translation.look_up = look_up_in(*request.memory);
  }
  if (request.on_progress)
    translation.on_progress = [report = std::move(request.on_progress)](const PartialText& text) {
      call_back([&] { report({text.text, text.final_bytes}); });
    };
  translation.on_end = [submission](const JobEnd& end, TranslatedLine line) {
    submission->end(end, std::move(line));
  };
  const uint64_t id = translator_.add(std::move(translation), claim);
  if (request.stop.stop_possible())
    submission->on_stop.emplace(request.stop, [this, id] {
      if (!is_forked()) translator_.scheduler.cancel(id);
    });
  return future;
}

// Most requests have the options of one of those before them, and reading these takes as long as a short translation's
// step.
SearchOptions Service::options_of(const Request& request) {
  const std::lock_guard lock(options_mutex_);
  const auto known =
      std::ranges::find(read_options_, request.options, &decltype(read_options_)::value_type::first);
  if (known != read_options_.end()) return known->second;
  read_options_.emplace_front(request.options, search_options(request.options, model_->search));
  if (read_options_.size() > kept_options) read_options_.pop_back();
  return read_options_.front().second;
}

uint64_t Service::new_client() {
  static std::atomic<uint64_t> next{first_own_client};
  return next++;
}

size_t Service::pending() const { return is_forked() ? 0 : translator_.scheduler.pending(); }

TranslatorStatistics Service::statistics() const {
  if (is_forked()) return {};
  const SchedulerCounts counts = translator_.scheduler.counts();
  return {.waiting = counts.waiting,
          .oldest_seconds = counts.oldest_seconds,
          .sentences = static_cast<size_t>(counts.sentences),
          .batch = static_cast<size_t>(limits_.sentences * limits_.searches) *
                   (1 + limits_.further_devices.size()),
          .requests = counts.jobs,
          .steps = counts.steps,
          .source_tokens = counts.source_tokens,
          .target_tokens = counts.target_tokens,
          .merged = counts.merged,
          .cache_hits = counts.cache_hits,
          .cache_misses = counts.cache_misses,
          .cache_bytes = counts.cache_bytes};
}

SavedModel& Service::only_model() {
  if (!is_single(model()))
    throw UsageError(
        "only a single model scores and inspects: open a translator of one folder, without a language model");
  return model();
}

void Service::run(const Claim& claim, const std::stop_token& stop, const std::function<void()>& work) {
  check_process();
  const auto task = [&] {
    Context& context = model().device.context;
    context.limit_threads(context.threads());  // whatever the last step of a search was limited to
    work();
  };
  std::promise<JobEnd> ended;
  const uint64_t id = translator_.scheduler.add(
      std::make_unique<TaskJob>(task, [&ended](const JobEnd& end) { ended.set_value(end); }), claim);
  const std::stop_callback on_stop(stop, [&] { translator_.scheduler.cancel(id); });
  if (const std::exception_ptr error = error_of(ended.get_future().get())) std::rethrow_exception(error);
}

}  // namespace dragoman::internal
