// The readers of all formats, one file each; formats.cpp has the table of them.
#pragma once

#include <string_view>

#include "document/document.h"

namespace dragoman::internal {

// HTML, whole pages and fragments: text in blocks, with inline elements as marks, and the attributes that people read.
Document read_html(std::string_view bytes, const DocumentSettings& settings);

// Markdown: CommonMark, with the tables and other marks of common dialects.
Document read_markdown(std::string_view bytes, const DocumentSettings& settings);

// reStructuredText, of docutils and Sphinx.
Document read_rst(std::string_view bytes, const DocumentSettings& settings);

// OpenDocument: the text documents, spreadsheets and presentations of LibreOffice and others, as packages or as one XML
// file.
Document read_odf(std::string_view bytes, const DocumentSettings& settings);

// Office Open XML: the documents, presentations and spreadsheets of Microsoft Office and of many others.
Document read_ooxml(std::string_view bytes, const DocumentSettings& settings);

// EPUB 2 and 3: books as packages of XHTML files.
Document read_epub(std::string_view bytes, const DocumentSettings& settings);

// Message catalogues: gettext's PO and POT files. Messages without a translation get one, and so do those whose
// translation is fuzzy; the others stay.
Document read_po(std::string_view bytes, const DocumentSettings& settings);

// PDF, of which only the text comes out, as plain text: a line for each paragraph, without headers, footers and page
// numbers.
Document read_pdf(std::string_view bytes, const DocumentSettings& settings);

// Subtitles: SubRip (.srt) and WebVTT (.vtt). A sentence that runs over lines or cues is one segment.
Document read_srt(std::string_view bytes, const DocumentSettings& settings);
Document read_vtt(std::string_view bytes, const DocumentSettings& settings);

// Plain text: each line is a paragraph, and lines without words stay as they are.
Document read_plain_text(std::string_view bytes, const DocumentSettings& settings);

// XML of an unknown format. An element that has text of its own, with or without other elements, is a
// paragraph, and the elements in it are tags around its words. Attributes stay.
// Of a file, or of a fragment: text and elements without a root element.
Document read_plain_xml(std::string_view bytes, const DocumentSettings& settings);

// JSON string tables. Every string is translated, except keys and what is known not to be text:
//
//   ARB (Flutter)                        keys that begin with @, and all that is inside them
//   messages.json (Chrome's extensions)  all but "message"
//   formatjs                             all but "defaultMessage"
//   Angular's ng extract-i18n            all outside "translations"
Document read_json_strings(std::string_view bytes, const DocumentSettings& settings);

// YAML: the values that are text. In a file of one language, as Rails has them, the key that names it changes as well.
Document read_yaml(std::string_view bytes, const DocumentSettings& settings);

// Tables: CSV with any usual separator, and TSV. The cells of the columns that are chosen, or that have text.
Document read_csv(std::string_view bytes, const DocumentSettings& settings);
Document read_tsv(std::string_view bytes, const DocumentSettings& settings);

// Android's resources: strings.xml. And XML of any kind, which may be one.
Document read_android_strings(std::string_view bytes, const DocumentSettings& settings);
Document read_any_xml(std::string_view bytes, const DocumentSettings& settings);

// String tables of Java (.properties), and of macOS and iOS: .strings, .stringsdict with plural rules, and String
// Catalogs (.xcstrings), in which texts without a translation get one.
Document read_properties(std::string_view bytes, const DocumentSettings& settings);
Document read_apple_strings(std::string_view bytes, const DocumentSettings& settings);
Document read_stringsdict(std::string_view bytes, const DocumentSettings& settings);
Document read_string_catalog(std::string_view bytes, const DocumentSettings& settings);

// Files of texts with their translations: XLIFF 1.2 and 2, and TMX 1.4. A unit that has a translation keeps it;
// otherwise the new translation is inserted.
Document read_xliff(std::string_view bytes, const DocumentSettings& settings);
Document read_tmx(std::string_view bytes, const DocumentSettings& settings);

}  // namespace dragoman::internal
