// Prints only what a person should look at: translations whose confidence is low, or that a check has found fault with.
#pragma once

#include <cstdint>
#include <string>

#include "app/shared_options.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

class ReviewPrinter {
 public:
  // `below`: of a translation's confidence.
  ReviewPrinter(double below, OutputFormat format, std::string from, std::string to)
      : below_(below), format_(format), from_(std::move(from)), to_(std::move(to)) {}

  // The next line's. Text: its number, confidence, what is odd, source and translation, between tabs.
  void print(const dragoman::Translation& line);
  void finish() const;

 private:
  const double below_;
  const OutputFormat format_;
  const std::string from_, to_;
  int64_t number_ = 0, printed_ = 0;
};

}  // namespace dragoman::internal
