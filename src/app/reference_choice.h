// translate --choose-by: of each line's hypotheses, the one that is nearest to its reference.
#pragma once

#include <cstdint>
#include <string>

#include "app/parallel_lines.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

class ReferenceChoice {
 public:
  explicit ReferenceChoice(const std::string& references) : references_(references) {}

  // The translation with one hypothesis, the chosen one. To be called with the lines in their order; throws an Error
  // where there is no reference for one.
  dragoman::Translation choose(const dragoman::Translation& line);

  // After the last line: throws an Error if references are left over.
  void finish() { check_is_at_end(references_); }

 private:
  LineReader references_;
};

}  // namespace dragoman::internal
