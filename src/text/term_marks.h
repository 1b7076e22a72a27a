// Annotated terms in a source: how a model sees the given translation of a part of its text.
//
//   <term> ▁dog <is> ▁chien </term>
//
// The marks are control tokens, which no text is split into and no output has. A model that was trained on sources with
// terms copies or inflects what stands behind <is>.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "text/vocabulary.h"

namespace dragoman::internal {

struct TermMarks {
  int32_t begin, is, end;
};

// Nothing where a vocabulary was not learned for terms.
std::optional<TermMarks> term_marks(const Vocabulary& vocabulary);

// A vocabulary with these marks.
Vocabulary learn_vocabulary_for_terms(const VocabularyConfig& config, const std::function<Sentences()>& open,
                                      const std::string& what);

struct TermInText {
  TextSpan source;  // in bytes
  std::string target;
};

// The pieces with the terms among them, whose spans are those of the text that they translate. The vocabulary must have
// the marks. Terms are in their order; those that overlap the one before or have no piece are left out.
PiecesOfText with_terms(const PiecesOfText& pieces, std::span<const TermInText> terms,
                        const Vocabulary& vocabulary);

}  // namespace dragoman::internal
