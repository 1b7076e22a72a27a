// The vocabulary of generated sentences, whose words are numbers: the word "7" is token 7.
#pragma once

#include <cstdint>
#include <string>

namespace dragoman::internal {

// A SentencePiece model of the words 1 to symbols − 1. Token 0 stands for every other word. It has no special tokens,
// since every token but 0 may occur anywhere in a sentence.
std::string symbol_model(int64_t symbols);

}  // namespace dragoman::internal
