// The attributes of HTML's tags that matter to a translation.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "document/html/tokens.h"
#include "document/segments/builder.h"

namespace dragoman::internal {

class HtmlAttributes {
 public:
  explicit HtmlAttributes(const HtmlToken& tag);

  // By translate="…" or class="notranslate": whether the contents are to be translated.
  std::optional<bool> translate() const;
  bool shows_code() const;  // by its class

  // The values that people read: alternative texts, tool tips, descriptions for search engines.
  std::vector<MarkupAttribute> texts() const;
  // Where <meta>, or the declaration <?xml, names another encoding than UTF-8.
  std::vector<TextSpan> encodings() const;
  // The values of the element <html> that name a language.
  std::vector<MarkupAttribute> languages() const;

 private:
  std::string_view value(std::string_view name) const;  // as it is in the file
  bool is(const MarkupAttribute& attribute, std::string_view name) const;
  bool is_text(const MarkupAttribute& attribute) const;
  bool has_template() const;  // which may have quotes inside quotes

  const HtmlToken& tag_;
  std::vector<MarkupAttribute> attributes_;
};

}  // namespace dragoman::internal
