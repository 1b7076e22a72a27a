#include "text/vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include <nlohmann/json.hpp>
#include <sentencepiece_processor.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/files.h"
#include "text/sentencepiece_check.h"
#include "text/spm_fields.h"
#include "text/vocabulary_checksums.h"
#include "text/word_tokenizer.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view word_begin = "▁", unknown_word = "⁇";

std::vector<TextSpan> split_at_spaces(std::string_view text) {
  std::vector<TextSpan> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back({begin, end});
    begin = end + 1;
  }
  return words;
}

// SentencePiece splits no text that contains one of its control tokens, as a damaged model may have them.
void throw_unless_split(const sentencepiece::util::Status& status) {
  if (status.ok()) return;
  throw Error(
      "the vocabulary cannot split a text: {}; its .spm file is damaged, or has text among its control "
      "tokens",
      status.error_message());
}

std::string file_of(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

[[noreturn]] void throw_without(const std::string& name, const char* token, const char* flag) {
  throw Error("{} has no {} token: learn it with dragoman prepare, or with spm_train and {} at least 0", name,
              token, flag);
}

std::optional<BoundaryTokens> boundary_tokens(const nlohmann::json& config, const std::string& folder) {
  if (!config.contains("marks")) return {};
  const nlohmann::json& marks = config.at("marks");
  const auto number = [&](const char* name) {
    if (marks.is_object() && marks.contains(name) && marks.at(name).is_number_integer()) {
      const auto value = marks.at(name).get<int64_t>();
      if (value >= -1 && value <= INT32_MAX) return static_cast<int32_t>(value);
    }
    throw Error("{}: marks.{} is not the number of a token", file_of(folder, "config.json"), name);
  };
  return BoundaryTokens{.start = number("start"), .end = number("end")};
}

std::shared_ptr<const Vocabulary> read_for_decoder(const std::string& folder, const char* name) {
  auto vocabulary = read_vocabulary(folder, name);
  if (vocabulary->special().start < 0) throw_without(file_of(folder, name), "start-of-sentence", "--bos_id");
  return vocabulary;
}

// A token that the .spm file lacks is decoded as it is, with the mark that begins a word.
void put_spaces_for_marks(TextOfPieces& decoded) {
  const std::string marked = std::exchange(decoded.text, "");
  if (marked.find(word_begin) == std::string::npos) {
    decoded.text = marked;
    return;
  }
  std::vector<size_t> moved(marked.size() + 1);  // where each byte is now
  for (size_t i = 0; i < marked.size(); ++i) {
    moved[i] = decoded.text.size();
    if (!std::string_view(marked).substr(i).starts_with(word_begin)) {
      decoded.text += marked[i];
      continue;
    }
    if (!decoded.text.empty()) decoded.text += ' ';
    for (size_t rest = 1; rest < word_begin.size(); ++rest) moved[++i] = decoded.text.size();
  }
  moved[marked.size()] = decoded.text.size();
  for (TextSpan& span : decoded.spans) span = {moved[span.begin], moved[span.end]};
}

}  // namespace

struct Vocabulary::Processor : sentencepiece::SentencePieceProcessor {
  bool is_of_words = false;
  WordTokenizer tokenizer = WordTokenizer::none;
  std::optional<TokenTable> table;
  std::unordered_map<std::string_view, int32_t> ids;  // of the table's tokens
  std::vector<bool> no_text;                          // of each of them

  // The first of equal tokens is the one that a text has.
  void use(TokenTable tokens) {
    table = std::move(tokens);
    ids.reserve(table->tokens.size());
    for (size_t i = 0; i < table->tokens.size(); ++i) ids.emplace(table->tokens[i], static_cast<int32_t>(i));
    no_text.resize(table->tokens.size());
    for (const int32_t id : table->suppressed) no_text[static_cast<size_t>(id)] = true;
    for (const auto& [name, id] : table->languages.tokens) no_text[static_cast<size_t>(id)] = true;
  }

  size_t language_tag(std::string_view text) const {
    if (!table || !text.starts_with(">>")) return 0;
    const size_t end = text.find("<<");
    return end != std::string_view::npos && ids.contains(text.substr(0, end + 2)) ? end + 2 : 0;
  }
};

Vocabulary Vocabulary::read(const std::string& path) { return Vocabulary(read_file(path), path); }

Vocabulary::Vocabulary(std::string model, const std::string& name, std::optional<BoundaryTokens> boundaries)
    : model_(std::move(model)), processor_(std::make_unique<Processor>()) {
  check_sentencepiece(model_, name);
  const auto status = processor_->LoadFromSerializedProto(model_);
  if (!status.ok())
    throw Error("{} is not a SentencePiece model, or damaged: {}", name, status.error_message());
  special_ = {.unknown = processor_->unk_id(), .start = processor_->bos_id(), .end = processor_->eos_id()};
  if (special_.unknown < 0) throw_without(name, "unknown", "--unk_id");
  if (auto table = token_table_of(model_, name)) {
    special_ = {.unknown = table->unknown, .start = table->start, .end = table->end};
    suppressed_ = table->suppressed;
    forced_prefix_ = table->forced_prefix;
    languages_ = table->languages;
    processor_->use(std::move(*table));
  }
  if (boundaries) {
    special_.start = boundaries->start;
    special_.end = boundaries->end;
  } else if (special_.end < 0) {
    throw_without(name, "end-of-sentence", "--eos_id");
  }
  if (special_.start >= size() || special_.end >= size())
    throw Error("{} has {} tokens, but config.json names special tokens beyond them", name, size());
  for (const char* const token : {term_begin_name, term_is_name, term_end_name})
    if (const int32_t mark = id(token); mark != special_.unknown && is_control(mark))
      suppressed_.push_back(mark);
  // Of the file's own pieces: other systems' tables of tokens may hold anything.
  bool of_words = true;
  for (int i = 0; i < processor_->GetPieceSize() && of_words; ++i)
    of_words = processor_->IsControl(i) || processor_->IsUnknown(i) ||
               processor_->IdToPiece(i).starts_with(word_begin);
  processor_->is_of_words = of_words;
  processor_->tokenizer = tokenizer_of(model_, name);
}

// Every other kind has pieces without word_begin: at least single characters.
bool Vocabulary::is_of_words() const { return processor_->is_of_words; }

size_t Vocabulary::language_tag(std::string_view text) const { return processor_->language_tag(text); }

Vocabulary::~Vocabulary() = default;
Vocabulary::Vocabulary(Vocabulary&&) noexcept = default;
Vocabulary& Vocabulary::operator=(Vocabulary&&) noexcept = default;

int64_t Vocabulary::size() const {
  return processor_->table ? std::ssize(processor_->table->tokens) : processor_->GetPieceSize();
}

bool Vocabulary::is_control(int32_t id) const {
  if (!processor_->table) return processor_->IsControl(id);
  return id == special_.start || id == special_.end || processor_->no_text[static_cast<size_t>(id)];
}

// SentencePiece merges consecutive unknown words into one token; here each is a token.
PiecesOfText Vocabulary::encode_words(std::string_view text) const {
  const bool by_spaces = processor_->tokenizer == WordTokenizer::none;
  PiecesOfText pieces = {.ids = {}, .spans = by_spaces ? split_at_spaces(text) : tokenize_words(text)};
  pieces.ids.reserve(pieces.spans.size());
  for (const auto& [begin, end] : pieces.spans)
    pieces.ids.push_back(id(std::string(word_begin).append(text.substr(begin, end - begin))));
  return pieces;
}

TextOfPieces Vocabulary::join_words(std::span<const int32_t> ids) const {
  TextOfPieces result = {.text = {}, .spans = {}, .of_words = true};
  WordSpacing spacing;
  for (const int32_t id : ids) {
    const size_t begin = result.text.size();
    if (!is_control(id)) {
      const bool unknown = id == special_.unknown;
      std::string_view word = unknown ? unknown_word : std::string_view(piece(id));
      if (word.starts_with(word_begin)) word.remove_prefix(word_begin.size());
      if (spacing.space_before(word)) result.text += ' ';
      result.text += word;
    }
    result.spans.push_back({begin, result.text.size()});
  }
  return result;
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  if (is_of_words()) return encode_words(text).ids;
  if (processor_->table) return encode_with_spans(text).ids;
  static_assert(std::is_same_v<int, int32_t>);
  std::vector<int32_t> ids;
  throw_unless_split(processor_->Encode(text, &ids));
  return ids;
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const { return decode_with_spans(ids).text; }

PiecesOfText Vocabulary::encode_with_spans(std::string_view text) const {
  if (is_of_words()) return encode_words(text);
  PiecesOfText pieces;
  const size_t language = processor_->language_tag(text);
  if (language > 0) {
    pieces.ids.push_back(id(text.substr(0, language)));
    pieces.spans.push_back({0, language});
  }
  sentencepiece::ImmutableSentencePieceText encoded;
  throw_unless_split(processor_->Encode(text.substr(language), encoded.mutable_proto()));
  for (const auto& piece : encoded.pieces()) {
    pieces.ids.push_back(processor_->table ? id(piece.piece()) : static_cast<int32_t>(piece.id()));
    pieces.spans.push_back({language + piece.begin(), language + piece.end()});
  }
  return pieces;
}

TextOfPieces Vocabulary::decode_with_spans(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) CHECK(id >= 0 && id < size(), "id {} of {}", id, size());
  if (is_of_words() && processor_->tokenizer != WordTokenizer::none) return join_words(ids);
  std::vector<std::string_view> pieces;
  for (const int32_t id : ids) {
    if (!is_control(id)) pieces.push_back(piece(id));
  }
  const auto decoded = processor_->DecodePiecesAsImmutableProto(pieces);
  TextOfPieces result = {.text = decoded.text(), .spans = {}, .of_words = is_of_words()};
  TextSpan last;
  for (size_t i = 0, next = 0; i < ids.size(); ++i) {
    if (is_control(ids[i])) {
      last.begin = last.end;
    } else {
      const auto piece = decoded.pieces(static_cast<int>(next++));
      last = {piece.begin(), piece.end()};
    }
    result.spans.push_back(last);
  }
  if (processor_->table) put_spaces_for_marks(result);
  return result;
}

const std::string& Vocabulary::piece(int32_t id) const {
  CHECK(id >= 0 && id < size(), "id {} of {}", id, size());
  return processor_->table ? processor_->table->tokens[static_cast<size_t>(id)] : processor_->IdToPiece(id);
}

int32_t Vocabulary::id(std::string_view piece) const {
  if (!processor_->table) return processor_->PieceToId(piece);
  const auto found = processor_->ids.find(piece);
  return found != processor_->ids.end() ? found->second : special_.unknown;
}

float Vocabulary::score(int32_t id) const { return processor_->GetScore(processor_->PieceToId(piece(id))); }
bool Vocabulary::is_byte(int32_t id) const { return processor_->IsByte(processor_->PieceToId(piece(id))); }

std::optional<char> Vocabulary::byte_of(int32_t id) const {
  if (!is_byte(id)) return std::nullopt;
  const std::string& name = piece(id);  // "<0xE2>"
  return static_cast<char>(hex_digit(name[3]) * 16 + hex_digit(name[4]));
}

bool Vocabulary::is_special(int32_t id) const { return is_control(id) || id == special_.unknown; }

std::shared_ptr<const Vocabulary> read_vocabulary(const std::string& folder, const std::string& name) {
  const std::string path = file_of(folder, name);
  std::string contents = read_file(path);
  const nlohmann::json config = config_of_vocabularies(folder);
  verify_vocabulary(config, path, contents);
  return std::make_shared<const Vocabulary>(std::move(contents), path, boundary_tokens(config, folder));
}

Vocabularies read_vocabularies(const std::string& folder) {
  if (std::filesystem::exists(file_of(folder, "shared.spm"))) {
    const auto both = read_for_decoder(folder, "shared.spm");
    return {both, both};
  }
  if (!std::filesystem::exists(file_of(folder, "source.spm")))
    throw Error("{} has no vocabulary: {}", folder,
                std::filesystem::exists(folder) ? "it contains neither shared.spm nor source.spm"
                                                : "there is no such folder");
  return {read_vocabulary(folder, "source.spm"), read_for_decoder(folder, "target.spm")};
}

bool Vocabularies::have_same_tokens() const {
  if (shared()) return true;
  if (source->size() != target->size()) return false;
  for (int32_t id = 0; id < source->size(); ++id)
    if (source->piece(id) != target->piece(id)) return false;
  return true;
}

void write_vocabularies(const std::string& folder, const Vocabularies& vocabularies) {
  std::error_code ignored;
  if (vocabularies.shared()) {
    write_file(file_of(folder, "shared.spm"), {vocabularies.source->model()});
    for (const char* name : {"source.spm", "target.spm"})
      std::filesystem::remove(file_of(folder, name), ignored);
    return;
  }
  write_file(file_of(folder, "source.spm"), {vocabularies.source->model()});
  write_file(file_of(folder, "target.spm"), {vocabularies.target->model()});
  std::filesystem::remove(file_of(folder, "shared.spm"), ignored);
}

bool have_same_vocabularies(const std::string& folder, const std::string& other) {
  const auto contents = [](const std::string& path) {
    return std::filesystem::exists(path) ? read_file(path) : std::string();
  };
  const auto same = [&](const char* name) {
    return contents(file_of(folder, name)) == contents(file_of(other, name));
  };
  return same("source.spm") && same("target.spm") && same("shared.spm");
}

}  // namespace dragoman::internal
