#include "memory/tmx_writer.h"

#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/build.h"
#include "document/document.h"

namespace dragoman::internal {
namespace {

// XML has no place for control characters, U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string escaped = escape_markup(text);
  for (char& c : escaped)
    if (static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r') c = ' ';
  for (const std::string_view refused : {"\uFFFE", "\uFFFF"})
    for (size_t at = 0; (at = escaped.find(refused, at)) != escaped.npos;)
      escaped.replace(at, refused.size(), "\uFFFD");
  return escaped;
}

std::string tmx_date(int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(time));
}

std::string tmx_variant(const std::string& language, std::string_view text) {
  return fmt::format("      <tuv xml:lang=\"{}\"><seg>{}</seg></tuv>\n", xml_text(language), xml_text(text));
}

}  // namespace

TmxWriter::TmxWriter(const std::string& from, const std::string& to,
                     std::function<void(std::string_view)> write)
    : from_(from), to_(to), write_(std::move(write)) {
  write_(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<tmx version=\"1.4\">\n"
                  "  <header creationtool=\"dragoman\" creationtoolversion=\"{}\" segtype=\"sentence\" "
                  "o-tmf=\"dragoman\" "
                  "adminlang=\"en\" srclang=\"{}\" datatype=\"plaintext\"/>\n"
                  "  <body>\n",
                  version(), xml_text(from)));
}

void TmxWriter::add(const MemorySegmentView& segment) {
  std::string unit = "    <tu";
  if (segment.changed > 0) unit += fmt::format(" changedate=\"{}\"", tmx_date(segment.changed));
  unit += ">\n";
  if (!segment.origin.empty())
    unit += fmt::format("      <prop type=\"origin\">{}</prop>\n", xml_text(segment.origin));
  write_(unit + tmx_variant(from_, segment.source) + tmx_variant(to_, segment.target) + "    </tu>\n");
}

void TmxWriter::finish() { write_("  </body>\n</tmx>\n"); }

}  // namespace dragoman::internal
