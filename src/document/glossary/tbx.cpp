#include "document/glossary/tbx.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <libxml/xmlreader.h>
#include <unicode/uloc.h>

#include "base/ascii.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_text = 10'000;  // bytes of an element's text

struct TbxTerm {
  std::string text, status;
};

// The terms of a concept by language, as the file names it.
using Concept = std::map<std::string, std::vector<TbxTerm>>;

bool is_name_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_obsolete(const TbxTerm& term) {
  const auto says = [&](const char* word) { return term.status.find(word) != std::string::npos; };
  return says("deprecated") || says("superseded") || says("obsolete") || says("forbidden");
}

std::string lower(const std::string& text) { return escaped(in_lower_case(text), {{'_', "-"}}); }

std::string first_part(const std::string& language) { return language.substr(0, language.find('-')); }

// "en" and "eng" are the same.
std::string three_letters(const std::string& language) {
  const std::string code = uloc_getISO3Language(language.c_str());
  return code.empty() ? language : code;
}

// The file as a stream of nodes.
class XmlFile {
 public:
  explicit XmlFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw Error("{}: {}", path, std::strerror(errno));
    reader_.reset(xmlReaderForFd(file_, nullptr, nullptr, XML_PARSE_NONET));
    if (!reader_) {
      close(file_);
      throw Error("out of memory while reading {}", path);
    }
    xmlTextReaderSetStructuredErrorHandler(reader_.get(), &XmlFile::keep_error, this);
  }
  ~XmlFile() { close(file_); }
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  // Whether there was another node.
  bool next() {
    const int read = xmlTextReaderRead(reader_.get());
    if (read < 0) throw error(message_.empty() ? "invalid XML" : "invalid XML: " + message_);
    if (read > 0 && type() == XML_READER_TYPE_ENTITY_REFERENCE)
      throw error("refers to an entity: write the character itself");
    return read > 0;
  }
  int type() const { return xmlTextReaderNodeType(reader_.get()); }
  bool is_empty_element() const { return xmlTextReaderIsEmptyElement(reader_.get()) == 1; }
  std::string_view name() const { return view(xmlTextReaderConstLocalName(reader_.get())); }
  std::string_view value() const { return view(xmlTextReaderConstValue(reader_.get())); }
  std::string attribute(const char* name) const {
    const std::unique_ptr<xmlChar, decltype(xmlFree)> found(
        xmlTextReaderGetAttribute(reader_.get(), reinterpret_cast<const xmlChar*>(name)), xmlFree);
    return std::string(view(found.get()));
  }
  int64_t line() const { return std::max(xmlTextReaderGetParserLineNumber(reader_.get()), 1); }
  const std::string& path() const { return path_; }
  Error error(const std::string& what) const { return Error("{}:{}: {}", path_, line(), what); }

 private:
  struct Free {
    void operator()(xmlTextReader* reader) const { xmlFreeTextReader(reader); }
  };

  static std::string_view view(const xmlChar* text) {
    return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
  }
  static void keep_error(void* self, xmlErrorPtr error) {
    std::string& message = static_cast<XmlFile*>(self)->message_;
    if (!message.empty() || error == nullptr || error->message == nullptr) return;
    message = error->message;
    while (!message.empty() && message.back() == '\n') message.pop_back();
  }

  std::string path_, message_;
  int file_;
  std::unique_ptr<xmlTextReader, Free> reader_;
};

class TbxReader {
 public:
  TbxReader(const std::string& path, const GlossaryLanguages& languages) : file_(path), wanted_(languages) {}

  std::vector<GlossaryEntry> read() {
    bool is_tbx = false;
    while (file_.next()) {
      const int type = file_.type();
      if (type == XML_READER_TYPE_ELEMENT) {
        is_tbx |= is_name_of(file_.name(), {"martif", "tbx", "TBX"});
        if (!is_tbx) throw file_.error("is neither TBX nor tab-separated text");
        begin_element();
        if (file_.is_empty_element()) end_element();
      } else if (type == XML_READER_TYPE_END_ELEMENT) {
        end_element();
      } else if (type == XML_READER_TYPE_TEXT || type == XML_READER_TYPE_CDATA ||
                 type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE) {
        add_text();
      }
    }
    return std::move(entries_);
  }

 private:
  void begin_element() {
    const std::string_view name = file_.name();
    if (is_name_of(name, {"termEntry", "conceptEntry"})) {
      concept_.clear();
    } else if (is_name_of(name, {"langSet", "langSec"})) {
      language_ = file_.attribute("xml:lang");
      if (language_.empty()) language_ = file_.attribute("lang");
      language_ = lower(language_);
    } else if (is_name_of(name, {"tig", "ntig", "termSec"})) {
      term_ = {};
    } else if (name == "term") {
      text_ = &term_.text;
      text_->clear();
    } else if (name == "administrativeStatus" ||
               (name == "termNote" && file_.attribute("type") == "administrativeStatus")) {
      text_ = &term_.status;
      in_status_ = std::string(name);
    }
  }

  void end_element() {
    const std::string_view name = file_.name();
    if (name == "term" || name == in_status_) text_ = nullptr;
    if (is_name_of(name, {"tig", "ntig", "termSec"})) end_term();
    if (is_name_of(name, {"termEntry", "conceptEntry"})) end_concept();
  }

  void add_text() {
    if (text_ == nullptr) return;
    *text_ += file_.value();
    if (text_->size() > max_text) throw file_.error("has a term that is too long");
  }

  void end_term() {
    term_.text = checked_term(term_.text, file_.path(), file_.line());
    if (!term_.text.empty() && !language_.empty() && !is_obsolete(term_)) {
      remember_language();
      concept_[language_].push_back(std::move(term_));
    }
    term_ = {};
  }

  // The languages if none are named: the two of the file.
  void remember_language() {
    const std::string language = first_part(language_);
    for (std::string* own : {&wanted_.from, &wanted_.to}) {
      if (is_language(language_, *own)) return;
      if (!own->empty()) continue;
      *own = language;
      guessed_ = true;
      return;
    }
    if (guessed_) {
      throw file_.error(
          fmt::format("has a third language, {}, beside {} and {}: name two with --from and --to", language,
                      wanted_.from, wanted_.to));
    }
  }

  // The preferred ones first.
  std::vector<std::string> terms_in(const std::string& wanted) const {
    std::vector<std::string> preferred, others;
    for (const auto& [language, terms] : concept_) {
      if (!is_language(language, wanted)) continue;
      for (const TbxTerm& term : terms) {
        auto& list = term.status.starts_with("preferred") ? preferred : others;
        list.push_back(term.text);
      }
    }
    preferred.insert(preferred.end(), others.begin(), others.end());
    return preferred;
  }

  void end_concept() {
    GlossaryEntry entry = {.sources = terms_in(wanted_.from), .targets = terms_in(wanted_.to)};
    if (!entry.sources.empty() && !entry.targets.empty()) entries_.push_back(std::move(entry));
    concept_.clear();
  }

  XmlFile file_;
  GlossaryLanguages wanted_;
  bool guessed_ = false;
  std::vector<GlossaryEntry> entries_;

  Concept concept_;
  std::string language_, in_status_;
  TbxTerm term_;
  std::string* text_ = nullptr;  // of the element that is being read, if it counts
};

}  // namespace

bool is_language(const std::string& of_file, const std::string& wanted) {
  const std::string own = lower(of_file), other = lower(wanted);
  if (own == other) return true;
  const bool variety = other.find('-') != other.npos && first_part(other).size() == 2;  // "en-gb"
  return !variety && !other.empty() && three_letters(first_part(own)) == three_letters(first_part(other));
}

std::vector<GlossaryEntry> read_tbx(const std::string& path, const GlossaryLanguages& languages) {
  std::vector<GlossaryEntry> entries = TbxReader(path, languages).read();
  if (entries.empty()) {
    throw Error("{} has no concept with terms in both languages{}", path,
                languages.from.empty()
                    ? ""
                    : fmt::format(", {} and {}: name those of the file with --from and --to", languages.from,
                                  languages.to));
  }
  return entries;
}

}  // namespace dragoman::internal
