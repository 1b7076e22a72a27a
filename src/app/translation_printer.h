// Prints translations as they are done: lines of text, or JSON objects; and at the end what was odd about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/shared_options.h"
#include "app/translating.h"
#include "dragoman/translator.h"

namespace dragoman::internal {

struct PrinterOptions {
  OutputFormat format = OutputFormat::text;
  bool alternatives = false;
  bool pieces = false;
  bool alignment = false, attention = false;
  bool memory = false;
  bool confidence = false;
  TranslationLanguages languages = {};  // for the checks that come with confidence
};

class TranslationPrinter {
 public:
  explicit TranslationPrinter(const PrinterOptions& options) : options_(options) {}

  void print(const dragoman::Translation& line);
  void finish() const;

 private:
  void warn(int64_t count, std::string_view what) const;
  std::string alignment_of(const dragoman::Hypothesis& hypothesis) const;

  const PrinterOptions options_;
  int64_t number_ = 0, invalid_ = 0, cut_ = 0, repeats_ = 0, too_short_ = 0, unlikely_ = 0, unknown_ = 0,
          terms_missed_ = 0;
};

}  // namespace dragoman::internal
