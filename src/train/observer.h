// TrainingObserver: how a caller follows a run, and stops it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal {

// What an update did.
struct UpdateReport {
  int64_t epoch = 0, step = 0;  // counted from 1
  double loss = 0;              // that is trained on, per target token
  double unsmoothed_loss = 0;   // −log p of the right token, as in validation
  double learning_rate = 0;
  std::optional<double> alignment_loss;  // of guided alignment, per target token that has a link
  double gradient_norm = 0;              // before clipping
  double tokens_per_second = 0;          // source and target
  double target_tokens_per_second = 0;   // target only
  double seconds = 0;                    // of training, over all resumes
  std::optional<double> waiting;         // fraction of the update's time spent waiting for other processes
  std::optional<double> done;            // fraction of the run, if that is known
};

struct ValidationSample {
  std::string source, reference, translation;
  // A language model's: the beginning of a text, all of it, and what the model makes of the beginning.
  bool is_continued = false;
};

struct ValidationReport {
  int64_t epoch = 0, step = 0;
  double seconds = 0;                     // of training, over all resumes
  std::optional<double> training_loss;    // since the last validation, unsmoothed; nothing without an update
  std::optional<double> alignment_loss;   // of guided alignment in these updates
  double tokens_per_second = 0;           // of these updates
  std::optional<double> loss;             // nothing without a validation set
  std::optional<double> bleu, chrf,       // nothing unless measured
      exact_match;                        // 0 to 100, as those
  bool is_best = false;                   // of all validations so far
  std::vector<ValidationSample> samples;  // as many as validation.samples says
};

// The callbacks run in the thread that trains, of several processes only in the first one. An exception from one ends
// the run as an error does.
struct TrainingObserver {
  std::function<void(const UpdateReport&)> on_update;
  std::function<void(const ValidationReport&)> on_validation;

  // Asked after each update, during validation, and, by several threads, while the corpus is prepared; in each process.
  // After the first true the run saves a checkpoint, if it has begun to train, and throws Stopped with signal 0: the
  // same run resumes from there.
  std::function<bool()> stop_requested;
};

// The values of metrics.jsonl's events.
nlohmann::ordered_json event_values(const UpdateReport& report);
nlohmann::ordered_json event_values(const ValidationReport& report);

// The validation as one line of the log, of at most this many columns: short names where the long ones do not fit, and
// then without the last values. No limit where there is none.
std::string log_line_of(const ValidationReport& report, std::optional<int64_t> columns = {});

// As many of these, from the first on, as fit on a line of this many columns, two spaces apart.
std::string line_of(const std::vector<std::string>& fields, std::optional<int64_t> columns);

}  // namespace dragoman::internal
