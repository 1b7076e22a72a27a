// dragoman translate: a line of output for each line of input, as soon as it is known.
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/signals.h"

namespace dragoman {
namespace {

enum class OutputFormat { text, json };

struct TranslateOptions {
  TranslatingOptions translating;
  std::string prefix;
  OutputFormat format = OutputFormat::text;
  bool pieces = false;
};

void declare(Options& options, TranslateOptions& o) {
  auto own = options.section("", "Which model, and what to print");
  declare_models_and_batch(own, o.translating);
  own.add("prefix", o.prefix, "a file of how each translation begins, line by line");
  own.add("prefix-bias", o.translating.search.prefix_bias,
          "B: while it is followed, p becomes (1 - B)*p, plus B for its next piece; 1: it is forced",
          above(0).at_most(1));
  own.add("format", o.format, "a line of text, or an object with scores, flags and alternatives",
          {{"text", OutputFormat::text}, {"json", OutputFormat::json}});
  own.add("pieces", o.pieces, "print the pieces that the model says, not the text that they make");
}

std::string text_of(const Translation& translation, bool pieces) {
  if (!pieces) return translation.text;
  std::vector<std::string_view> parts;
  for (const ScoredPiece& piece : translation.pieces) parts.push_back(piece.piece);
  return fmt::format("{}", fmt::join(parts, " "));
}

nlohmann::ordered_json to_json(const Translation& translation) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  for (const ScoredPiece& piece : translation.pieces)
    pieces.push_back({{"piece", piece.piece}, {"log_probability", piece.log_probability}});
  return {{"text", translation.text}, {"score", translation.score}, {"tokens", pieces}};
}

nlohmann::ordered_json to_json(const TranslatedLine& line, bool alternatives) {
  nlohmann::ordered_json flags = nlohmann::ordered_json::array();
  for (const auto& [set, name] : {std::pair(line.invalid, "invalid"), std::pair(line.cut, "cut"),
                                  std::pair(line.unknown, "unknown"), std::pair(line.repeats, "repeats")}) {
    if (set) flags.push_back(name);
  }
  nlohmann::ordered_json object = {{"source", line.source}};
  object.update(to_json(line.translations[0]));
  object["flags"] = flags;
  if (!alternatives) return object;
  for (const Translation& translation : line.translations) object["nbest"].push_back(to_json(translation));
  return object;
}

class Printer {
 public:
  explicit Printer(const TranslateOptions& options) : options_(options) {}

  void print(const TranslatedLine& line) {
    const bool alternatives = options_.translating.search.nbest > 1;
    if (options_.format == OutputFormat::json) {
      std::cout << to_json(line, alternatives) << "\n";
    } else if (alternatives) {
      for (const Translation& translation : line.translations) {
        std::cout << fmt::format("{} ||| {} ||| {:.4f}\n", number_, text_of(translation, options_.pieces),
                                 translation.score);
      }
    } else {
      std::cout << text_of(line.translations[0], options_.pieces) << "\n";
    }
    ++number_;
    if (!std::cout.flush()) throw Error("cannot write to standard output");
  }

 private:
  const TranslateOptions& options_;
  int64_t number_ = 0;
};

}  // namespace

void translate(const Arguments& arguments) {
  TranslateOptions o;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  auto section = search.section("", "How to search");
  declare(section, o.translating.search);
  CommandLine line("translate", "translate text, a line for each line");
  line.add_arguments("FILE", files, "plain, .gz or .zst; standard input where there is none",
                     /*required=*/false);
  line.add_options(options);
  line.add_options(search);
  if (!line.parse(arguments)) return;
  line.set_flags();
  if (o.translating.models.empty())
    throw UsageError("translate needs --model DIR: see dragoman translate --help");
  search.check([&] { validate(o.translating.search); });
  if (o.translating.search.prefix_bias != 1 && o.prefix.empty())
    throw UsageError("--prefix-bias has no effect without --prefix FILE");
  watch_signals();

  TranslationInput input(files, o.prefix);
  Printer printer(o);
  translate_lines(o.translating, input, [&](const TranslatedLine& done) { printer.print(done); });
}

}  // namespace dragoman
