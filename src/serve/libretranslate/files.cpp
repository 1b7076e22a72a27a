#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dragoman/document.h"
#include "serve/answers.h"
#include "serve/documents/download_store.h"
#include "serve/documents/uploads.h"
#include "serve/libretranslate/languages.h"
#include "serve/libretranslate/routes.h"
#include "serve/libretranslate/schemas.h"
#include "serve/requests/fields.h"
#include "serve/requests/server_address.h"
#include "serve/settings.h"
#include "serve/translations/translate_all.h"

namespace dragoman::internal {
namespace {

void translate_file(ServeContext& context, const ServeCall& call) {
  const Fields fields(call);
  UploadedFile file = uploaded_file(call.request);
  const LanguageChoice languages =
      chosen_languages(*context.translations.languages(), fields.text("source"), fields.text("target"));
  const std::string name = translated_name(file, languages.to);
  const auto place = context.files.reserve(file.bytes.size(), call.client);
  TextWork work = work_of(context, call, std::move(file.bytes));
  work.format = file.format;
  work.name = file.name;
  work.from = languages.from;
  work.to = languages.to;
  work.on_read = [&context, client = call.client](size_t characters) {
    admit_file(context, client, characters);
  };
  const std::string address = server_address(call, !context.settings.certificate.empty());
  std::vector<TextWork> works;
  works.push_back(std::move(work));
  translate_all(context.translations, call, std::move(works),
                [=, &context](const std::vector<TextResult>& results) {
                  const std::string kept = context.files.keep(*place, results.front().text);
                  return json_answer(
                      {{"translatedFileUrl", fmt::format("{}/download_file/{}.{}", address, kept, name)}});
                });
}

// The part of the name before the first dot finds the file; the rest is what it is to be called.
void download(DownloadStore& files, const ServeCall& call) {
  const size_t dot = std::min(call.name.find('.'), call.name.size());
  const bool fetches = !call.request.head_only;
  std::optional<std::string> bytes = files.find(std::string_view(call.name).substr(0, dot), fetches);
  if (!bytes) throw ServeError(404, "no such file, or it has expired: translate it again");
  call.responder.send(file_answer(std::move(*bytes), call.name.substr(std::min(dot + 1, call.name.size()))));
}

}  // namespace

std::vector<Route> libretranslate_file_routes(ServeContext& context) {
  return {{.method = "POST",
           .path = "/translate_file",
           .tag = "LibreTranslate",
           .summary = "Translates a file",
           .body = libretranslate::file_body(),
           .body_types = {"multipart/form-data"},
           .answer = libretranslate::file_answer(),
           .body_bytes = static_cast<size_t>(context.settings.limits.upload),
           .needs_room = true,
           .uses_files = true,
           .own_checks = true,
           .key_in_body = true,
           .handle = [&context](const ServeCall& call) { translate_file(context, call); }},
          {.method = "GET",
           .path = "/download_file/<name*>",
           .tag = "LibreTranslate",
           .summary = "A translated file",
           .answer_type = "application/octet-stream",
           .errors = {404},
           .open = true,
           .uses_files = true,
           .handle = [&context](const ServeCall& call) { download(context.files, call); }}};
}

}  // namespace dragoman::internal
