#include "data/prepare_corpus.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/atomic_folder.h"
#include "base/checksum.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "data/encode_corpus.h"
#include "data/links.h"
#include "data/standard_input.h"
#include "data/survey.h"
#include "text/term_marks.h"
#include "text/vocabulary_checksums.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;
constexpr const char* manifest_name = "prepared.json";
constexpr int origin_format = 1, links_format = 1, links_format_with_tags = 2;

std::string manifest_path(const std::string& folder) { return folder + "/" + manifest_name; }

// --- The origin: inputs and settings ----------------------------------------------------------------

json facts_of_file(const std::string& path, const std::string& obtain) {
  if (path == "-") return "standard input";
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    const std::string advice = obtain.empty() ? "" : fmt::format("; to obtain the corpus: {}", obtain);
    throw Error("cannot open {}: {}{}", path, std::strerror(errno), advice);
  }
  return {{"bytes", status.st_size}, {"changed", {status.st_mtim.tv_sec, status.st_mtim.tv_nsec}}};
}

json facts_of_vocabularies(const std::string& folder) {
  const Vocabularies vocabularies = read_vocabularies(folder);
  const auto hash = [](const Vocabulary& v) { return XXH3_64bits(v.model().data(), v.model().size()); };
  return {hash(*vocabularies.source), hash(*vocabularies.target)};
}

// Of a file that is gone, what was known when the folder was prepared from it. False if the file is there, or was not
// known.
bool recall_file(const std::string& path, const json& known, json& origin) {
  std::error_code error;
  if (path == "-" || std::filesystem::exists(path, error) || error) return false;
  const json::json_pointer files("/files"), formats("/formats");
  if (!known.contains(files / path)) return false;
  origin["files"][path] = known.at(files / path);
  if (known.contains(formats / path)) origin["formats"][path] = known.at(formats / path);
  return true;
}

// Each file's facts, and its format. Plain text is not mentioned, so that what earlier versions prepared stays up to
// date. `known`: the origin of what is prepared.
void add_files(const DataConfig& data, const json& known, json& origin) {
  for (const CorpusSource& source : corpus_sources(data)) {
    for (const std::string& path : {source.source, source.target}) {
      if (path.empty() || recall_file(path, known, origin)) continue;
      origin["files"][path] = facts_of_file(path, data.obtain);
      if (source.is_tsv()) continue;
      const TextFormat of_file = format_of_file(path, source.format);
      if (of_file != TextFormat::text) origin["formats"][path] = of_file == TextFormat::sgm ? "sgm" : "iwslt";
    }
  }
}

// All options but those that only select from what is prepared.
json origin_of(const DataConfig& data, const VocabularyConfig& vocabulary, Links links, const json& known) {
  DataConfig data_copy = data;
  VocabularyConfig vocabulary_copy = vocabulary;
  Options options;
  declare(options, data_copy);
  declare(options, vocabulary_copy);
  json origin = options.to_json();
  for (const char* key : {"format", "weights", "valid_source", "valid_target", "valid_text", "obtain", "from",
                          "to", "order", "sample", "sort_by_length", "synthetic", "symbols", "length",
                          "sentences", "batches", "valid_batches"}) {
    CHECK(origin["data"].erase(key) == 1, "{}", key);
  }
  for (const char* key : {"source_eos", "sampling"}) CHECK(origin["vocabulary"].erase(key) == 1, "{}", key);
  if (vocabulary.tokenizer == WordTokenizer::none)
    origin["vocabulary"].erase("tokenizer");  // as in earlier versions
  if (!is_one_sided(data))
    for (const char* key : {"text", "text_column"}) origin["data"].erase(key);  // the same
  if (!data.documents) origin["data"].erase("documents");                       // the same
  for (const char* key : {"noise_upper", "noise_title", "noise_typos", "noise_punctuation", "noise_tags"})
    if (origin["data"][key] == 0) origin["data"].erase(key);  // the same
  if (data.noise.any()) origin["noise_languages"] = {data.from, data.to};
  if (data.terms.empty()) {
    for (const char* key : {"terms", "terms_share"}) origin["data"].erase(key);  // the same
  } else if (!recall_file(data.terms, known, origin)) {
    origin["files"][data.terms] = facts_of_file(data.terms, data.obtain);
  }
  add_files(data, known, origin);
  if (!vocabulary.from.empty()) origin["files"][vocabulary.from] = facts_of_vocabularies(vocabulary.from);
  if (links == Links::learned)  // else as in earlier versions
    origin["links"] = data.noise.tags > 0 ? links_format_with_tags : links_format;
  origin["format"] = origin_format;
  return origin;
}

// Without the files only what was prepared from them can be used.
void check_files(const DataConfig& data, bool is_prepared) {
  for (const CorpusSource& source : corpus_sources(data)) {
    for (const std::string& path : {source.source, source.target}) {
      std::error_code error;
      if (path.empty() || path == "-" || std::filesystem::exists(path, error)) continue;
      if (!is_prepared) facts_of_file(path, data.obtain);  // throws
      log_warning("{} is gone: what was prepared from it is used", path);
    }
  }
}

// Reports mistakes in the validation set now rather than after hours of preparation.
void check_validation(const DataConfig& data, bool is_first) {
  for (const auto* files : {&data.valid_source, &data.valid_target, &data.valid_text}) {
    for (const std::string& path : *files) facts_of_file(path, data.obtain);
  }
  DroppedPairs ignored;
  const std::vector<CorpusSource> sources = validation_sources(data);
  if (read_pairs(sources, data.swap, ignored, data.max_length).empty() && !sources.empty() && is_first)
    throw Error("the validation set is empty: there is no pair in {} that can be used",
                sources.front().name());
}

// The source's vocabulary spells the targets of terms. Sampling segments the text of sources again, and terms are not
// text.
void check_terms(const DataConfig& data, const VocabularyConfig& vocabulary) {
  if (data.terms.empty()) return;
  if (data.terms == "-") throw OptionError("data.terms", "cannot be standard input: name a file");
  if (!vocabulary.shared && vocabulary.from.empty())
    throw OptionError("data.terms", "needs one vocabulary for both languages: set vocabulary.shared");
  if (vocabulary.sampling > 0) throw OptionError("data.terms", "cannot be combined with vocabulary.sampling");
  if (vocabulary.from.empty()) return;
  const Vocabularies known = read_vocabularies(vocabulary.from);
  if (!known.shared() || !term_marks(*known.source))
    throw OptionError("data.terms",
                      "needs a shared vocabulary that was learned with it, unlike vocabulary.from");
}

uint64_t fingerprint_of(const json& origin) {
  const std::string text = json_text(origin);
  return XXH3_64bits(text.data(), text.size());
}

// The name of the first difference.
std::string difference(const json& old_origin, const json& origin) {
  for (const json& step : json::diff(old_origin, origin)) {
    const json::json_pointer pointer(step.at("path").get<std::string>());
    std::string words;
    for (json::json_pointer at = pointer; !at.empty(); at = at.parent_pointer()) {
      if (at.parent_pointer() == json::json_pointer("/files")) return at.back();
      words = at.back() + (words.empty() ? "" : ".") + words;
    }
    return words;
  }
  return "nothing";
}

// --- The manifest -----------------------------------------------------------------------------------

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

json side_report(const SideStatistics& side, const Vocabulary& vocabulary, int64_t tokens, int64_t pairs) {
  return {{"vocabulary", vocabulary.size()},
          {"unknown", share(side.unknown, tokens)},
          {"mean_length", share(tokens, pairs)},
          {"lengths",
           {{"p1", side.percentile(0.01)},
            {"p10", side.percentile(0.1)},
            {"p50", side.percentile(0.5)},
            {"p90", side.percentile(0.9)},
            {"p99", side.percentile(0.99)},
            {"max", side.percentile(1)}}}};
}

// [[length, sentences], ...]: nothing where there is no text, as on the source side of a language model.
json histogram(const SideStatistics& side) {
  json list = json::array();
  for (size_t length = 1; length < side.lengths.size(); ++length) {
    if (side.lengths[length] > 0) list.push_back({length, side.lengths[length]});
  }
  return list;
}

json report_of(const EncodingResult& result, const Vocabularies& vocabularies) {
  const CorpusCounts& c = result.counts;
  return {{"several_sentences", share(result.several_sentences, result.looked_at)},
          {"pairs", to_json(c)},
          {"shared_vocabulary", vocabularies.shared()},
          {"source", side_report(result.source, *vocabularies.source, c.source_tokens, c.kept)},
          {"target", side_report(result.target, *vocabularies.target, c.target_tokens, c.kept)},
          {"source_lengths", histogram(result.source)},
          {"target_lengths", histogram(result.target)}};
}

// Nothing if there is no manifest, or an unreadable one.
std::optional<json> read_manifest(const std::string& folder) {
  if (!std::filesystem::exists(manifest_path(folder))) return std::nullopt;
  try {
    json manifest = parse_json(read_file(manifest_path(folder)));
    if (manifest.is_object() && manifest.contains("origin")) return manifest;
  } catch (const json::exception&) {}
  return std::nullopt;
}

// By name, of what is neither a shard nor the manifest.
json checksums_of(const std::string& folder) {
  json checksums = vocabulary_checksums(folder);
  for (const char* side : {"source", "target"}) {
    const std::filesystem::path file = held_out_path(folder, side);
    if (std::filesystem::exists(file))
      checksums[file.filename().string()] = checksum_of(read_file(file.string()));
  }
  return checksums;
}

// Earlier versions wrote no checksums.
void verify_files(const std::string& folder, const json& manifest) {
  if (!manifest.contains("checksums") || checksums_of(folder) == manifest["checksums"]) return;
  throw Error(
      "a vocabulary or the held-out text in {} is damaged: remove the folder to prepare the corpus again",
      folder);
}

// A pair index that no source has, or a missing shard, would let an epoch end without a batch.
void check_consistent(const PreparedCorpus& corpus, const std::string& folder) {
  const std::vector<uint64_t>& begins = corpus.source_begins;
  bool sound = begins.size() > 1 && begins[0] == 0 && std::ranges::is_sorted(begins);
  size_t kept = 0;
  for (const Shard& shard : corpus.shards) {
    kept += shard.pairs().size();
    sound = sound && (shard.pairs().empty() || shard.pairs().back().pair < begins.back());
  }
  if (!sound || kept == 0 || static_cast<int64_t>(kept) != corpus.counts.kept)
    throw Error("{} does not match the shards in its folder: remove the folder to prepare the corpus again",
                manifest_path(folder));
}

LinkSettings link_settings(const json& origin, int threads) {
  return {.fingerprint = fingerprint_of(origin),
          .max_length = integer_at(origin.at("data"), "max_length"),
          .threads = threads};
}

VocabularySizes sizes_of(const Vocabularies& vocabularies) {
  return {vocabularies.source->size(), vocabularies.target->size()};
}

PreparedCorpus open_shards(const std::string& folder, const json& manifest) {
  const uint64_t fingerprint = fingerprint_of(manifest.at("origin"));
  PreparedCorpus corpus = {.vocabularies = read_vocabularies(folder),
                           .counts = corpus_counts_from_json(manifest.at("report").at("pairs")),
                           .report = manifest.at("report")};
  const json& begins = manifest.at("source_begins");
  for (size_t i = 0; i < begins.size(); ++i)
    corpus.source_begins.push_back(static_cast<uint64_t>(integer_at(begins, i)));
  for (int64_t i = 0; i < integer_at(manifest, "shards"); ++i) {
    corpus.shards.emplace_back(shard_path(folder, i), fingerprint, sizes_of(corpus.vocabularies));
  }
  if (manifest.at("origin").contains("links"))
    corpus.links = open_links(corpus.shards, folder, link_settings(manifest.at("origin"), 1));
  return corpus;
}

PreparedCorpus open_prepared(const std::string& folder, const json& manifest, int threads) try {
  verify_files(folder, manifest);
  PreparedCorpus corpus = open_shards(folder, manifest);
  verify(corpus.shards, threads);
  if (!corpus.links.empty()) verify(corpus.links, threads);
  check_consistent(corpus, folder);
  return corpus;
} catch (const json::exception&) {
  throw Error("{} is damaged: remove its folder to prepare the corpus again", manifest_path(folder));
}

// The existing corpus, if it has the same origin.
std::optional<PreparedCorpus> reuse(const std::string& folder, const json& origin, int threads) {
  const std::optional<json> manifest = read_manifest(folder);
  if (!manifest || manifest->at("origin") != origin) return std::nullopt;
  try {
    PreparedCorpus corpus = open_prepared(folder, *manifest, threads);
    corpus.was_there = true;
    log_info("{} is up to date: {} pairs", folder, with_commas(corpus.counts.kept));
    if (origin.at("files").contains("-"))
      log_info("standard input is not read again: remove {} to prepare a different corpus", folder);
    return corpus;
  } catch (const Error& error) {
    log_warning("{}: preparing the corpus again", error.what());
  }
  return std::nullopt;
}

void log_why_again(const std::string& folder, const json& origin) {
  const std::optional<json> manifest = read_manifest(folder);
  if (!manifest || manifest->at("origin") == origin) return;
  log_info("{}: {} has changed, preparing the corpus again", folder,
           difference(manifest->at("origin"), origin));
}

void log_counts(const CorpusCounts& c, double seconds) {
  log_info("{} pairs read, {} kept, {} held out, {} left out, in {:.1f} s", with_commas(c.read),
           with_commas(c.kept), with_commas(c.held_out), with_commas(c.left_out.total()), seconds);
  const auto say = [](int64_t count, const char* reason) {
    if (count > 0) log_info("left out: {} {}", with_commas(count), reason);
  };
  say(c.left_out.empty, "with an empty side");
  say(c.left_out.too_long, "longer than data.max_length");
  say(c.left_out.ratio, "beyond data.max_ratio");
  say(c.left_out.invalid, "invalid: not UTF-8, a NUL byte, or a missing column");
}

void make_links(const Vocabularies& vocabularies, int64_t shards, const json& origin,
                const std::string& folder, int threads, Preparation& work) {
  const int64_t links =
      write_links(shards, sizes_of(vocabularies), folder, link_settings(origin, threads), work);
  log_info("{} links between subwords", with_commas(links));
}

// Writes the files of the new folder, the manifest last.
void make_corpus(const DataConfig& named, const VocabularyConfig& vocabulary, const json& origin,
                 const std::string& folder, int threads, const std::function<bool()>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const CorpusOfFiles corpus(named, folder);
  const DataConfig& data = corpus.data();
  Preparation work = {.stop = stop};
  const Survey survey = survey_corpus(data, work);
  work.status.clear();
  log_info("{} pairs; learning the vocabulary", with_commas(static_cast<int64_t>(survey.pairs())));
  const Vocabularies vocabularies = make_vocabularies(data, vocabulary, survey, threads, work);
  write_vocabularies(folder, vocabularies);
  DataConfig encoded = data;
  if (origin.contains("links")) encoded.noise.tags = 0;  // pairs get them when they are loaded
  const EncodingResult result =
      encode_corpus(encoded, vocabularies, survey, folder, fingerprint_of(origin), threads, work);
  log_counts(result.counts, seconds_since(begin));
  if (!data.terms.empty())
    log_info("{} pairs are annotated with terms from {}", with_commas(result.with_terms), data.terms);
  if (data.noise.any()) log_info("{} pairs have noise", with_commas(result.with_noise));
  if (result.counts.kept == 0)
    throw Error("every pair of the corpus was left out: see the reasons logged above");
  if (origin.contains("links")) make_links(vocabularies, result.shards, origin, folder, threads, work);
  const json manifest = {{"origin", origin},
                         {"shards", result.shards},
                         {"source_begins", survey.source_begins},
                         {"checksums", checksums_of(folder)},
                         {"report", report_of(result, vocabularies)}};
  write_file(manifest_path(folder), {json_text(manifest, 2) + "\n"});
}

}  // namespace

std::string prepared_folder(const std::string& model_folder) {
  return (std::filesystem::path(model_folder) / "data").string();
}

PreparedCorpus prepare_corpus(const DataConfig& data, const VocabularyConfig& vocabulary,
                              const std::string& folder, int threads, const std::function<bool()>& stop,
                              Links links) {
  require_corpus(data);
  CHECK(data.synthetic == Synthetic::none);
  check_terms(data, vocabulary);
  const std::optional<json> manifest = read_manifest(folder);
  const json known = manifest ? manifest->at("origin") : json::object();
  const json origin = origin_of(data, vocabulary, links, known);
  check_files(data, known == origin);
  check_validation(data, !manifest);
  if (auto corpus = reuse(folder, origin, threads)) return std::move(*corpus);
  log_why_again(folder, origin);
  AtomicFolder making(folder, manifest_name);
  if (auto corpus = reuse(folder, origin, threads))
    return std::move(*corpus);  // another process has just made it
  make_corpus(data, vocabulary, origin, making.path(), threads, stop);
  making.finish();
  return prepared_corpus(folder, threads);
}

PreparedCorpus prepared_corpus(const std::string& folder, int threads) {
  const std::optional<json> manifest = read_manifest(folder);
  if (!manifest) throw Error("{} has no prepared corpus: all processes must share one folder", folder);
  return open_prepared(folder, *manifest, threads);
}

}  // namespace dragoman::internal
