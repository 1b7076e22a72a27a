// Prints only what a person should look at: translations whose confidence is low, or that a check has found fault with.
#pragma once

#include <cstdint>

#include "app/shared_options.h"
#include "app/translating.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

class ReviewPrinter {
 public:
  // `below`: of a translation's confidence.
  ReviewPrinter(double below, OutputFormat format, const TranslationLanguages& languages)
      : below_(below), format_(format), languages_(languages) {}

  // The next line's. Text: its number, confidence, what is odd, source and translation, between tabs.
  void print(const dragoman::Translation& line);
  void finish() const;

 private:
  const double below_;
  const OutputFormat format_;
  const TranslationLanguages languages_;
  int64_t number_ = 0, printed_ = 0;
};

}  // namespace dragoman::internal
