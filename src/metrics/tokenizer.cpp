#include "metrics/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "metrics/rewriting.h"
#include "text/sentencepiece_splitter.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

bool is_no_number(char32_t c) { return !is_number(c); }

std::u32string tokenize_13a(std::u32string text) {
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  decode_entities(text);
  return separate_points(separate_marks(U" " + text + U" "));
}

std::u32string tokenize_international(const std::u32string& text) {
  const std::u32string after = set_pairs_apart(text, is_no_number, is_punctuation, PairMark::second);
  return set_apart(set_pairs_apart(after, is_punctuation, is_no_number, PairMark::first), is_symbol);
}

struct CodePoints {
  char32_t first, last;
};

// The ranges of sacreBLEU's "zh". It means two of them to be beyond U+FFFF, but their limits are written as a character
// and a digit, and compare as U+2001 to U+2A6D and U+2F81 to U+2FA1: much of the punctuation, arrows and symbols, and
// none of CJK extension B.
constexpr CodePoints chinese_ranges[] = {
    {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F},
    {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5},
    {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F},
    {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};

bool is_chinese(char32_t c) {
  return std::ranges::any_of(chinese_ranges,
                             [c](const CodePoints& range) { return c >= range.first && c <= range.last; });
}

// The text ends without white space (bleu.cpp); here it has to begin without, too.
std::u32string tokenize_chinese(std::u32string text) {
  text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
  return separate_points(separate_marks(set_apart(text, is_chinese)));
}

}  // namespace

const std::vector<std::pair<std::string, Tokenizer>>& tokenizers() {
  static const std::vector<std::pair<std::string, Tokenizer>> all = {
      {"13a", Tokenizer::thirteen_a},      {"intl", Tokenizer::international},
      {"zh", Tokenizer::chinese},          {"char", Tokenizer::characters},
      {"none", Tokenizer::none},           {"flores101", Tokenizer::flores101},
      {"flores200", Tokenizer::flores200}, {"spBLEU-1K", Tokenizer::spbleu_1k}};
  return all;
}

const std::string& name_of(Tokenizer tokenizer) {
  const auto found = std::ranges::find(tokenizers(), tokenizer, &std::pair<std::string, Tokenizer>::second);
  CHECK(found != tokenizers().end(), "tokenizer {}", static_cast<int>(tokenizer));
  return found->first;
}

bool needs_model(Tokenizer tokenizer) {
  return tokenizer == Tokenizer::flores101 || tokenizer == Tokenizer::flores200 ||
         tokenizer == Tokenizer::spbleu_1k;
}

Tokenizer tokenizer_named(const std::string& name) {
  std::string all;
  for (const auto& [known, tokenizer] : tokenizers()) {
    if (known == name) return tokenizer;
    all += (all.empty() ? "" : ", ") + known;
  }
  throw UsageError("there is no tokenizer {}: use one of {}", name, all);
}

std::shared_ptr<const SentencePieceSplitter> subwords_for(Tokenizer tokenizer, const std::string& path) {
  if (needs_model(tokenizer)) {
    if (!path.empty()) return std::make_shared<SentencePieceSplitter>(path);
    throw UsageError("the tokenizer {} needs its SentencePiece model: give the file as tokenizer model",
                     name_of(tokenizer));
  }
  if (path.empty()) return nullptr;
  throw UsageError("the tokenizer {} takes no model, but there is {}: flores101, flores200 and spBLEU-1K do",
                   name_of(tokenizer), path);
}

std::u32string tokenize(Tokenizer tokenizer, std::u32string text, const SentencePieceSplitter* subwords) {
  if (needs_model(tokenizer)) {
    CHECK(subwords, "{} without its model", name_of(tokenizer));
    return code_points(subwords->split(to_utf8(text)));
  }
  switch (tokenizer) {
    case Tokenizer::international:
      return tokenize_international(text);
    case Tokenizer::chinese:
      return tokenize_chinese(std::move(text));
    case Tokenizer::characters:
      return set_apart(text, [](char32_t) { return true; });
    case Tokenizer::none:
      return text;
    default:
      return tokenize_13a(std::move(text));
  }
}

}  // namespace dragoman::internal
