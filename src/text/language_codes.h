// Codes of languages, as models, documents, people and clients write them.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

// The shortest BCP 47 code: "fr" for "fra_Latn" and "FR", "pt-BR" for "pt_br", "zh-Hant" for "zho_Hant". Empty where
// ICU does not know the language.
std::string language_code(std::string_view name);

// Whether two codes begin alike: "pt-BR" and "PT".
bool same_primary_subtag(std::string_view a, std::string_view b);

// Whether two codes are of one language, whatever their scripts and regions are: "pt-BR" is Portuguese, and so are "PT"
// and "por_Latn".
bool same_language(std::string_view a, std::string_view b);

}  // namespace dragoman::internal
