#include "adapt/choice.h"

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "data/sample.h"
#include "kernels/kernels.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "search/saved_model.h"
#include "student/comparison.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr int bisections = 5;
// Where the old model's own translations are all that there is to compare with, another way to say the same counts as a
// loss, too: so many times as much is allowed.
constexpr double factor_for_own_translations = 50;

// A shortlist was learned from other text: it lacks the user's words. A model of many languages has learned from two of
// them, which become its defaults.
void set_defaults(const std::string& folder, const SegmentFiles& segments) {
  fs::remove(folder + "/shortlist.safetensors");
  nlohmann::json config = read_config(folder);
  const SearchOptions search = read_search_options(folder, config);
  if (config.contains("search")) config["search"].erase("shortlist");
  if (search.from.empty() && !segments.from.empty()) config["search"]["from"] = segments.from;
  if (search.to.empty() && !segments.to.empty()) config["search"]["to"] = segments.to;
  write_file(folder + "/config.json", {json_text(config, 1)});
}

// Old and new weights, and their mixtures, each in turn as a model that translates.
class Mixture {
 public:
  Mixture(const AdaptConfig& config, const std::string& tuned, const std::string& out)
      : device_(kernels_for("baseline"), 1),
        model_(read_model_config(config.model), device_, Buffers::weights),
        old_(weights_of(config.model)),
        new_(weights_of(tuned)),
        out_(out) {
    copy_all_but_weights(config.model, out);
    set_defaults(out, config.segments);
    for (const auto& path_in : {sample_path, unseen_path})
      if (const std::string file = path_in(config.model); fs::exists(file))
        write_file(path_in(out), {read_file(file)});
  }

  // `share` of the way from the old weights to the new ones.
  const std::string& write(double share) {
    std::vector<float> mixed(old_.size());
    const auto step = static_cast<float>(share);
    for (size_t i = 0; i < mixed.size(); ++i)
      mixed[i] = share < 1 ? old_[i] + step * (new_[i] - old_[i]) : new_[i];
    write_weights(weights_path(out_), model_.parameters, mixed);
    return out_;
  }

 private:
  std::vector<float> weights_of(const std::string& folder) {
    read_weights(weights_path(folder), model_.parameters);
    const std::span<const float> weights = model_.parameters.weights();
    return {weights.begin(), weights.end()};
  }

  Device device_;
  Transformer model_;
  std::vector<float> old_, new_;
  std::string out_;
};

class Measure {
 public:
  Measure(const AdaptConfig& config, const AdaptTests& tests) : config_(config), tests_(tests) {}

  double segments(const std::string& model) const { return bleu(model, tests_.segments); }
  double general(const std::string& model) const { return bleu(model, tests_.general); }
  AdaptScores both(const std::string& model) const { return {segments(model), general(model)}; }

 private:
  double bleu(const std::string& model, const std::vector<TextPair>& test) const {
    return bleu_of(model, {.test = test,
                           .from = config_.segments.from,
                           .to = config_.segments.to,
                           .device = config_.device,
                           .threads = static_cast<int>(config_.threads)});
  }

  const AdaptConfig& config_;
  const AdaptTests& tests_;
};

// The largest share at which general text loses no more than it may; 0 if all tried ones lose more.
double largest_share(Mixture& mixture, const Measure& measure, double least_general) {
  double passes = 0, fails = 1;
  for (int i = 0; i < bisections; ++i) {
    const double share = (passes + fails) / 2, general = measure.general(mixture.write(share));
    log_info("{:.0f} % of the change: BLEU {:.2f} on general text", 100 * share, general);
    (general >= least_general ? passes : fails) = share;
  }
  return passes;
}

nlohmann::ordered_json to_json(const AdaptScores& scores) {
  return {{"segments", scores.segments}, {"general", scores.general}};
}

AdaptScores scores_from_json(const nlohmann::ordered_json& json) {
  return {json.at("segments"), json.at("general")};
}

}  // namespace

nlohmann::ordered_json to_json(const AdaptChoice& choice) {
  return {{"before", to_json(choice.before)},
          {"after", to_json(choice.after)},
          {"share", choice.share},
          {"max_loss", choice.max_loss}};
}

AdaptChoice choice_from_json(const nlohmann::ordered_json& report) {
  return {scores_from_json(report.at("before")), scores_from_json(report.at("after")), report.at("share"),
          report.at("max_loss")};
}

void choose_weights(const AdaptConfig& config, const std::string& tuned, const AdaptTests& tests,
                    Stage& stage) {
  const Measure measure(config, tests);
  Mixture mixture(config, tuned, stage.path("model"));
  AdaptChoice choice = {.before = measure.both(mixture.write(0)),
                        .share = 1,
                        .max_loss = config.max_loss * (tests.references ? 1 : factor_for_own_translations)};
  choice.after = measure.both(mixture.write(1));
  log_info(
      "BLEU {:.2f} on the segments that choose the weights, before {:.2f}; {:.2f} on general text, before "
      "{:.2f}",
      choice.after.segments, choice.before.segments, choice.after.general, choice.before.general);
  if (const double least = choice.before.general - choice.max_loss; choice.after.general < least) {
    choice.share = largest_share(mixture, measure, least);
    if (choice.share > 0) choice.after = measure.both(mixture.write(choice.share));
  }
  stage.finish(to_json(choice));
}

}  // namespace dragoman::internal
