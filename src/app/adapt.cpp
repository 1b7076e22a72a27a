// dragoman adapt: a model that has learned from its user's translations.
#include "adapt/adapt.h"

#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "adapt/segments.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

void declare_segments(Section& own, AdaptConfig& c) {
  own.add("memory", c.memories, "translation memory to learn from; may be repeated").shows("DIR");
  own.add("source", c.segments.source, "or a file of sources, one per line").shows("FILE");
  own.add("target", c.segments.target, "and their translations, line by line").shows("FILE");
  own.add("from", c.segments.from,
          "language of the sources, such as en; by default the memory's or the model's");
  own.add("to", c.segments.to, "language of the translations");
}

void declare_general(Section& own, AdaptConfig& c) {
  own.add("general-source", c.general_source,
          "text of no particular subject, by which the model keeps what it knows; by default what its folder "
          "has of its training text (data.sample), or sentences that come with the program")
      .shows("FILE");
  own.add("general-target", c.general_target,
          "its translation; without it the model translates general-source itself")
      .shows("FILE");
  own.add("general-share", c.general_share, "share of general text in what the model learns from",
          above(0).below(1));
  own.add(
      "max-loss", c.max_loss,
      "BLEU that held-out general text may lose; without references for it, 50 times that against the old "
      "model's translations",
      at_least(0));
}

void declare_tuning(Section& own, AdaptConfig& c) {
  own.add(
      "weights", c.weights,
      "what changes; all: every weight, and the new model is a whole one; low_rank: biases, norms and a "
      "low-rank update of each matrix, biases: biases and norms alone, and the new model is a small update "
      "of the old one, which must stay where it is; best: each of them in turn, and the best is kept",
      {{"all", AdaptedWeights::all},
       {"low_rank", AdaptedWeights::low_rank},
       {"biases", AdaptedWeights::biases},
       {"best", AdaptedWeights::best}});
  own.add("rank", c.rank, "of low-rank updates", at_least(1).at_most(1024));
  own.add("learning-rate", c.learning_rate,
          "of the first updates, from which it falls to 0; 0: 1e-3 for all weights, 1e-2 for fewer",
          at_least(0));
  own.add("max-minutes", c.max_minutes, "minutes to train at most, each time; 0: no limit", at_least(0));
  own.add("max-steps", c.max_steps, "updates to train at most; 0: no limit", at_least(0));
  own.add("seed", c.seed, "seed for dropout and the order of the text", at_least(0));
}

void declare(Options& options, AdaptConfig& c, OutputFormat& format) {
  auto own = options.section("", "Options");
  declare_model(own, c.model, "folder of the model to adapt, which stays as it is");
  declare_new_model(own, c.out);
  declare_segments(own, c);
  declare_general(own, c);
  declare_tuning(own, c);
  declare_machine(own, c.device, c.threads);
  declare_format(own, format, "a table, or a JSON object with the outcome and the same figures");
}

void check_adapt(const AdaptConfig& c) {
  if (c.model.empty() || c.out.empty())
    throw UsageError("adapt needs --model DIR and --out DIR: see dragoman adapt --help");
  if (c.memories.empty() && c.segments.files.empty() && c.segments.source.empty())
    throw UsageError(
        "adapt needs segments to learn from: --memory DIR, files (TMX, XLIFF, PO, TSV or .jsonl), or "
        "--source "
        "FILE --target FILE");
  if (c.segments.source.empty() != c.segments.target.empty())
    throw UsageError("--source FILE and --target FILE belong together");
  if (c.general_source.empty() && !c.general_target.empty())
    throw UsageError("--general-target has no effect without --general-source FILE");
}

// What a program that started this one wants to know, as one line.
void print_outcome(const char* outcome, const nlohmann::ordered_json& more) {
  nlohmann::ordered_json line = {{"outcome", outcome}};
  line.update(more);
  std::cout << json_text(line) << std::endl;
}

const char* outcome_of(const AdaptChoice& choice) {
  if (choice.was_made_before) return "up to date";
  return choice.is_better() ? "adapted" : "no better";
}

AdaptChoice adapt_or_tell(const AdaptConfig& config, OutputFormat format) {
  try {
    return adapt_model(config);
  } catch (const TooFewSegments& error) {
    if (format == OutputFormat::json) print_outcome("too few", {{"message", error.what()}});
    throw;
  }
}

std::string adapt_table(const AdaptChoice& choice) {
  const auto row = [](const char* what, double before, double after) {
    return fmt::format("{:<32}{:>8.1f}{:>8.1f}{:>+8.1f}\n", what, before, after, after - before);
  };
  return fmt::format("{:<32}{:>8}{:>8}\n", "BLEU on what chose the weights", "before", "after") +
         row("your segments", choice.before.segments, choice.after.segments) +
         row("general text", choice.before.general, choice.after.general);
}

}  // namespace

void adapt(const Arguments& arguments) {
  AdaptConfig c;
  OutputFormat format = OutputFormat::text;
  Options options;
  declare(options, c, format);
  CommandLine line("adapt", summary_of("adapt"));
  line.add_arguments(
      "FILE", c.segments.files,
      "your segments with their translations: TMX, XLIFF, PO, TSV (source, tab, target), or the server's "
      "suggestions (.jsonl)",
      false);
  line.add_options(options);
  if (!line.read(arguments)) return;
  check_adapt(c);
  watch_signals();
  const AdaptChoice choice = adapt_or_tell(c, format);
  if (format == OutputFormat::json)
    print_outcome(outcome_of(choice), to_json(choice));
  else
    std::cout << adapt_table(choice);
  if (!choice.is_better())
    throw Error("the adapted model is no better within --max-loss {}: there is no new model in {}",
                choice.max_loss, c.out);
  if (choice.share < 1)
    log_info("{:.0f} % of the change is kept: all of it would cost general text too much",
             100 * choice.share);
  log_info("the model is in {0}; to translate with it: dragoman translate -m {0} \"...\"", c.out);
}

}  // namespace dragoman::internal
