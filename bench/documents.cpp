// A document's speed beside that of its texts as plain lines, interleaved: what parsing, alignment and marks cost.
//
//   bench_documents MODEL FILE.html [ROUNDS]
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "document/formats.h"
#include "dragoman/document.h"
#include "timing.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_documents MODEL FILE [ROUNDS]\n");
    return 2;
  }
  const std::string name = argv[2], bytes = dragoman::internal::read_file(name);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  dragoman::Translator translator(argv[1]);
  std::vector<std::string> texts;
  for (const auto& segment :
       dragoman::internal::document_format("", name).read(bytes, {.name = name}).segments)
    texts.push_back(segment.text);
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());

  const dragoman::Options options = {{"split-sentences", "any"}, {"replace-unknown", true}};
  std::vector<double> lines, document, ratios;
  for (int round = 0; round < rounds; ++round) {
    lines.push_back(seconds_of([&] {
      std::vector<std::future<dragoman::Translation>> futures;
      for (const std::string& text : texts)
        futures.push_back(translator.submit({.text = text, .options = options, .tokens = false}));
      for (auto& future : futures) future.get();
    }));
    document.push_back(seconds_of([&] {
      dragoman::translate_document(translator, {.bytes = bytes, .name = name, .options = options});
    }));
    ratios.push_back(document.back() / lines.back());
  }
  fmt::print("{} texts: {:.2f} s as lines, {:.2f} s as a document: {:.3f} times (medians of {})\n",
             texts.size(), median(lines), median(document), median(ratios), rounds);
}
