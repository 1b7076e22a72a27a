#include "app/translate_document.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "app/output.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/status_line.h"
#include "document/formats.h"
#include "dragoman/document.h"
#include "search/saved_model.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

void warn_of(const TranslatedDocument& done, const std::string& file) {
  const auto warn = [&](size_t texts, const char* what) {
    if (texts > 0) log_warning("{}: {} of {} texts {}", file, texts, done.segments, what);
  };
  if (done.segments == 0)
    log_warning("{}: no text to translate was found in it; the file stays as it is", file);
  warn(done.cut, "were cut");
  warn(done.repeats, "looped and were translated again");
  warn(done.unknown, "have characters that are not in the vocabulary");
  warn(done.terms_missed, "are missing a glossary term");
  if (done.repaired > 0)
    log_warning("{}: placeholders were restored in {} of {} texts", file, done.repaired, done.segments);
}

// letter.docx becomes letter.fr.docx, and so does letter.en.docx; letter.pdf becomes letter.fr.txt.
fs::path translated_name(const fs::path& document, const DocumentOptions& o,
                         const TranslationLanguages& languages) {
  const std::string_view written_as = document_format(o.format, document.string()).written_as;
  const std::string extension = written_as.empty()
                                    ? document.extension().string()
                                    : std::string(document_format(written_as, "").endings.front());
  const std::string own = "." + languages.from;
  fs::path name = document.stem();
  if (!languages.from.empty() && name.extension() == own) name = name.stem();
  return name.string() + "." + (languages.to.empty() ? "translated" : languages.to) + extension;
}

// Beside the document, or in the folder that --out names, or what it names itself.
std::string output_of(const std::string& document, const DocumentOptions& o,
                      const TranslationLanguages& languages) {
  if (is_standard_output(o.out)) return o.out;
  const bool is_folder = o.out.ends_with('/') || fs::is_directory(o.out);
  const fs::path name = translated_name(document, o, languages);
  return o.out.empty() ? (fs::path(document).parent_path() / name).string()
         : is_folder   ? (fs::path(o.out) / name).string()
                       : o.out;
}

fs::path canonical(const std::string& path) {
  std::error_code none;
  return fs::canonical(path, none);
}

// Each is written before the next one is read.
void check_is_no_document(const std::string& out, const std::set<fs::path>& documents) {
  std::error_code none;
  if (is_standard_output(out) || !fs::exists(out, none) || !documents.contains(canonical(out))) return;
  throw UsageError(
      "{} is itself a document to translate, and would be overwritten: leave it out, or name another "
      "file or a folder by --out",
      out);
}

}  // namespace

void declare(Section& own, DocumentOptions& options) {
  own.add("document", options.document,
          "translate whole files; markup, formatting, timestamps and placeholders are preserved")
      .shows("FILE");
  own.add("out", options.out,
          "with --document: the translated file, or a folder; - is standard output; by default beside the "
          "document, "
          "as NAME.fr.docx")
      .shows("FILE");
  own.add("document-format", options.format,
          "with --document: its format, such as text or html (docs/documents.md); by default from the file "
          "extension");
  own.add(
      "columns", options.columns,
      "with --document: the columns of a table that are translated, by name or number, such as title,text or "
      "2,3; by default those that have text");
  own.add(
      "mark-unconfirmed", options.mark_unconfirmed,
      "with --document: translations in PO and XLIFF that the memory does not have are marked for review");
}

void check_are_lines(const std::vector<std::string>& files) {
  std::error_code none;
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file, none)) continue;
    char head[4] = {};
    std::ifstream(file, std::ios::binary).read(head, sizeof head);
    const std::string_view bytes(head, sizeof head);
    if (bytes == "PK\3\4" || bytes == "%PDF")
      throw UsageError("{} is a document, not lines of text: translate it with --document {}", file, file);
    const auto is_of = [&](const DocumentFormat& format) {
      return format.name != "text" &&
             std::ranges::count(format.endings, fs::path(file).extension().string()) > 0;
    };
    if (std::ranges::any_of(document_formats(), is_of))
      log_warning("{} is read as lines of text: --document {} keeps its structure", file, file);
  }
}

void translate_documents(const std::vector<std::string>& documents, const DocumentOptions& o,
                         const TranslatingOptions& translating, const dragoman::Options& request) {
  const TranslationLanguages languages = languages_of(translating);
  std::vector<std::string> outputs;
  std::set<fs::path> inputs;
  for (const std::string& document : documents) inputs.insert(canonical(document));
  for (const std::string& document : documents) {
    check_readable(document);
    outputs.push_back(output_of(document, o, languages));
    if (std::ranges::count(outputs, outputs.back()) > 1)
      throw UsageError("--out {} must be a folder for the translations of several documents", outputs.back());
    check_is_no_document(outputs.back(), inputs);
    check_output(outputs.back());
  }
  watch_signals();
  Translator translator(translating.models, settings_of(translating));
  const std::optional<Glossary> glossary = glossary_of(translating);
  const std::optional<Memory> memory = memory_of(translating);
  for (size_t i = 0; i < documents.size(); ++i) {
    StatusLine status;
    const auto show = [&](size_t texts_done, size_t texts) {
      if (stop_requested() != 0)
        throw Stopped(stop_requested(), "stopped before the document was translated");
      status.show(documents[i], texts == 0 ? 1 : double(texts_done) / double(texts));
    };
    const TranslatedDocument done =
        dragoman::translate_document(translator, {.bytes = read_file(documents[i]),
                                                  .name = documents[i],
                                                  .format = o.format,
                                                  .options = request,
                                                  .glossary = glossary ? &*glossary : nullptr,
                                                  .memory = memory ? &*memory : nullptr,
                                                  .on_progress = show,
                                                  .columns = o.columns,
                                                  .mark_unconfirmed = o.mark_unconfirmed});
    status.clear();
    if (is_standard_output(outputs[i])) {
      std::cout << done.bytes;
    } else if (o.out.empty() || documents.size() > 1) {
      write_output(outputs[i], done.bytes);
    } else {
      write_file(outputs[i], {done.bytes});
    }
    warn_of(done, documents[i]);
  }
}

}  // namespace dragoman::internal
