// How adapting a model has ended.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "serve/adapting/background.h"

namespace dragoman::internal {

struct AdaptOutcome {
  // "adapted", "up to date", "no better", "too few" (segments), as the command has them; "refused": the model or the
  // segments cannot be used; "stopped"; "failed".
  std::string name;
  std::string message;                  // a sentence, for the log
  nlohmann::ordered_json figures = {};  // BLEU "before" and "after", where it came so far

  // It would be the same again, until something is changed or added.
  bool is_settled() const { return name != "failed" && name != "stopped"; }
};

// `last_line`: of what it wrote to its standard error. `stopped`: it was asked to end.
AdaptOutcome outcome_of(const std::string& base, const ProgramEnd& end, const std::string& last_line,
                        bool stopped);

}  // namespace dragoman::internal
