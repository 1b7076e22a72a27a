#include "app/translate_document.h"

#include <filesystem>
#include <iostream>

#include "app/output.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "dragoman/document.h"

namespace dragoman::internal {
namespace {

void warn_of(const TranslatedDocument& done, const std::string& file) {
  if (done.cut + done.repeats > 0) {
    log_warning("{}: of {} texts, {} were cut, {} looped and were translated again", file, done.segments,
                done.cut, done.repeats);
  }
  if (done.unknown > 0) {
    log_warning("{}: {} of {} texts have characters that are not in the vocabulary", file, done.unknown,
                done.segments);
  }
  if (done.terms_missed > 0) {
    log_warning("{}: {} of {} texts are missing a glossary term", file, done.terms_missed, done.segments);
  }
  if (done.repaired > 0) {
    log_warning("{}: placeholders were restored in {} of {} texts", file, done.repaired, done.segments);
  }
}

}  // namespace

void declare(Section& own, DocumentOptions& options) {
  own.add("document", options.document,
          "translate a whole file; markup, formatting, timestamps and placeholders are preserved");
  own.add("out", options.out, "with --document: the translated file; - is standard output");
  own.add("document-format", options.format,
          "with --document: its format, such as text or html (docs/documents.md); by default from the file "
          "extension");
  own.add(
      "columns", options.columns,
      "with --document: the columns of a table that are translated, by name or number, such as title,text or "
      "2,3; by default those that have text");
}

void translate_document(const DocumentOptions& o, const TranslatingOptions& translating,
                        const dragoman::Options& request) {
  if (o.out.empty()) throw UsageError("--document needs --out FILE for the translated file");
  std::error_code none;
  if (!is_standard_output(o.out) && std::filesystem::equivalent(o.document, o.out, none))
    throw UsageError("--out {} is the document itself: name another file", o.out);
  check_readable(o.document);
  check_output(o.out);
  watch_signals();

  const std::string bytes = read_file(o.document);
  Translator translator(translating.models, settings_of(translating));
  const std::optional<Glossary> glossary = glossary_of(translating);
  StatusLine status;
  const auto show = [&](size_t texts_done, size_t texts) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before the document was translated");
    status.show(o.document, texts == 0 ? 1 : double(texts_done) / double(texts));
  };
  const TranslatedDocument done =
      dragoman::translate_document(translator, {.bytes = bytes,
                                                .name = o.document,
                                                .format = o.format,
                                                .options = request,
                                                .glossary = glossary ? &*glossary : nullptr,
                                                .on_progress = show,
                                                .columns = o.columns});
  status.clear();
  if (is_standard_output(o.out))
    std::cout << done.bytes;
  else
    write_file(o.out, {done.bytes});
  warn_of(done, o.document);
}

}  // namespace dragoman::internal
