#include "serve/translations/text_job.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "serve/memories/json.h"
#include "serve/memories/store.h"
#include "serve/translations/combined_stop.h"
#include "text/sentence_rules.h"

namespace dragoman::internal {
namespace {

using namespace std::chrono;

struct TextLine {
  std::string text, ending;  // "\n", "\r\n" or nothing
};

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (;;) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    const bool returns = end != text.npos && line.ends_with('\r');
    if (returns) line.remove_suffix(1);
    lines.push_back({std::string(line), end == text.npos ? "" : returns ? "\r\n" : "\n"});
    if (end == text.npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Empty lines share one request, the first one's.
std::vector<size_t> lines_to_submit(const std::vector<TextLine>& lines) {
  std::vector<size_t> all;
  bool any_empty = false;
  for (size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].text.empty() || !std::exchange(any_empty, true)) all.push_back(i);
  return all;
}

// The model's own name, or else the code where it is a language's: some that are in use, such as pb, are not.
void name_language(dragoman::Options& options, const char* key, const std::string& name,
                   const std::string& code) {
  if (!name.empty() || is_language(code)) options.emplace_back(key, name.empty() ? code : name);
}

template <class Value>
Value value_of(const dragoman::Options& options, std::string_view name, Value otherwise) {
  const dragoman::OptionValue* given = dragoman::find_option(options, name);
  const Value* value = given == nullptr ? nullptr : std::get_if<Value>(given);
  return value == nullptr ? otherwise : *value;
}

class TextJob : public std::enable_shared_from_this<TextJob> {
 public:
  TextJob(TextWork work, const LanguageRoute& route, TextResult result, const std::stop_token& end,
          OnText on_done)
      : work_(std::move(work)),
        route_(route),
        result_(std::move(result)),
        on_done_(std::move(on_done)),
        lines_(lines_of(work_.text)),
        submitted_(lines_to_submit(lines_)),
        usable_(of_pair(work_.memories, result_.from, result_.to)),
        stop_(work_.stop, end),
        unfinished_(submitted_.size()) {
    for (const RouteStep& step : route_)
      options_.push_back(step_options(work_, step, &step == &route_.back()));
    if (!work_.prefix.empty() && lines_.size() > 1)
      throw UsageError("a prefix needs a text of one line, but this one has {}", lines_.size());
    result_.lines.resize(lines_.size());
    done_.resize(lines_.size());
  }

  void start() {
    take_from_memories();
    if (unfinished_ == 0) return finish();
    try {
      for (const size_t i : submitted_) submit(i, 0, lines_[i].text);
    } catch (const dragoman::Error& error) {
      if (error.kind() != ErrorKind::usage) return fail(std::current_exception());
      ended_.store(true);
      stop_.request_stop();
      throw;
    }
  }

 private:
  bool is_over() const {
    return work_.deadline != steady_clock::time_point() && work_.deadline <= steady_clock::now();
  }

  // Before anything is submitted.
  void take_from_memories() {
    if (!work_.prefix.empty() || usable_.empty()) return;
    std::erase_if(submitted_, [this](size_t line) { return take_from_memory(line); });
    unfinished_ = submitted_.size();
  }

  // Similar segments take a while to find. What is then submitted says what ended it.
  bool take_from_memory(size_t line) {
    const std::string& text = lines_[line].text;
    if (text.empty() || stop_.token().stop_requested() || is_over()) return false;
    const auto match = translation_in(usable_, text, work_.memory_at_least);
    if (!match) return false;
    std::string target = match->segment.target;
    for (const char end : {'\n', '\r'}) std::ranges::replace(target, end, ' ');  // line ends are the source's
    dragoman::Translation translation = {.source = text};
    translation.hypotheses = {{.text = std::move(target)}};
    translation.memory = match->exact;
    translation.memory_segments = {used_segment(*match)};
    keep(line, std::move(translation));
    return true;
  }

  void submit(size_t line, size_t step, const std::string& text) {
    Request request = {.text = text,
                       .options = options_[step],
                       .timeout = time_left(work_.deadline),
                       .stop = stop_.token(),
                       .client = work_.client};
    if (step + 1 == route_.size()) {
      request.prefix = work_.prefix;
      // Texts between two models are not what people confirm.
      if (step == 0 && work_.prefix.empty() && !usable_.empty())
        request.memory = &usable_.front()->in_translating;
      if (work_.on_progress)
        request.on_progress = [self = shared_from_this(), line](const dragoman::Progress& p) {
          self->report(line, p);
        };
    }
    if (work_.glossary) request.terms = work_.glossary->terms(text);
    route_[step].model.translator->submit(
        std::move(request), [self = shared_from_this(), line, step](std::future<dragoman::Translation> done) {
          self->receive(line, step, done);
        });
  }

  void receive(size_t line, size_t step, std::future<dragoman::Translation>& done) {
    if (ended_.load()) return;
    try {
      dragoman::Translation translation = done.get();
      if (step + 1 < route_.size()) return submit(line, step + 1, translation.text());
      if (lines_[line].text.empty()) {
        keep_for_all_empty(translation);
      } else {
        keep(line, std::move(translation));
      }
      const std::lock_guard lock(mutex_);
      if (--unfinished_ > 0) return;
    } catch (...) {
      return fail(std::current_exception());
    }
    finish();
  }

  void keep(size_t line, dragoman::Translation translation) {
    result_.lines[line] = std::move(translation);
    const std::lock_guard lock(mutex_);
    done_[line] = true;
  }

  void keep_for_all_empty(const dragoman::Translation& translation) {
    for (size_t i = 0; i < lines_.size(); ++i)
      if (lines_[i].text.empty()) keep(i, translation);
  }

  void fail(const std::exception_ptr& error) {
    if (ended_.exchange(true)) return;
    stop_.request_stop();
    std::promise<TextResult> promise;
    promise.set_exception(error);
    on_done_(promise.get_future());
  }

  void finish() {
    if (ended_.exchange(true)) return;
    size_t alternatives = 0;
    for (const dragoman::Translation& line : result_.lines) {
      alternatives = std::max(alternatives, line.hypotheses.size() - 1);
      std::ranges::copy(line.memory_segments, std::back_inserter(result_.memory));
    }
    result_.text = joined(0);
    for (size_t i = 1; i <= std::min(alternatives, static_cast<size_t>(work_.alternatives)); ++i)
      result_.alternatives.push_back(joined(i));
    std::promise<TextResult> promise;
    promise.set_value(std::move(result_));
    on_done_(promise.get_future());
  }

  // Of each line the hypothesis of that rank, or its last one.
  std::string joined(size_t rank) const {
    std::string text;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::vector<dragoman::Hypothesis>& hypotheses = result_.lines[i].hypotheses;
      text += hypotheses[std::min(rank, hypotheses.size() - 1)].text + lines_[i].ending;
    }
    return text;
  }

  // The lines that are done, as far as the first that is not, and the beginning of that one.
  void report(size_t line, const dragoman::Progress& progress) {
    if (ended_.load()) return;
    {
      const std::lock_guard lock(mutex_);
      for (; reported_ < line && done_[reported_]; ++reported_) {
        const size_t size = settled_;
        shown_.resize(size);
        shown_ += result_.lines[reported_].text() + lines_[reported_].ending;
        settled_ = shown_.size();
      }
    }
    if (reported_ != line) return;
    shown_.resize(settled_);
    shown_ += progress.text;
    work_.on_progress({shown_, settled_ + progress.final_bytes});
  }

  const TextWork work_;
  const LanguageRoute route_;
  TextResult result_;
  const OnText on_done_;
  const std::vector<TextLine> lines_;
  std::vector<size_t> submitted_;           // of them, but for those that need no model
  const ServedMemories usable_;             // of the languages
  std::vector<dragoman::Options> options_;  // of each step

  CombinedStop stop_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  // for these two
  size_t unfinished_;
  std::vector<bool> done_;

  // Of the last model's calls, which come one at a time:
  size_t reported_ = 0, settled_ = 0;  // lines, and their bytes
  std::string shown_;
};

}  // namespace

size_t lines_with_text(std::string_view text) {
  size_t count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line != "\r") ++count;
    begin = end + 1;
  }
  return count;
}

dragoman::Options step_options(const TextWork& work, const RouteStep& step, bool last) {
  dragoman::Options options = work.options;
  for (const auto& [name, value] : options) {
    if (name == "from" || name == "to")
      throw UsageError("{} is a field of the request: leave it out of the options", name);
    if (name == "always-allow")
      throw UsageError("the server does not support always-allow, which names a file");
  }
  for (const char* name : {"replace-unknown", "keep-source"})
    if (dragoman::find_option(options, name) == nullptr) options.emplace_back(name, true);
  name_language(options, "from", step.model.from, step.from);
  name_language(options, "to", step.model.to, step.to);
  const int64_t wanted = std::max(value_of<int64_t>(options, "nbest", 1), int64_t{1} + work.alternatives);
  std::erase_if(options, [](const auto& option) { return option.first == "nbest"; });
  if (!last || wanted == 1) return options;
  options.emplace_back("nbest", wanted);
  if (!value_of(options, "sample", false) && value_of(options, "beam", step.beam) < wanted) {
    std::erase_if(options, [](const auto& option) { return option.first == "beam"; });
    options.emplace_back("beam", wanted);
  }
  return options;
}

void check_glossary(const TextWork& work, const LanguageRoute& route) {
  if (work.glossary && route.size() > 1)
    throw UsageError("no model translates directly from {} to {}, and a glossary cannot be used through {}",
                     route.front().from, route.back().to, route.front().to);
}

milliseconds time_left(steady_clock::time_point deadline) {
  if (deadline == steady_clock::time_point{}) return milliseconds{0};
  const auto left = ceil<milliseconds>(deadline - steady_clock::now());
  if (left.count() <= 0)
    throw dragoman::Error("the translation was not done within its timeout", ErrorKind::expired);
  return left;
}

void start_text(TextWork work, const LanguageRoute& route, TextResult result, const std::stop_token& end,
                OnText on_done) {
  if (route.empty()) {
    result.text = work.text;
    std::promise<TextResult> promise;
    promise.set_value(std::move(result));
    return on_done(promise.get_future());
  }
  check_glossary(work, route);
  std::make_shared<TextJob>(std::move(work), route, std::move(result), end, std::move(on_done))->start();
}

}  // namespace dragoman::internal
