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
  if (!is_text(reference))
    throw Error("{}:{}: not valid UTF-8; iconv converts from other encodings", references_.path(),
                references_.number());
  std::vector<std::string> texts;
  for (const dragoman::Hypothesis& hypothesis : line.hypotheses) texts.push_back(hypothesis.text);
  dragoman::Translation chosen = line;
  std::swap(chosen.hypotheses[0], chosen.hypotheses[nearest_to_reference(texts, reference)]);
  chosen.hypotheses.resize(1);
  return chosen;
}

void ReferenceChoice::finish() {
  if (std::string_view rest; references_.next(rest))
    throw Error("{} has more lines than the {} that were translated: it must have one per line",
                references_.path(), references_.number() - 1);
}

}  // namespace dragoman::internal
