// What decoding keeps from one step to the next, and what that saves: greedy translation in fp32 on one thread, with
// nothing kept, with the encoder's output kept, and with keys and values of every layer kept, as a translator does.
//
//   bench_caches MODEL < SENTENCES      the median of each sentence's time, of five turns
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "dragoman/network.h"
#include "dragoman/translator.h"
#include "timing.h"

namespace {

using dragoman::Ids;
using dragoman::Matrix;

constexpr int turns = 5;

int64_t best_word(const Matrix& logits) {
  return std::ranges::max_element(logits.values) - logits.values.begin();
}

Matrix last_row(const Matrix& states) {
  return {
      1, states.columns, {states.values.end() - static_cast<int64_t>(states.columns), states.values.end()}};
}

// Greedily; each word runs the decoder over all words before it.
std::string translate(dragoman::Network& network, const std::string& text, bool keep_encoder) {
  const Ids source = network.source_ids(text);
  const Ids start_and_end = network.target_ids("");
  Ids target = {start_and_end.front()};
  Matrix memory = network.encode(source);
  while (target.size() < 100) {
    const Matrix states = network.decode(target, memory);
    const int64_t word = best_word(network.logits(last_row(states)));
    if (word == start_and_end.back()) break;
    target.push_back(word);
    if (!keep_encoder) memory = network.encode(source);
  }
  return network.target_text(target);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: bench_caches MODEL < SENTENCES\n";
    return 2;
  }
  dragoman::Network network(arguments[1], {.device = "cpu", .threads = 1});
  dragoman::Translator translator(arguments[1], {.device = "cpu", .threads = 1});
  const dragoman::Options greedy = {{"beam", 1}};

  double nothing = 0, encoder = 0, all = 0;
  int sentences = 0, others = 0;
  for (std::string text; std::getline(std::cin, text); ++sentences) {
    std::vector<double> times[3];
    std::string texts[3];
    for (int turn = 0; turn < turns; ++turn) {
      times[0].push_back(seconds_of([&] { texts[0] = translate(network, text, /*keep_encoder=*/false); }));
      times[1].push_back(seconds_of([&] { texts[1] = translate(network, text, /*keep_encoder=*/true); }));
      times[2].push_back(seconds_of([&] { texts[2] = translator.translate(text, greedy).text(); }));
    }
    nothing += median(times[0]);
    encoder += median(times[1]);
    all += median(times[2]);
    others += texts[0] != texts[2] || texts[1] != texts[2];
  }
  std::printf("%d sentences, of which %d have another translation by one of the three ways\n", sentences,
              others);
  std::printf("nothing kept             %7.2f ms a sentence\n", 1e3 * nothing / sentences);
  std::printf("the encoder's output     %7.2f ms a sentence\n", 1e3 * encoder / sentences);
  std::printf("keys and values as well  %7.2f ms a sentence\n", 1e3 * all / sentences);
}
