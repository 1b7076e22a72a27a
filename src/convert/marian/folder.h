// Where the files of a Marian model are: beside each other, under names that differ from publisher to publisher.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "convert/imported_model.h"
#include "convert/settings.h"

namespace dragoman::internal {

// The tokens of a side by id, and the .spm file that splits its texts. They may be one file.
struct MarianVocabulary {
  std::string tokens, pieces;

  bool operator==(const MarianVocabulary&) const = default;
};

struct MarianFolder {
  std::string model;                             // .npz or .bin, perhaps compressed
  std::optional<Settings> decoding;              // how it is searched: a decoder.yml
  std::array<MarianVocabulary, 2> vocabularies;  // the source's and the target's
  std::string shortlist;                         // empty: none
  std::string text_shortlist;                    // one that is not read
};

// Whether it is Marian's file of a model, or a folder with one.
bool has_marian_model(const std::string& source);

// An Error names what is missing or ambiguous.
MarianFolder find_marian_files(const ImportRequest& request);

// .spm, and not a list of tokens.
bool is_spm(const std::string& path);

}  // namespace dragoman::internal
