#include "data/corpus.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

namespace dragoman::internal {
namespace {

std::vector<CorpusSource> paired(const std::vector<std::string>& source,
                                 const std::vector<std::string>& target, TextFormat format) {
  CHECK(source.size() == target.size(), "{} and {} files", source.size(), target.size());
  std::vector<CorpusSource> sources;
  for (size_t i = 0; i < source.size(); ++i) sources.push_back({source[i], target[i], format});
  return sources;
}

}  // namespace

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

nlohmann::json to_json(const CorpusCounts& c) {
  return {{"read", c.read},
          {"kept", c.kept},
          {"held_out", c.held_out},
          {"left_out",
           {{"invalid", c.left_out.invalid},
            {"empty", c.left_out.empty},
            {"too_long", c.left_out.too_long},
            {"ratio", c.left_out.ratio}}},
          {"source_tokens", c.source_tokens},
          {"target_tokens", c.target_tokens}};
}

CorpusCounts corpus_counts_from_json(const nlohmann::json& json) {
  const nlohmann::json& left_out = json.at("left_out");
  return {.read = integer_at(json, "read"),
          .kept = integer_at(json, "kept"),
          .held_out = integer_at(json, "held_out"),
          .left_out = {.invalid = integer_at(left_out, "invalid"),
                       .empty = integer_at(left_out, "empty"),
                       .too_long = integer_at(left_out, "too_long"),
                       .ratio = integer_at(left_out, "ratio")},
          .source_tokens = integer_at(json, "source_tokens"),
          .target_tokens = integer_at(json, "target_tokens")};
}

std::vector<CorpusSource> corpus_sources(const DataConfig& data) {
  std::vector<CorpusSource> sources = paired(data.source, data.target, data.format);
  for (const std::string& path : data.tsv) sources.push_back({path, ""});
  for (const std::string& path : data.text)
    sources.push_back({"", path, TextFormat::text, data.text_column, data.documents});
  return sources;
}

std::vector<CorpusSource> validation_sources(const DataConfig& data) {
  std::vector<CorpusSource> sources = paired(data.valid_source, data.valid_target, data.format);
  for (const std::string& path : data.valid_text)
    sources.push_back({"", path, TextFormat::text, 0, data.documents});
  return sources;
}

uint64_t stored_bytes(const std::vector<CorpusSource>& sources) {
  uint64_t bytes = 0;
  std::error_code unknown;  // opening the file will report it
  for (const CorpusSource& source : sources) {
    for (const std::string& path : {source.source, source.target}) {
      const uint64_t size = path.empty() ? 0 : std::filesystem::file_size(path, unknown);
      if (!unknown) bytes += size;
    }
  }
  return bytes;
}

CorpusReader::CorpusReader(std::vector<CorpusSource> sources, bool swap, int64_t limit)
    : sources_(std::move(sources)), swap_(swap), limit_(limit) {}

uint64_t CorpusReader::bytes_read() const {
  return bytes_of_earlier_ + (files_ ? files_->bytes_read() : 0) + (file_ ? file_->bytes_read() : 0);
}

void CorpusReader::close() {
  bytes_of_earlier_ = bytes_read();
  files_.reset();
  file_.reset();
}

void CorpusReader::open_next() {
  const CorpusSource& source = sources_[static_cast<size_t>(++origin_)];
  if (source.is_tsv() || source.is_one_sided()) {
    file_.emplace(source.is_tsv() ? source.source : source.target);
  } else {
    files_.emplace(std::vector{source.source, source.target}, source.format);
  }
  read_of_source_ = 0;
}

// The next pair of the current source; false at its end.
bool CorpusReader::read_pair(RawPair& pair) {
  if (limit_ > 0 && read_of_source_ == limit_) return false;
  pair.invalid = false;
  const CorpusSource& source = sources_[static_cast<size_t>(origin_)];
  pair.one_sided = source.is_one_sided();
  if (files_) {
    std::string_view sides[2];
    if (!files_->next(sides)) return false;
    pair.source = sides[0], pair.target = sides[1];
    return true;
  }
  return pair.one_sided ? read_text(pair, source) : read_columns(pair);
}

// A line, or the lines up to an empty one. Without the empty lines between documents, which are none.
bool CorpusReader::read_text(RawPair& pair, const CorpusSource& source) {
  if (!source.documents) return read_line_of_text(pair, source.column);
  document_.clear();
  bool invalid = false;
  while (read_line_of_text(pair, source.column)) {
    if (!pair.invalid && is_blank(pair.target)) {
      if (!document_.empty() || invalid) break;
      continue;
    }
    invalid |= std::exchange(pair.invalid, false);
    if (document_.size() + pair.target.size() >= LineReader::max_line_length)
      throw Error("{}:{}: the document has more than {} MiB: do empty lines separate the file's documents?",
                  file_->path(), file_->number(), LineReader::max_line_length >> 20);
    if (!document_.empty()) document_ += ' ';
    document_ += pair.target;
  }
  pair.invalid = invalid;
  pair.target = document_;
  return !document_.empty() || invalid;
}

bool CorpusReader::read_line_of_text(RawPair& pair, int64_t column) {
  pair.source = {};
  pair.invalid = false;
  if (!file_->next(pair.target)) return false;
  if (is_blank(pair.target)) return true;
  for (int64_t i = 1; i < column; ++i) {
    const size_t tab = pair.target.find('\t');
    pair.invalid = tab == std::string_view::npos;
    if (pair.invalid) return true;
    pair.target.remove_prefix(tab + 1);
  }
  if (column > 0) pair.target = pair.target.substr(0, pair.target.find('\t'));
  return true;
}

bool CorpusReader::read_columns(RawPair& pair) {
  if (!file_->next(pair.source)) return false;
  const size_t tab = pair.source.find('\t');
  pair.invalid = tab == std::string_view::npos;
  pair.target = pair.invalid ? std::string_view() : pair.source.substr(tab + 1);
  pair.target = pair.target.substr(0, pair.target.find('\t'));
  pair.source = pair.source.substr(0, tab);
  return true;
}

bool CorpusReader::next(RawPair& pair) {
  while ((!files_ && !file_) || !read_pair(pair)) {
    close();
    if (origin_ + 1 == static_cast<int64_t>(sources_.size())) return false;
    open_next();
  }
  ++read_of_source_;
  pair.index = index_++;
  pair.origin = origin_;
  pair.invalid = pair.invalid || !is_text(pair.source) || !is_text(pair.target);
  if (pair.invalid) pair.source = pair.target = {};
  if (swap_) std::swap(pair.source, pair.target);
  return true;
}

bool is_blank(const RawPair& pair) {
  return (is_blank(pair.source) && !pair.one_sided) || is_blank(pair.target);
}

bool is_no_sentence(std::string_view text, int64_t max_length) {
  constexpr size_t bytes_of_subword = 256, always_quick = size_t{1} << 16;
  return text.size() > std::max(always_quick, bytes_of_subword * static_cast<size_t>(max_length));
}

std::vector<TextPair> read_pairs(const std::vector<CorpusSource>& sources, bool swap, DroppedPairs& left_out,
                                 int64_t max_length) {
  std::vector<TextPair> pairs;
  CorpusReader reader(sources, swap, 0);
  for (RawPair pair; reader.next(pair);) {
    if (pair.invalid) {
      ++left_out.invalid;
    } else if (is_blank(pair)) {
      ++left_out.empty;
    } else if (is_no_sentence(pair.source, max_length) || is_no_sentence(pair.target, max_length)) {
      ++left_out.too_long;
    } else {
      pairs.push_back({std::string(pair.source), std::string(pair.target)});
    }
  }
  return pairs;
}

std::vector<TextPair> read_pairs_of_user(std::string_view what, const std::vector<CorpusSource>& sources,
                                         bool swap, int64_t max_length) {
  DroppedPairs left_out;
  std::vector<TextPair> pairs = read_pairs(sources, swap, left_out, max_length);
  if (left_out.total() > 0) {
    log_warning("{}: {} pairs left out, {} empty, {} invalid and {} too long", what, left_out.total(),
                left_out.empty, left_out.invalid, left_out.too_long);
  }
  return pairs;
}

}  // namespace dragoman::internal
