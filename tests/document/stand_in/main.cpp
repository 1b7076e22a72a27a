// A translator of documents that needs no model, for tools/check_documents: each text stays as it is, or becomes random
// words that the seed determines.
//
//   stand_in_translator identity DOCUMENT TRANSLATION
//   stand_in_translator random:SEED DOCUMENT TRANSLATION
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "document/formats.h"
#include "document/placeholders.h"
#include "document/random_words.h"

namespace dragoman::internal {
namespace {

Random random_of(std::string_view seed) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), number);
  if (seed.empty() || error != std::errc() || end != seed.data() + seed.size())
    throw UsageError("random:{}: the seed must be a number", seed);
  return Random(number);
}

// Without languages, unless a format needs them: so the identity changes no byte.
DocumentSettings settings_of(const DocumentFormat& format, const std::string& document) {
  const bool bilingual = format.name == "xliff" || format.name == "tmx";
  return {.name = document, .from = {}, .to = bilingual ? "fr" : ""};
}

void translate(std::string_view how, const std::string& in, const std::string& out) {
  const std::string bytes = read_file(in);
  const DocumentFormat& format = document_format("", in, bytes);
  const Document document = format.read(bytes, settings_of(format, in));
  std::vector<std::string> rendered;
  if (how == "identity") {
    for (const DocumentSegment& segment : document.segments)
      rendered.push_back(render(segment, segment.text, {}));
  } else {
    constexpr std::string_view prefix = "random:";
    if (!how.starts_with(prefix)) throw UsageError("{}: use identity or random:SEED", how);
    Random random = random_of(how.substr(prefix.size()));
    for (const DocumentSegment& segment : document.segments) {
      TranslatedText translation = {segment.text};
      if (!is_only_placeholders(segment.text)) translation = in_random_words(segment, random);
      if (!has_letters(translation.text)) translation.text += "mot";
      rendered.push_back(render(segment, translation.text, translation.links));
    }
  }
  write_file(out, {document.write(rendered)});
}

}  // namespace
}  // namespace dragoman::internal

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: stand_in_translator identity|random:SEED DOCUMENT TRANSLATION\n", stderr);
    return 2;
  }
  try {
    dragoman::internal::translate(arguments[1], arguments[2], arguments[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
