#include "serve/requests/multipart.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/lines.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

constexpr size_t max_boundary = 70;  // RFC 2046
constexpr size_t max_head = 4096;    // bytes of a part's headers
constexpr size_t max_name = 255;

[[noreturn]] void refuse(const std::string& what) {
  throw ServeError(400, "the body is not valid multipart/form-data: " + what);
}

// "form-data" and {name: "q"} of `form-data; name="q"`.
struct HeaderValue {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters = {};

  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(parameters, name, [](const auto& p) { return p.first; });
    return found == parameters.end() ? nullptr : &found->second;
  }
};

// From the quote on. Of backslashes only those before a quote or another one escape: file names of Windows have others.
std::string quoted(std::string_view& rest) {
  std::string value;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return value;
    }
    if (rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\')) ++i;
    value += rest[i];
  }
  refuse("a quoted parameter of a header does not end");
}

HeaderValue header_value(std::string_view text) {
  const size_t end = std::min(text.find(';'), text.size());
  HeaderValue value = {in_lower_case(stripped(text.substr(0, end)))};
  for (std::string_view rest = text.substr(end); !rest.empty();) {
    rest = stripped(rest.substr(1));
    if (rest.empty()) break;
    const size_t equals = rest.find_first_of("=;");
    if (equals == rest.npos || rest[equals] == ';') refuse("a header's parameter has no value");
    std::string name = in_lower_case(stripped(rest.substr(0, equals)));
    rest = stripped(rest.substr(equals + 1));
    std::string content;
    if (rest.starts_with('"')) {
      content = quoted(rest);
      rest = stripped(rest);
    } else {
      const size_t size = std::min(rest.find(';'), rest.size());
      content = stripped(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    if (!rest.empty() && rest.front() != ';') refuse("there is text after a header's parameter");
    if (value.find(name) != nullptr) refuse("a header has the parameter " + name + " twice");
    value.parameters.emplace_back(std::move(name), std::move(content));
  }
  return value;
}

std::string boundary_of(std::string_view content_type) {
  const HeaderValue value = header_value(content_type);
  if (value.type != "multipart/form-data")
    throw ServeError(415, "the body must be of type multipart/form-data");
  const std::string* boundary = value.find("boundary");
  constexpr std::string_view others = "'()+_,-./:=? ";
  const auto fits = [&](char c) { return is_alphanumeric(c) || others.find(c) != others.npos; };
  if (boundary == nullptr || boundary->empty() || boundary->size() > max_boundary ||
      boundary->back() == ' ' || !std::ranges::all_of(*boundary, fits))
    refuse("its Content-Type has no boundary of 1 to 70 characters");
  return *boundary;
}

// Browsers percent-encode the quotes and line ends of names, and only these.
std::string browser_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view escape = text.substr(i, 3);
    const bool known = escape == "%22" || in_lower_case(escape) == "%0d" || in_lower_case(escape) == "%0a";
    result += known ? percent_decoded(escape) : std::string(1, text[i]);
    if (known) i += 2;
  }
  return result;
}

std::string checked_name(std::string name) {
  if (!is_text(name) || std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    refuse("a name in it has control characters or is not valid UTF-8");
  if (name.size() > max_name) refuse(fmt::format("a name in it has more than {} bytes", max_name));
  return name;
}

std::optional<std::string> file_name_of(const HeaderValue& disposition) {
  std::string name;
  if (const std::string* extended = disposition.find("filename*")) {  // RFC 8187: UTF-8'en'na%20me
    const size_t language = extended->find('\''), text = extended->find('\'', language + 1);
    if (language == extended->npos || text == extended->npos ||
        in_lower_case(extended->substr(0, language)) != "utf-8")
      refuse("a file's name is not in UTF-8");
    name = percent_decoded(std::string_view(*extended).substr(text + 1));
  } else if (const std::string* plain = disposition.find("filename")) {
    name = browser_decoded(*plain);
  } else {
    return std::nullopt;
  }
  return checked_name(name.substr(name.find_last_of("/\\") + 1));
}

FormPart part_of(std::string_view head) {
  std::optional<HeaderValue> disposition;
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos || line.find_first_of(std::string_view("\r\n\0", 3)) != line.npos)
      refuse("a part has a line that is not a header");
    const std::string name = in_lower_case(line.substr(0, colon));
    const std::string_view value = stripped(line.substr(colon + 1));
    if (name == "content-disposition") {
      if (disposition) refuse("a part has two Content-Dispositions");
      disposition = header_value(value);
    } else if (name == "content-transfer-encoding" && in_lower_case(value) != "binary" &&
               in_lower_case(value) != "8bit" && in_lower_case(value) != "7bit") {
      refuse("a part has a Content-Transfer-Encoding, which form data may not have");
    }
  }
  const std::string* name =
      disposition && disposition->type == "form-data" ? disposition->find("name") : nullptr;
  if (name == nullptr) refuse("a part has no Content-Disposition with a name");
  std::optional<std::string> file = file_name_of(*disposition);
  return {.name = checked_name(browser_decoded(*name)),
          .file_name = file.value_or(""),
          .is_file = file.has_value()};
}

std::string decoded(std::string_view text, char plus) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i] == '+' ? plus : text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<FormPart> parse_multipart(std::string_view content_type, std::string_view body) {
  const std::string delimiter = "\r\n--" + boundary_of(content_type);
  if (body.starts_with("\r\n")) body.remove_prefix(2);
  if (!body.starts_with(std::string_view(delimiter).substr(2))) refuse("it does not begin with its boundary");
  body.remove_prefix(delimiter.size() - 2);

  std::vector<FormPart> parts;
  while (!body.starts_with("--")) {  // after a boundary
    if (parts.size() == max_form_parts) refuse(fmt::format("it has more than {} parts", max_form_parts));
    if (!body.starts_with("\r\n")) refuse("there is text after a boundary");
    const size_t head_end = body.substr(0, max_head).find("\r\n\r\n");
    if (head_end == body.npos) refuse("a part's headers do not end, or are longer than 4,096 bytes");
    FormPart part = part_of(body.substr(2, std::max<size_t>(head_end, 2) - 2));
    body.remove_prefix(head_end + 2);  // an empty part's boundary begins with the headers' line end
    const size_t end = body.find(delimiter);
    if (end == body.npos) refuse("its closing boundary is missing");
    part.content = body.substr(2, std::max<size_t>(end, 2) - 2);
    parts.push_back(std::move(part));
    body.remove_prefix(end + delimiter.size());
  }
  if (body != "--" && body != "--\r\n") refuse("there is text after its closing boundary");
  return parts;
}

std::string percent_decoded(std::string_view text) { return decoded(text, '+'); }
std::string form_decoded(std::string_view text) { return decoded(text, ' '); }

}  // namespace dragoman::internal
