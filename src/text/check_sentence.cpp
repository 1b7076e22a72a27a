#include "text/check_sentence.h"

#include "base/shared_files.h"
#include "base/toml.h"
#include "text/sentence_rules.h"

namespace dragoman::internal {

std::string check_sentence(std::string_view language) {
  while (language.starts_with('_')) language.remove_prefix(1);  // M2M100's "__en__"
  const toml::table all = parse_toml(std::string(shared_file("check.toml")), "share/check.toml");
  const auto own = all[two_letters(language)].value<std::string>();
  return own ? *own : all["en"].value<std::string>().value();
}

}  // namespace dragoman::internal
