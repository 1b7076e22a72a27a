// Teaching: a teacher translates what the student is to learn from (sequence-level knowledge distillation: Kim and
// Rush, 2016).
//
// Of a source with a reference, the teacher's candidates nearest to the reference are taken, by sentence-level chrF; of
// one without, the best. Where the best of all was cut, loops or is unlikely, the source gets empty lines, which
// training leaves out. The work is done and saved in parts, so that a stop loses at most the part under way. Several
// processes share the parts.
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
  // The files of translations, line by line: the first has the best translation of each source, the next one another.
  // What is under way is beside the first until it is whole.
  std::vector<std::string> out;
  const char* doing = "the teacher translates";
};

struct TaughtLines {
  int64_t lines = 0, left_out = 0;
  double seconds = 0;  // spent on those that were not found done
};

nlohmann::ordered_json to_json(const TaughtLines& lines);

// `candidates`: among which those of a source are chosen, at least as many as there are files. A part has
// `lines_of_part` sources. Collective: it returns once all processes have done their parts.
TaughtLines teach(dragoman::Translator& teacher, dragoman::Options search, int64_t candidates,
                  const TaughtText& text, int64_t lines_of_part = 2000,
                  Processes& processes = single_process());

int64_t count_lines(const std::string& path);

// The first `count` of a source's candidates, without the empty ones: the nearest to the reference first, or, without
// one, the best. Where there are too few, they begin again.
std::vector<std::string> taught_candidates(const std::vector<dragoman::Hypothesis>& candidates,
                                           const std::string* reference, size_t count);

}  // namespace dragoman::internal
