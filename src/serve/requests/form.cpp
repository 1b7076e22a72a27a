#include "serve/requests/form.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/lines.h"
#include "serve/requests/multipart.h"
#include "serve/requests/percent.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

void add(nlohmann::json& fields, const std::string& name, std::string value) {
  if (!is_text(name) || !is_text(value))
    throw ServeError(400, "a field is not valid UTF-8: encode it as UTF-8");
  if (const auto [place, is_new] = fields.emplace(name, value); !is_new) {
    if (!place->is_array()) *place = nlohmann::json::array({std::move(*place)});
    place->push_back(std::move(value));
  }
}

}  // namespace

nlohmann::json parse_urlencoded(std::string_view body) {
  nlohmann::json fields = nlohmann::json::object();
  size_t count = 0;
  while (!body.empty()) {
    const size_t end = std::min(body.find('&'), body.size());
    const std::string_view field = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (field.empty()) continue;
    if (++count > max_form_fields)
      throw ServeError(400, fmt::format("the form has more than {} fields", max_form_fields));
    const size_t equals = std::min(field.find('='), field.size());
    add(fields, form_decoded(field.substr(0, equals)),
        form_decoded(field.substr(std::min(equals + 1, field.size()))));
  }
  return fields;
}

nlohmann::json multipart_fields(std::string_view content_type, std::string_view body) {
  nlohmann::json fields = nlohmann::json::object();
  for (const FormPart& part : parse_multipart(content_type, body)) {
    if (!part.is_file) add(fields, part.name, std::string(part.content));
  }
  return fields;
}

}  // namespace dragoman::internal
