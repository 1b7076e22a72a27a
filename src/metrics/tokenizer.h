// BLEU's tokenizers, as in sacreBLEU.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::internal {

class SentencePieceSplitter;

// thirteen_a ("13a"): that of mteval-v13a, which WMT reports. international ("intl"): that of mteval-v14, by Unicode
// categories. chinese ("zh"): each Chinese character is a token, the rest as in 13a. characters ("char"): each
// character is a token. none: splits at white space only. The others are subwords, by a SentencePiece model that the
// user has to provide: that of FLORES-101, of FLORES-200, or of spBLEU-1K.
enum class Tokenizer {
  thirteen_a,
  international,
  chinese,
  characters,
  none,
  flores101,
  flores200,
  spbleu_1k
};

// All of them, with the names that sacreBLEU gives them.
const std::vector<std::pair<std::string, Tokenizer>>& tokenizers();
const std::string& name_of(Tokenizer tokenizer);
bool needs_model(Tokenizer tokenizer);

// Throws a UsageError that lists them if there is none of this name.
Tokenizer tokenizer_named(const std::string& name);

// The model of a tokenizer that needs one; null for the others. Throws a UsageError if `path` is empty where one is
// needed, or names one where none is.
std::shared_ptr<const SentencePieceSplitter> subwords_for(Tokenizer tokenizer, const std::string& path);

// The text with its tokens separated by white space. `subwords`: for those that need a model.
std::u32string tokenize(Tokenizer tokenizer, std::u32string text,
                        const SentencePieceSplitter* subwords = nullptr);

}  // namespace dragoman::internal
