// Splits each line of standard input into sentences, with tabs between them: bench/peers/sentence_splitting.py compares
// them with known ones.
//
//   bench_sentences [LANGUAGE] < FILE
#include "text/sentences.h"

#include <iostream>
#include <string>
#include <string_view>

int main(int count, char** arguments) {
  const std::string language = count > 1 ? arguments[1] : "";
  for (std::string line; std::getline(std::cin, line);) {
    std::string_view separator;
    for (const auto& part : dragoman::internal::split_sentences(line, language)) {
      std::cout << separator << part.sentence;
      separator = "\t";
    }
    std::cout << "\n";
  }
}
