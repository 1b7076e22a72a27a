#include "api/request_terms.h"

#include <algorithm>

#include "base/error.h"
#include "base/lines.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

void check(const dragoman::Term& term, size_t number, size_t text) {
  if (term.source.begin >= term.source.end || term.source.end > text) {
    throw UsageError(
        "term {} spans {} to {}, but the text has {} characters: a term must cover at least one of them",
        number, term.source.begin, term.source.end, text);
  }
  if (term.targets.empty() || std::ranges::any_of(term.targets, is_white_space))
    throw UsageError("term {} has no target, or a blank one: give at least one character", number);
}

}  // namespace

std::vector<GivenTerm> given_terms(const Request& request) {
  if (request.terms.empty()) return {};
  const size_t length = code_points(is_text(request.text) ? request.text : repaired(request.text)).size();
  std::vector<GivenTerm> terms;
  for (const dragoman::Term& term : request.terms) {
    check(term, terms.size() + 1, length);
    terms.push_back({{term.source.begin, term.source.end}, term.targets});
  }
  return terms;
}

}  // namespace dragoman::internal
