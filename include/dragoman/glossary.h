// Glossary: terms and how they are to be translated, read once and found in any number of texts.
//
//   dragoman::Glossary glossary("terms.tsv");
//   translator.submit({.text = text, .terms = glossary.terms(text)});
//
// Files are tab-separated or TBX (docs/glossaries.md). All member functions may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/translator.h"

namespace dragoman {

class DRAGOMAN_API Glossary {
 public:
  // Which languages of a TBX file: "en", or "en-GB" for only that variety. May be empty if the file has two
  // languages, the source's first. Tab-separated files have no languages.
  struct Languages {
    std::string from, to;
  };

  // Throws an Error that names the file and the line where the file is not a glossary.
  explicit Glossary(const std::string& path, const Languages& languages);
  explicit Glossary(const std::string& path) : Glossary(path, Languages{}) {}

  // A source and its target, both as they are: no forms, no flags.
  struct Entry {
    std::string source, target;
  };
  // Throws an Error that names the first entry, counted from 1, with an empty term or one of more than 500 characters.
  explicit Glossary(const std::vector<Entry>& entries);
  ~Glossary();
  Glossary(Glossary&&) noexcept;
  Glossary& operator=(Glossary&&) noexcept;

  size_t size() const;  // entries

  // The entries found in the text, in order; where several begin at one place, the longest. Spans are of the
  // text's code points, as a request takes them.
  std::vector<Term> terms(std::string_view text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dragoman
