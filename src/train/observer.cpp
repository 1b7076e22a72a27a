#include "train/observer.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/columns.h"

namespace dragoman::internal {
namespace {

struct LossNames {
  const char *training, *alignment, *validation;
  int digits;
};

std::vector<std::string> fields_of(const ValidationReport& report, const LossNames& names) {
  std::vector<std::string> fields = {fmt::format("epoch {:>3}", report.epoch),
                                     fmt::format("step {:>6}", report.step)};
  const auto add = [&](const char* name, const std::optional<double>& value, int digits) {
    if (value) fields.push_back(fmt::format("{} {:.{}f}", name, *value, digits));
  };
  add(names.training, report.training_loss, names.digits);
  add(names.alignment, report.alignment_loss, names.digits);
  add(names.validation, report.loss, names.digits);
  add("BLEU", report.bleu, 1);
  add("chrF", report.chrf, 1);
  add("exact match", report.exact_match, 1);
  if (report.training_loss) fields.push_back(fmt::format("{:.0f} tokens/s", report.tokens_per_second));
  return fields;
}

}  // namespace

nlohmann::ordered_json event_values(const UpdateReport& report) {
  nlohmann::ordered_json values = {{"epoch", report.epoch},
                                   {"loss", report.loss},
                                   {"perplexity", std::exp(report.unsmoothed_loss)},
                                   {"learning_rate", report.learning_rate},
                                   {"gradient_norm", report.gradient_norm},
                                   {"tokens_per_second", report.tokens_per_second},
                                   {"target_tokens_per_second", report.target_tokens_per_second},
                                   {"seconds", report.seconds}};
  if (report.alignment_loss) values["alignment_loss"] = *report.alignment_loss;
  if (report.waiting) values["waiting"] = *report.waiting;
  if (report.done) values["done"] = *report.done;
  return values;
}

nlohmann::ordered_json event_values(const ValidationReport& report) {
  nlohmann::ordered_json values = {{"epoch", report.epoch},
                                   {"loss", report.loss.value()},
                                   {"perplexity", std::exp(report.loss.value())},
                                   {"seconds", report.seconds}};
  if (report.bleu) values["bleu"] = *report.bleu;
  if (report.chrf) values["chrf"] = *report.chrf;
  if (report.exact_match) values["exact_match"] = *report.exact_match;
  return values;
}

std::string line_of(const std::vector<std::string>& fields, std::optional<int64_t> columns) {
  std::string line;
  for (const std::string& field : fields) {
    const std::string longer = line.empty() ? field : line + "  " + field;
    if (columns && columns_of(longer) > *columns) break;
    line = longer;
  }
  return line;
}

std::string log_line_of(const ValidationReport& report, std::optional<int64_t> columns) {
  const std::string whole =
      line_of(fields_of(report, {"training loss", "alignment loss", "validation loss", 4}), {});
  if (!columns || columns_of(whole) <= *columns) return whole;
  return line_of(fields_of(report, {"train", "align", "valid", 3}), columns);
}

}  // namespace dragoman::internal
