#include "report/page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

void replace_once(std::string& page, std::string_view name, std::string_view with) {
  const std::string what = fmt::format("/* {} */", name);
  const size_t at = page.find(what);
  CHECK(at != page.npos, "the page lacks {}", what);
  page.replace(at, what.size(), with);
}

}  // namespace

std::string page_with_data(std::string_view name, std::initializer_list<std::string_view> files,
                           const nlohmann::ordered_json& data) {
  // "</script>" in the data would end the script.
  const std::string text = escaped(json_text(data), {{'<', "\\u003c"}});
  std::string page(embedded_file(name));
  for (const std::string_view file : files) replace_once(page, file, embedded_file(file));
  replace_once(page, "data", text);
  return page;
}

}  // namespace dragoman::internal
