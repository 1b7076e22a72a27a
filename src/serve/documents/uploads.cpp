#include "serve/documents/uploads.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "dragoman/document.h"
#include "serve/documents/download_store.h"
#include "serve/requests/multipart.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

// Empty where no format has the name's ending.
std::string format_of(const std::string& given) {
  const std::string name = in_lower_case(given);
  for (const dragoman::DocumentFormat& format : dragoman::document_formats())
    for (const std::string& ending : format.endings)
      if (name.ends_with(ending) && name.size() > ending.size()) return format.name;
  return {};
}

dragoman::DocumentFormat format_named(const std::string& name) {
  for (dragoman::DocumentFormat& format : dragoman::document_formats())
    if (format.name == name) return std::move(format);
  return {};
}

}  // namespace

UploadedFile uploaded_file(const IncomingRequest& request, const std::string& given) {
  const std::vector<FormPart> parts = parse_multipart(request.header("content-type"), request.body);
  const auto file =
      std::ranges::find_if(parts, [](const FormPart& p) { return p.is_file && p.name == "file"; });
  if (file == parts.end()) throw ServeError(400, "Invalid request: missing file parameter");
  const std::string name = given.empty() ? file->file_name : given.substr(given.find_last_of("/\\") + 1);
  if (name.empty()) throw ServeError(400, "Invalid request: empty file");
  const std::string format = format_of(name);
  if (format.empty()) throw ServeError(400, "Invalid request: file format not supported");
  return {.name = name, .bytes = std::string(file->content), .format = format};
}

std::string translated_name(const UploadedFile& file, const std::string& language) {
  const size_t dot = std::min(file.name.rfind('.'), file.name.size());
  const std::string written_as = format_named(file.format).written_as;
  const std::string ending =
      written_as.empty() ? file.name.substr(dot) : format_named(written_as).endings.front();
  return plain_file_name(file.name.substr(0, dot) + "_" + language + ending);
}

HttpResponse file_answer(std::string bytes, const std::string& name) {
  return {.type = "application/octet-stream",
          .body = std::move(bytes),
          .headers = {{"content-disposition", "attachment; filename=\"" + plain_file_name(name) + "\""},
                      {"x-content-type-options", "nosniff"}}};
}

}  // namespace dragoman::internal
