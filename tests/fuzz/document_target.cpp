#include <algorithm>
#include <filesystem>
#include <map>

#include "document/formats.h"
#include "document/projection.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"

namespace dragoman::internal {
namespace {

// Where the segments are copied into another place: msgstr, <target>. There the file is the same from then on.
bool fills_in(std::string_view format) {
  return format == "po" || format == "xliff" || format == "tmx" || format == "xcstrings";
}

constexpr const char* apple_rules =
    "<plist><dict><key>a</key><dict><key>b</key><string>%#@c@ of %@</string><key>c</key><dict><key>"
    "NSStringFormatSpecTypeKey</key><string>d</string><key>other</key><string>e &amp; "
    "f</string></dict></dict></dict></plist>";
constexpr const char* string_catalog = R"({
  "sourceLanguage" : "en",
  "strings" : {
    "One %lld" : {

    },
    "b" : {
      "localizations" : {
        "en" : {"variations" : {"plural" : {"other" : {"stringUnit" : {"state" : "new", "value" : "two %arg"}}}}},
        "fr" : {"stringUnit" : {"state" : "new", "value" : ""}}
      }
    }
  },
  "version" : "1.0"
})";

std::string utf16(std::string_view ascii) {
  std::string bytes = "\xFF\xFE";
  for (const char c : ascii) bytes += {c, '\0'};
  return bytes;
}

std::string rendered(const Document& document, bool reversed) {
  std::vector<std::string> segments;
  for (const DocumentSegment& segment : document.segments) {
    CHECK(!segment.text.empty() && trimmed(segment.text) == (TextSpan{0, segment.text.size()}), "{}",
          segment.text);
    segments.push_back(render(segment, reversed ? "x " + segment.text + " y" : segment.text, {}));
  }
  return document.write(segments);
}

}  // namespace

std::string read_document(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  const auto formats = document_formats();
  const DocumentFormat& format = formats[static_cast<unsigned char>(bytes[0]) % formats.size()];
  if (format.name == "pdf") return "another library reads it, whose place pdf_target.cpp takes";
  const DocumentSettings settings = {.name = "document", .to = fills_in(format.name) ? "fr" : ""};
  return refusal([&] {
    const std::string file(bytes.substr(1));
    const Document document = format.read(file, settings);
    const std::string same = rendered(document, false);
    if (fills_in(format.name)) {
      CHECK(rendered(format.read(same, settings), false) == same);
    } else {
      CHECK(same == file, "{} of {} bytes", format.name, file.size());
    }
    rendered(document, true);
  });
}

Seeds document_seeds() {
  const std::map<std::string_view, std::vector<std::string>> files = {
      {"text", {"One line.\n\n  Another one.\r\n42"}},
      {"html",
       {"<!DOCTYPE html><title>A</title><p>One <b>two</b> &amp; <img "
        "alt='x'>three<br>four<ul><li>five</ul>"}},
      {"markdown", {"# A\n\nOne *two* [three](http://a.org) `four`.\n\n- five\n- six\n"}},
      {"srt",
       {"1\n00:00:01,000 --> 00:00:02,000\n<i>I did</i> not\n\n2\n00:00:02,000 --> 00:00:03,000\n- JOHN: "
        "know.\n[music]\n",
        utf16("0:1-->0:2\nhi")}},
      {"vtt",
       {"WEBVTT\n\nNOTE no\n\na\n00:01.000 --> 00:02.000 align:start\n<v Mary>Salt &amp; <c.x>pepper</c>\n"}},
      {"po",
       {"msgid \"\"\nmsgstr \"Language: \\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n\n#, fuzzy, "
        "c-format\n#| msgid \"a\"\n"
        "msgctxt \"c\"\nmsgid \"%d <b>_file</b>\\n\"\nmsgid_plural \"\"\n\"%d files\\n\"\nmsgstr[0] "
        "\"\"\nmsgstr[1] \"x\"\n\n#~ msgid \"a\"\n"}},
      {"json",
       {"{\"a\": [\"Hello {n, plural, one {# '{'file'}'} other {# files}}\", 1, null], \"@b\": {\"c\": "
        "\"\\u00e9\"}}"}},
      {"rst",
       {"A *b*\n=====\n\n* c ``d`` `e <f>`_ g_\n  h::\n\n    i\n\n.. note:: j |k| [1]_\n\n:l: "
        "m\n\n====\nN\n====\n\n| "
        "o\n\n+-+\n|p|\n+-+\n"}},
      {"csv", {"id;text\n1;\"One \"\"car\"\"; two\"\n2; <b>Three</b> cars \n\n"}},
      {"tsv", {"id\ttext\n1\tOne \"car\"\n2\t\"Two\ncars\"\n"}},
      {"yaml",
       {"en: &a\n  b: One car # c\n  d: 'It''s'\n  e: \"A \\\"b\\\" \\u00e9\\\n   c\"\n  f: |-\n   g h\n    "
        "i\n  j: >\n   k\n   "
        "l\n\n   m\n  n: [*a, {o: p q}]\n"}},
      {"properties", {"# a\nb\\ c=One {0} \\\n  isn''t \\u00e9\\n\\t\n!d\ne : f\\:\n", "a=caf\xE9\n"}},
      {"strings", {"/* a */\n\"b\" = \"One %@ \\\"c\\\" of %d\\n\";\n// d\ne;\n", utf16("\"a\" = \"hi\";")}},
      {"stringsdict", {apple_rules}},
      {"xcstrings", {string_catalog, "{\"sourceLanguage\":\"en\",\"strings\":{\"One %lld\":{}}}"}},
      {"android",
       {"<resources><string name='a'>It\\'s <xliff:g id='b'>%1$s</xliff:g>\\n<b>c</b> &amp; "
        "d</string><plurals name='e'><item quantity='one'>f</item></plurals></resources>"}},
      {"xml",
       {"<a><b>One <x>two</x> &amp; <y translate=\"no\">t <z/></y>, three</b> <c "
        "translatable='false'>4</c></a>",
        "<?xml version='1.0'?><a>One<!-- c --><![CDATA[<two>]]></a>"}},
  };
  Seeds seeds;
  for (size_t i = 0; i < document_formats().size(); ++i) {
    const auto found = files.find(document_formats()[i].name);
    if (found == files.end()) continue;
    for (const std::string& file : found->second) seeds.push_back(static_cast<char>(i) + file);
  }
  for (const auto& entry : std::filesystem::directory_iterator(source_folder / "tests/document/gallery")) {
    const DocumentFormat& format = document_format("", entry.path().filename().string());
    seeds.push_back(static_cast<char>(&format - document_formats().data()) + contents(entry.path()));
  }
  std::ranges::sort(seeds);  // a folder has no order
  return seeds;
}

}  // namespace dragoman::internal
