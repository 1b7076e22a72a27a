// Teaching: a teacher translates what the student is to learn from (sequence-level knowledge distillation: Kim and
// Rush, 2016).
//
// Of a source with a reference, the teacher's candidate nearest to the reference is taken, by sentence-level chrF; of
// one without, the best. Outputs that were cut or that loop become empty lines, which training leaves out. The work is
// done and saved in parts, so that a stop loses at most the part under way. Several processes share the parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dragoman/options.h"
#include "dragoman/translator.h"
#include "parallel/processes.h"

namespace dragoman::internal {

struct TaughtText {
  std::string source, reference;  // files; no reference: empty
  std::string out;  // the file of translations, line by line; its parts are beside it until it is whole
  const char* doing = "the teacher translates";
};

struct TaughtLines {
  int64_t lines = 0, left_out = 0;
  double seconds = 0;  // spent on those that were not found done
};

nlohmann::ordered_json to_json(const TaughtLines& lines);

// `candidates`: of each source with a reference. A part has `lines_of_part` lines. Collective: it returns once all
// processes have done their parts.
TaughtLines teach(dragoman::Translator& teacher, const dragoman::Options& search, int64_t candidates,
                  const TaughtText& text, int64_t lines_of_part = 2000,
                  Processes& processes = single_process());

int64_t count_lines(const std::string& path);

// The hypothesis nearest to the reference by sentence-level chrF; of equals the first.
const dragoman::Hypothesis& nearest_to(const std::string& reference,
                                       const std::vector<dragoman::Hypothesis>& hypotheses);

}  // namespace dragoman::internal
