#include <algorithm>

#include "base/error.h"
#include "base/lines.h"
#include "fuzz/readers.h"
#include "serve/deepl/glossary_entries.h"
#include "serve/deepl/tags.h"
#include "serve/requests/body.h"
#include "serve/requests/multipart.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

template <class Function>
std::string refused(Function&& read) {
  try {
    read();
  } catch (const ServeError& error) {
    CHECK(error.status() == 400 || error.status() == 415);
    return error.what();
  }
  return {};
}

}  // namespace

// The first line is the Content-Type.
std::string read_multipart(std::string_view bytes) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view type = bytes.substr(0, end), body = bytes.substr(std::min(end + 1, bytes.size()));
  return refused([&] {
    for (const FormPart& part : parse_multipart(type, body)) {
      CHECK(is_text(part.name) && is_text(part.file_name));
      CHECK(part.file_name.find_first_of("/\\\r\n") == std::string::npos);
      CHECK(part.content.empty() || (part.content.data() >= body.data() &&
                                     part.content.data() + part.content.size() <= body.data() + body.size()));
    }
    multipart_fields(type, body).dump();
  });
}

std::vector<std::string> multipart_seeds() {
  return {
      "multipart/form-data; boundary=b\n--b\r\nContent-Disposition: form-data; "
      "name=\"q\"\r\n\r\na\r\n--b--\r\n",
      "multipart/form-data; boundary=\"a b\"\n--a b\r\nContent-Disposition: form-data; name=\"file\"; "
      "filename=\"a\\\"%22.txt\"; filename*=UTF-8'en'n%C3%A4.txt\r\nContent-Type: text/plain\r\n\r\n\r\n--a "
      "\r\n--a b--"};
}

std::string read_urlencoded(std::string_view bytes) {
  return refused([&] { parse_urlencoded(bytes).dump(); });
}

std::vector<std::string> urlencoded_seeds() { return {"q=a+b&q=%C3%A9%&source=en&&x", "text=%"}; }

std::string read_client_glossary(std::string_view bytes) {
  const IgnoredTags tags({"x,y"});
  const IgnoredTags::MarkedText marked = tags.marked(bytes);
  CHECK(IgnoredTags::unmarked(marked.text, marked.mark) == bytes);
  for (const auto read : {entries_of_tsv, entries_of_csv}) {
    refused([&] {
      for (const auto& entry : read(bytes)) CHECK(!entry.source.empty() && !entry.target.empty());
    });
  }
  return {};
}

std::vector<std::string> client_glossary_seeds() {
  return {"a b\tc\r\nd\te", "a,\"b \"\"c\"\"\",en,fr\r\n\"d\",e\n", "a <x id=\"1\">b</x> <y/><z>"};
}

}  // namespace dragoman::internal
