#include "app/translating.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/options.h"
#include "app/lines_in_order.h"
#include "app/parallel_lines.h"
#include "app/shared_options.h"
#include "base/error.h"
#include "base/files.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "base/threads.h"
#include "kernels/devices.h"
#include "model/folder.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Whether an argument in place of a file is text itself: no file has that name, and it has white space or looks like no
// path.
bool is_text_argument(const std::string& argument) {
  std::error_code none;
  if (argument.empty() || argument == "-" || std::filesystem::exists(argument, none)) return false;
  if (argument.find_first_of(" \t\n") != argument.npos) return true;
  const std::string extension = std::filesystem::path(argument).extension().string();
  return argument.find('/') == argument.npos && extension.size() < 2;
}

// An empty text is an empty line.
void add_lines_of(const std::string& text, std::vector<std::string>& lines) {
  size_t begin = 0;
  do {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  } while (begin < text.size());
}

}  // namespace

void declare_machine(Section& own, MachineOptions& machine, Devices devices) {
  declare_machine(own, machine.device, machine.threads, devices);
  declare_precision(own, machine.precision);
}

void declare_model(Section& own, std::string& model, MachineOptions& machine) {
  declare_model(own, model);
  declare_machine(own, machine);
}

void declare_models_and_batch(Section& own, TranslatingOptions& options) {
  declare_models(own, options.models);
  declare_machine(own, options.machine, Devices::several);
  own.add("verify", options.verify,
          "compare the weights with their checksums first; false: start sooner with a large model");
  declare_batch(own, options.batch);
  own.add("batch-tokens", options.batch_tokens, "maximum source subwords per batch; 0: no limit",
          at_least(0));
  declare_workers(own, options.workers);
}

void declare_fusion(Section& own, TranslatingOptions& options) {
  own.add("language-model", options.language_model,
          "language model of the target's vocabulary, whose log-probabilities are added to the scores")
      .shows("DIR");
  own.add("language-model-weight", options.language_model_weight,
          "factor of the language model's log-probabilities", at_least(0));
}

dragoman::TranslatorSettings settings_of(const TranslatingOptions& options) {
  return {.device = options.machine.device,
          .threads = static_cast<int>(options.machine.threads),
          .precision = options.machine.precision,
          .batch = options.batch,
          .batch_tokens = options.batch_tokens,
          .workers = static_cast<int>(options.workers),
          .language_model = options.language_model,
          .language_model_weight = options.language_model_weight,
          .verify = options.verify};
}

TranslationLanguages languages_of(const TranslatingOptions& options) {
  const std::string& folder = options.models.at(0);
  const SearchOptions of_model = read_search_options(folder, read_config(folder)), &given = options.search;
  return {given.from.empty() ? of_model.from : given.from, given.to.empty() ? of_model.to : given.to};
}

SearchOptions checked_search(const std::string& folder, const Options& given, bool alignment) {
  SearchOptions search = read_search_options(folder, read_config(folder));
  dragoman::Options request = given_options(given);
  request.emplace_back("alignment", alignment);
  given.check([&] { search = search_options(request, search); });
  return search;
}

std::optional<dragoman::Glossary> glossary_of(const TranslatingOptions& options) {
  if (options.glossary.empty()) return std::nullopt;
  const TranslationLanguages languages = languages_of(options);
  return std::optional<dragoman::Glossary>(std::in_place, options.glossary,
                                           dragoman::Glossary::Languages{languages.from, languages.to});
}

std::optional<dragoman::Memory> memory_of(const TranslatingOptions& options) {
  if (options.memory.empty()) return std::nullopt;
  return std::optional<dragoman::Memory>(std::in_place, options.memory);
}

std::string pharaoh_format(const std::vector<WordAlignment>& pairs) {
  std::string text;
  for (const WordAlignment& pair : pairs)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", pair.source, pair.target);
  return text;
}

int thread_count(const MachineOptions& machine) {
  return machine.threads > 0 ? static_cast<int>(machine.threads) : available_threads();
}

std::unique_ptr<SavedModel> load_model(const std::string& folder, const MachineOptions& machine) {
  return std::make_unique<SavedModel>(folder, kernels_of_device(machine.device), thread_count(machine),
                                      requested(machine.precision));
}

std::vector<std::string> given_lines(const std::optional<std::string>& text,
                                     const std::vector<std::string>& files) {
  if (text && !files.empty())
    throw UsageError("--text cannot be combined with input files, such as {}", shortened(files[0]));
  const auto texts = std::ranges::count_if(files, is_text_argument);
  if (texts > 0 && texts < std::ssize(files))
    throw UsageError("some of the arguments are files and others are text, such as {}: give one or the other",
                     in_quotes(*std::ranges::find_if(files, is_text_argument)));
  const auto is_word = [](const std::string& one) { return one.find_first_of(" \t\n") == one.npos; };
  if (texts > 1 && std::ranges::all_of(files, is_word)) return {fmt::format("{}", fmt::join(files, " "))};
  std::vector<std::string> lines;
  if (text) add_lines_of(*text, lines);
  if (texts > 0)
    for (const std::string& one : files) add_lines_of(one, lines);
  return lines;
}

TranslationInput::TranslationInput(std::vector<std::string> files, const std::string& prefix_file,
                                   std::vector<std::string> given_lines)
    : given_lines_(std::move(given_lines)) {
  if (given_lines_.empty()) files_ = files.empty() ? std::vector<std::string>{"-"} : std::move(files);
  std::ranges::reverse(given_lines_);
  for (const std::string& file : files_) {
    if (file != "-") check_readable(file);
  }
  std::ranges::reverse(files_);
  if (!prefix_file.empty()) prefixes_ = std::make_unique<LineReader>(prefix_file);
}

bool TranslationInput::next(Line& line) {
  line = {};
  if (!next_text(line.text)) return false;
  if (prefixes_) read_prefix(line.prefix);
  return true;
}

bool TranslationInput::next_text(std::string_view& text) {
  if (!given_lines_.empty()) {
    given_line_ = std::move(given_lines_.back());
    given_lines_.pop_back();
    text = given_line_;
    return true;
  }
  while (!reader_ || !reader_->next(text)) {
    if (files_.empty()) return false;
    reader_ = std::make_unique<LineReader>(files_.back());
    files_.pop_back();
  }
  return true;
}

void TranslationInput::read_prefix(std::string_view& prefix) {
  if (!prefixes_->next(prefix)) {
    throw Error("{} has only {}: every line to translate needs a prefix, which may be empty",
                prefixes_->path(), counted(prefixes_->number(), "line"));
  }
  if (is_text(prefix)) return;
  repaired_prefix_ = repaired(prefix);
  prefix = repaired_prefix_;
  ++repaired_prefixes_;
}

// Opening a pipe or standard input blocks until its first bytes arrive.
bool TranslationInput::ready() {
  if (prefixes_ && !prefixes_->ready()) return false;
  if (!given_lines_.empty()) return true;
  if (!reader_ || !reader_->ready()) return false;
  return !reader_->at_end() || files_.empty() || std::filesystem::is_regular_file(files_.back());
}

void TranslationInput::finish() {
  if (!prefixes_) return;
  check_is_at_end(*prefixes_);
  warn_of_repairs(*prefixes_, repaired_prefixes_);
}

namespace {

// Adds lines while there is room. Whether there are more.
using AddLines = std::function<bool(LinesInOrder&)>;

void check_kind(const dragoman::ModelInfo& model, bool continues) {
  if (model.language_model && !continues)
    throw UsageError("{} is a language model: dragoman generate continues texts with it", model.folder);
  if (!model.language_model && continues)
    throw UsageError("{} is no language model: dragoman translate translates with it", model.folder);
}

void translate_all(const TranslatingOptions& options, const dragoman::Options& request,
                   const AddLines& add_lines, const OnTranslation& on_translation) {
  const std::optional<dragoman::Glossary> glossary = glossary_of(options);
  const std::optional<dragoman::Memory> memory = memory_of(options);
  dragoman::Translator translator(options.models, settings_of(options));
  const dragoman::ModelInfo info = translator.info();
  check_kind(info, options.continues);
  LinesInOrder lines(translator, request, info.batch * info.workers,
                     {.tokens = options.tokens,
                      .glossary = glossary ? &*glossary : nullptr,
                      .memory = memory ? &*memory : nullptr});
  std::exception_ptr failure;  // of reading
  for (bool more = true; more || !lines.empty();) {
    try {
      more = more && add_lines(lines);
    } catch (const Stopped&) {
      throw;
    } catch (const Error&) {
      failure = std::current_exception();
      more = false;
    }
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before all lines were translated");
    lines.deliver_finished(on_translation);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void translate_lines(const TranslatingOptions& options, const dragoman::Options& request,
                     TranslationInput& input, const OnTranslation& on_translation) {
  const auto add_lines = [&](LinesInOrder& lines) {
    TranslationInput::Line line;
    while (lines.has_room() && (input.ready() || lines.empty())) {
      if (!input.next(line)) return false;
      lines.add(line.text, line.prefix);
    }
    return true;
  };
  translate_all(options, request, add_lines, on_translation);
  input.finish();
}

void translate_lines(const TranslatingOptions& options, const dragoman::Options& request,
                     const std::vector<std::string>& texts, const OnTranslation& on_translation) {
  size_t next = 0;
  const auto add_lines = [&](LinesInOrder& lines) {
    while (next < texts.size() && lines.has_room()) lines.add(texts[next++]);
    return next < texts.size();
  };
  translate_all(options, request, add_lines, on_translation);
}

}  // namespace dragoman::internal
