#include "data/corpus_config.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr int64_t many = int64_t{1} << 40;

void same_length(const char* key, const std::vector<std::string>& one, const char* other,
                 const std::vector<std::string>& two) {
  if (one.size() == two.size()) return;
  throw OptionError(key, fmt::format("has {} file{}, but {} has {}: each file needs its counterpart",
                                     one.size(), one.size() == 1 ? "" : "s", other, two.size()));
}

void check_weights(const DataConfig& data) {
  const size_t sources = data.source.size() + data.tsv.size() + data.text.size();
  if (!data.weights.empty() && data.weights.size() != sources) {
    throw OptionError("data.weights",
                      fmt::format("has {} numbers for {} sources", data.weights.size(), sources));
  }
  const double sum = std::accumulate(data.weights.begin(), data.weights.end(), 0.0);
  if (!data.weights.empty() && sum == 0)
    throw OptionError("data.weights", "are all 0, which leaves nothing to train on");
}

bool is_pipe(const std::string& file) {
  std::error_code none;
  return std::filesystem::is_fifo(file, none);
}

// A pipe can be read only once. Standard input is, while a corpus is prepared (standard_input.h), and other pipes are
// refused; validation files are read again by every resume.
void check_pipes(const DataConfig& data) {
  int64_t named = 0;
  for (const auto& [key, files] :
       {std::pair{"data.source", &data.source}, std::pair{"data.target", &data.target},
        std::pair{"data.tsv", &data.tsv}, std::pair{"data.text", &data.text}}) {
    named += std::ranges::count(*files, "-");
    if (named > 1) throw OptionError(key, "names standard input (-) a second time: it can be read only once");
    for (const std::string& file : *files) {
      if (is_pipe(file))
        throw OptionError(key, fmt::format("names the pipe {}, but a corpus is read more than once: name a "
                                           "file, or send it to standard input and name that as -",
                                           file));
    }
  }
  for (const auto& [key, files] :
       {std::pair{"data.valid_source", &data.valid_source},
        std::pair{"data.valid_target", &data.valid_target}, std::pair{"data.valid_text", &data.valid_text}}) {
    for (const std::string& file : *files) {
      if (file == "-" || is_pipe(file))
        throw OptionError(key,
                          fmt::format("names {}, but is read again whenever training resumes: name a file",
                                      file == "-" ? "standard input (-)" : "the pipe " + file));
    }
  }
}

void declare_synthetic(Section& section, DataConfig& data) {
  section.add("synthetic", data.synthetic,
              "generated sentences instead of files; the target copies, reverses or sorts the source",
              {{"none", Synthetic::none},
               {"copy", Synthetic::copy},
               {"reverse", Synthetic::reverse},
               {"sort", Synthetic::sort}});
  section.add("symbols", data.symbols, "synthetic: vocabulary size; 0 is never drawn, 1 begins each sentence",
              at_least(3).at_most(1'000'000));
  section.add("length", data.length, "synthetic: symbols per sentence", at_least(2).at_most(10'000));
  section.add("sentences", data.sentences, "synthetic: sentences per batch", at_least(1).at_most(10'000));
  section.add("batches", data.batches, "synthetic: batches per epoch", at_least(1).at_most(1'000'000));
  section.add("valid_batches", data.valid_batches, "synthetic: validation batches after each epoch",
              at_least(0).at_most(1'000'000));
}

void declare_noise(Section& section, NoiseShares& noise) {
  section.add("noise_upper", noise.upper, "share of the training pairs in upper case, on both sides",
              at_least(0).at_most(1));
  section.add("noise_title", noise.title, "share of the training pairs with every word capitalised",
              at_least(0).at_most(1));
  section.add("noise_typos", noise.typos, "share of the training pairs with spelling mistakes in the source",
              at_least(0).at_most(1));
  section.add("noise_punctuation", noise.punctuation,
              "share of the training pairs without the final punctuation mark, on both sides",
              at_least(0).at_most(1));
  section.add("noise_tags", noise.tags,
              "share of the training pairs with a tag such as <b>...</b>, the same on both sides",
              at_least(0).at_most(1));
}

}  // namespace

void declare(Options& options, DataConfig& data) {
  auto section = options.section("data", "Training data");
  section.add("source", data.source,
              "source text, one sentence per line: a file or several; plain, gzip or Zstandard");
  section.add("target", data.target, "its translation, line by line");
  section.add("format", data.format,
              "format of source, target and their validation files; iwslt: lines between tags; sgm: <seg> "
              "elements; auto: sgm for .xml, .sgm and .sgml, iwslt for train.tags.*, text otherwise",
              {{"auto", TextFormat::automatic},
               {"text", TextFormat::text},
               {"iwslt", TextFormat::iwslt},
               {"sgm", TextFormat::sgm}});
  section.add("tsv", data.tsv, "files with both sides: source, tab, target; - is standard input");
  section.add("text", data.text,
              "plain text for a language model, a sentence or a paragraph per line: a file or several");
  section.add(
      "text_column", data.text_column,
      "column of text, but not of valid_text, where it is tab-separated; the first is 1; 0: the whole line",
      at_least(0));
  section.add(
      "documents", data.documents,
      "text and valid_text: empty lines end documents, whose lines are one sequence, joined by spaces");
  section.add("weights", data.weights,
              "how often an epoch uses each file's pairs, source files before tsv; empty: once",
              at_least(0).at_most(10'000));
  section.add("valid_source", data.valid_source, "validation text, never trained on");
  section.add("valid_target", data.valid_target, "its translation");
  section.add("valid_text", data.valid_text, "validation text of a language model, never trained on");
  section.add("obtain", data.obtain, "how to get the corpus: shown when one of its files is missing")
      .may_change_on_resume();
  section.add("swap", data.swap, "exchange the files' sides; from and to are the languages afterwards");
  section.add("from", data.from,
              "source language, such as en; of a multilingual vocabulary one that dragoman info lists");
  section.add("to", data.to, "target language");
  section.add("limit", data.limit, "use only the first N pairs of each file; 0: all",
              at_least(0).at_most(many));
  section.add("hold_out", data.hold_out, "pairs to set aside from the corpus for validation",
              at_least(0).at_most(1'000'000));
  section
      .add("sample", data.sample,
           "pairs of the training text that the model's folder keeps, and a thousand of the validation "
           "set, for dragoman adapt; 0: none",
           at_least(0).at_most(1'000'000))
      .may_change_on_resume();
  section.add("max_length", data.max_length, "leave out pairs with a side of more subwords than this",
              at_least(1).at_most(1'000'000));
  section.add("max_ratio", data.max_ratio,
              "leave out pairs with one side longer than X times the other, in subwords; 0: none",
              at_least(0));
  section.add("terms", data.terms,
              "tab-separated file of terms and translations, which the model learns to use");
  section.add("terms_share", data.terms_share, "share of the pairs that are annotated with terms",
              at_least(0).at_most(1));
  declare_noise(section, data.noise);
  section.add("order", data.order, "several files in an epoch: shuffled together, or one after another",
              {{"mixed", SourceOrder::mixed}, {"consecutive", SourceOrder::consecutive}});
  section.add("sort_by_length", data.sort_by_length,
              "batch sentences of similar length together, as in the paper; there is no padding to save");
  declare_synthetic(section, data);
}

// What is about a source has no effect.
void check_one_sided(const DataConfig& data) {
  if (!data.terms.empty()) throw OptionError("data.terms", "are for translations, and data.text has none");
  if (data.noise.any())
    throw OptionError("data.noise_upper",
                      "and the other kinds of noise are for translations, and data.text has none");
  for (const auto& [is_set, key] :
       {std::pair(data.swap, "data.swap"), std::pair(data.max_ratio > 0, "data.max_ratio"),
        std::pair(!data.from.empty(), "data.from")})
    if (is_set) throw OptionError(key, "has no effect on data.text, which has one side");
  if (data.format != TextFormat::automatic && data.format != TextFormat::text)
    throw OptionError("data.format", "has no effect on data.text, which is read line by line");
}

// A corpus has two sides, or one.
void check_sides(const DataConfig& data) {
  const bool has_pairs = !data.source.empty() || !data.tsv.empty();
  if (is_one_sided(data) && has_pairs)
    throw OptionError("data.text", "cannot be combined with data.source or data.tsv: choose one");
  if (!is_one_sided(data) && data.text_column > 0)
    throw OptionError("data.text_column", "has no effect without data.text");
  if (!is_one_sided(data) && data.documents)
    throw OptionError("data.documents", "has no effect without data.text");
  if (is_one_sided(data)) check_one_sided(data);
  if (is_one_sided(data) ? !data.valid_source.empty() : has_pairs && !data.valid_text.empty())
    throw OptionError(is_one_sided(data) ? "data.valid_source" : "data.valid_text",
                      fmt::format("does not belong to data.{0}: use data.valid_{0}",
                                  is_one_sided(data) ? "text" : "source"));
}

void check_combinations(const DataConfig& data) {
  const bool has_files = !data.source.empty() || !data.tsv.empty() || is_one_sided(data);
  if (has_files && data.synthetic != Synthetic::none)
    throw OptionError("data.synthetic", "cannot be combined with files: choose one");
  if (data.hold_out > 0 && has_validation_files(data))
    throw OptionError("data.hold_out", "cannot be combined with files of validation text: choose one");
}

void validate(const DataConfig& data) {
  same_length("data.source", data.source, "data.target", data.target);
  same_length("data.valid_source", data.valid_source, "data.valid_target", data.valid_target);
  check_weights(data);
  check_pipes(data);
  if (data.max_ratio > 0 && data.max_ratio < 1) {
    throw OptionError("data.max_ratio", fmt::format("is {}, but must be 0 or at least 1", data.max_ratio));
  }
  if (data.noise.upper + data.noise.title > 1)
    throw OptionError("data.noise_title", "and data.noise_upper are more than 1 together: no pair gets both");
  check_sides(data);
  check_combinations(data);
}

void require_corpus(const DataConfig& data) {
  if (!data.source.empty() || !data.tsv.empty() || is_one_sided(data) || data.synthetic != Synthetic::none)
    return;
  throw OptionError("data.source",
                    "is not set: give data.source and data.target, or data.tsv, or data.synthetic; for a "
                    "language model, data.text");
}

std::vector<double> source_weights(const DataConfig& data) {
  if (!data.weights.empty()) return data.weights;
  return std::vector<double>(data.source.size() + data.tsv.size() + data.text.size(), 1.0);
}

int64_t max_sentence_length(const DataConfig& data) {
  if (data.synthetic != Synthetic::none) return data.length;
  return data.max_length + (data.from.empty() && data.to.empty() ? 1 : 2);
}

}  // namespace dragoman::internal
