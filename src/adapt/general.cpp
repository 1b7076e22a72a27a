#include "adapt/general.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "adapt/split_text.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/shared_files.h"
#include "base/status_line.h"
#include "data/corpus.h"
#include "data/sample.h"
#include "dragoman/translator.h"
#include "student/teaching.h"
#include "text/language_codes.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_pairs = 500'000;
constexpr int64_t most_sources = 2000;  // more would take longer to translate than the segments to learn
constexpr int64_t most_general_held_out = 1000;
constexpr int64_t fewest_general = 100, fewest_unseen = 100;
constexpr int64_t beam_of_general = 4;

enum class Learns { references, own_translations };

struct GeneralText {
  std::string from_where;
  std::vector<TextPair> pairs;  // all with a target, or none
  Learns learns = Learns::references;
  std::vector<TextPair> unseen;  // to measure on; none: some of the pairs are held out for that

  bool has_references() const { return !pairs.empty() && !pairs.front().target.empty(); }
};

std::vector<TextPair> read_sources(const std::string& path) {
  std::vector<TextPair> pairs;
  int64_t left_out = 0;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (is_text(line) && !is_blank(line)) {
      pairs.push_back({std::string(line), ""});
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) log_warning("{}: {} left out, empty or invalid", path, counted(left_out, "line"));
  return pairs;
}

GeneralText given_text(const AdaptConfig& config) {
  if (config.general_target.empty())
    return {config.general_source, read_sources(config.general_source), Learns::own_translations};
  return {config.general_source,
          read_pairs_of_user(config.general_source, {{config.general_source, config.general_target}}, false)};
}

// On what the model was trained on, forgetting would hardly show.
GeneralText sample_of_model(const AdaptConfig& config) {
  const std::string path = sample_path(config.model), unseen = unseen_path(config.model);
  GeneralText text = {path, read_pairs({{path, ""}})};
  if (fs::exists(unseen)) text.unseen = read_pairs({{unseen, ""}});
  if (std::ssize(text.unseen) < fewest_unseen) text.unseen.clear();
  return text;
}

// English and French. In the other direction its sides are exchanged; into other languages its sources are of use.
std::optional<GeneralText> text_of_program(const std::string& from, const std::string& to) {
  if (from.empty()) return {};
  const bool reversed = same_language("fr", from);
  if (!reversed && !same_language("en", from)) return {};
  const bool translated = !to.empty() && same_language(reversed ? "en" : "fr", to);
  GeneralText text = {"the program's own sentences", {}, Learns::own_translations};
  std::string_view rest = shared_file("general.en-fr.tsv");
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::string first(line.substr(0, line.find('\t'))), second(line.substr(line.find('\t') + 1));
    if (reversed) std::swap(first, second);
    if (!translated) second.clear();
    text.pairs.push_back({std::move(first), std::move(second)});
  }
  return text;
}

GeneralText text_for(const AdaptConfig& config) {
  if (!config.general_source.empty()) return given_text(config);
  if (fs::exists(sample_path(config.model))) return sample_of_model(config);
  if (auto text = text_of_program(config.segments.from, config.segments.to)) return *std::move(text);
  throw Error(
      "there is no general text by which the model keeps what it knows: name a file of sentences in its "
      "source language with --general-source FILE{}",
      config.segments.from.empty() ? ", or the model's languages, such as --from en --to fr" : "");
}

SplitCounts write_split(GeneralText& text, const SplitText& files) {
  const auto count = std::ssize(text.pairs);
  if (text.unseen.empty())
    return write_split(text.pairs, HeldOut(count, std::min(count / 4, most_general_held_out)), files);
  std::unordered_set<std::string> unseen;
  for (const TextPair& pair : text.unseen) unseen.insert(pair.source);
  std::erase_if(text.pairs, [&](const TextPair& pair) { return unseen.contains(pair.source); });
  std::ranges::move(text.unseen, std::back_inserter(text.pairs));
  return write_split(
      text.pairs, [&](std::string_view source) { return unseen.contains(std::string(source)); }, files);
}

// The model as it was translates these sources.
void translate_lines(dragoman::Translator& model, const AdaptConfig& config, const std::string& source,
                     const std::string& out) {
  dragoman::Options search = {{"beam", beam_of_general}};
  if (!config.segments.from.empty()) search.emplace_back("from", config.segments.from);
  if (!config.segments.to.empty()) search.emplace_back("to", config.segments.to);
  teach(model, search, 1,
        {.source = source, .reference = "", .out = {out}, .doing = "translating general text"});
}

void translate_general(const AdaptConfig& config, const SplitText& files, bool held_out_too) {
  dragoman::Translator model(config.model, {.device = config.device,
                                            .threads = static_cast<int>(config.threads),
                                            .precision = dragoman::Precision::int8});
  fs::remove(files.target);
  translate_lines(model, config, files.source, files.target);
  if (!held_out_too) return;
  fs::remove(files.held_out_target);
  translate_lines(model, config, files.held_out_source, files.held_out_target);
}

}  // namespace

nlohmann::ordered_json general_inputs(const AdaptConfig& config) {
  std::vector<std::string> files;
  for (const std::string& file : {config.general_source, config.general_target})
    if (!file.empty()) files.push_back(file);
  return {{"model", model_checksum(config.model)},
          {"files", file_checksums(files)},
          {"languages", {config.segments.from, config.segments.to}}};
}

void write_general(const AdaptConfig& config, Stage& stage) {
  GeneralText text = text_for(config);
  const bool translates = text.learns == Learns::own_translations;
  const auto all = std::ssize(text.pairs);
  keep_at_most(text.pairs, translates ? most_sources : most_pairs);
  const auto count = std::ssize(text.pairs);
  if (count < all) log_info("general text: {} of {} sentences", with_commas(count), with_commas(all));
  if (count < fewest_general)
    throw Error("{} has {}, but the general text needs at least {}", text.from_where,
                counted(count, "sentence"), fewest_general);
  const SplitText files = split_text_in(stage.folder());
  const SplitCounts counts = write_split(text, files);
  log_info("general text: {}, {} to learn, {} held out", text.from_where, with_commas(counts.learnt),
           with_commas(counts.held_out));
  if (translates) translate_general(config, files, !text.has_references());
  stage.finish({{"from", text.from_where},
                {"learnt", counts.learnt},
                {"held_out", counts.held_out},
                {"references", text.has_references()}});
}

}  // namespace dragoman::internal
