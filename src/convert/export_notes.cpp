#include "convert/export_notes.h"

#include "text/spm_fields.h"

namespace dragoman::internal {

void note_tokenizer(const Vocabularies& vocabularies, std::vector<std::string>& notes) {
  for (const auto& side : {vocabularies.source, vocabularies.target}) {
    if (tokenizer_of(side->model(), "the vocabulary") == WordTokenizer::none) continue;
    notes.emplace_back(
        "vocabulary.tokenizer is \"simple\", which other systems lack: split words from punctuation before "
        "the .spm files, and join them in outputs");
    return;
  }
}

}  // namespace dragoman::internal
