#include "http/target.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/lines.h"
#include "http/framing.h"

namespace dragoman::internal {
namespace {

[[noreturn]] void bad_target(const char* sentence) { throw FramingError(400, sentence); }

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) bad_target("the target has a percent sign without two hexadecimal digits");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool is_dots(std::string_view segment) { return segment == "." || segment == ".."; }

// Where in a path the text begins that a translation memory is asked for: "/tmserver/en/fr/unit/TEXT". All of it is one
// text, whatever it contains, so that no proxy's reading of it leads elsewhere. The path's end where it has none.
size_t begin_of_text(std::string_view path) {
  constexpr std::string_view unit = "/unit/";
  for (const std::string_view prefix : {"/tmserver/", "/api/v1/"}) {
    const size_t at = path.starts_with(prefix) ? path.find(unit, prefix.size()) : path.npos;
    if (at != path.npos) return at + unit.size();
  }
  return path.size();
}

std::string read_text(std::string_view encoded) {
  std::string text = percent_decoded(encoded, false);
  if (!is_text(text)) bad_target("the path is not UTF-8");
  return text;
}

std::string read_path(std::string_view text) {
  // Encoded, a slash is a part of a name to some and a separator to others.
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1))
    if (same_ignoring_case(text.substr(at, 3), "%2f")) bad_target("the path has an encoded slash");
  std::string path = read_text(text);
  if (std::ranges::any_of(path, is_control)) bad_target("the path has a control character");
  if (path.find('\\') != path.npos) bad_target("the path has a backslash");
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    if (is_dots(std::string_view(path).substr(at + 1, end - at - 1)))
      bad_target("the path has a segment of dots");
    at = end;
  }
  return path;
}

std::vector<std::pair<std::string, std::string>> read_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (part.empty()) continue;
    const size_t sign = std::min(part.find('='), part.size());
    query.emplace_back(percent_decoded(part.substr(0, sign), true),
                       percent_decoded(part.substr(std::min(part.size(), sign + 1)), true));
    if (!is_text(query.back().first) || !is_text(query.back().second)) bad_target("the query is not UTF-8");
  }
  return query;
}

// Takes "http://host" off the front.
std::string take_host(std::string_view& target) {
  const size_t scheme = target.find("://");
  if (scheme == target.npos || (!same_ignoring_case(target.substr(0, scheme), "http") &&
                                !same_ignoring_case(target.substr(0, scheme), "https")))
    bad_target("the target is neither a path nor an http URL");
  target.remove_prefix(scheme + 3);
  const std::string_view host = target.substr(0, std::min(target.find_first_of("/?"), target.size()));
  if (host.empty() || !is_authority(host))
    bad_target("the target's host is not a host with or without a port");
  target.remove_prefix(host.size());
  return std::string(host);
}

}  // namespace

Target read_target(std::string_view method, std::string_view target) {
  if (target.find('#') != target.npos) bad_target("the target has a fragment");
  if (method == "CONNECT") bad_target("this server is not a proxy");
  if (target == "*" && method == "OPTIONS") return {.path = "*"};
  Target read;
  if (!target.starts_with('/')) read.host = take_host(target);
  const size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark), start = path.substr(0, begin_of_text(path));
  read.path = path.empty() ? "/" : read_path(start) + read_text(path.substr(start.size()));
  read.query = read_query(target.substr(std::min(target.size(), mark + 1)));
  return read;
}

}  // namespace dragoman::internal
