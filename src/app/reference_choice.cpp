#include "app/reference_choice.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quotes.h"
#include "metrics/choosing.h"

namespace dragoman::internal {

dragoman::Translation ReferenceChoice::choose(const dragoman::Translation& line) {
  std::string_view reference;
  if (!references_.next(reference))
    throw Error("{} has only {}: every line to translate needs its reference", references_.path(),
                counted(references_.number(), "line"));
  check_is_text(reference, references_);
  std::vector<std::string> texts;
  for (const dragoman::Hypothesis& hypothesis : line.hypotheses) texts.push_back(hypothesis.text);
  dragoman::Translation chosen = line;
  std::swap(chosen.hypotheses[0], chosen.hypotheses[nearest_to_reference(texts, reference)]);
  chosen.hypotheses.resize(1);
  return chosen;
}

}  // namespace dragoman::internal
