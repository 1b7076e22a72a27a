#include "train/observer.h"

#include <cmath>

#include <fmt/format.h>

namespace dragoman::internal {

nlohmann::ordered_json event_values(const UpdateReport& report) {
  nlohmann::ordered_json values = {{"epoch", report.epoch},
                                   {"loss", report.loss},
                                   {"perplexity", std::exp(report.unsmoothed_loss)},
                                   {"learning_rate", report.learning_rate},
                                   {"gradient_norm", report.gradient_norm},
                                   {"tokens_per_second", report.tokens_per_second},
                                   {"target_tokens_per_second", report.target_tokens_per_second},
                                   {"seconds", report.seconds}};
  if (report.waiting) values["waiting"] = *report.waiting;
  return values;
}

nlohmann::ordered_json event_values(const ValidationReport& report) {
  nlohmann::ordered_json values = {{"epoch", report.epoch},
                                   {"loss", report.loss.value()},
                                   {"perplexity", std::exp(report.loss.value())},
                                   {"seconds", report.seconds}};
  if (report.bleu) values["bleu"] = *report.bleu;
  if (report.chrf) values["chrf"] = *report.chrf;
  return values;
}

std::string log_line_of(const ValidationReport& report) {
  std::string line = fmt::format("epoch {:>3}  step {:>6}", report.epoch, report.step);
  if (report.training_loss) line += fmt::format("  training loss {:.4f}", *report.training_loss);
  if (report.loss) line += fmt::format("  validation loss {:.4f}", *report.loss);
  if (report.bleu) line += fmt::format("  BLEU {:.1f}", *report.bleu);
  if (report.chrf) line += fmt::format("  chrF {:.1f}", *report.chrf);
  if (report.training_loss) line += fmt::format("  {:.0f} tokens/s", report.tokens_per_second);
  return line;
}

}  // namespace dragoman::internal
