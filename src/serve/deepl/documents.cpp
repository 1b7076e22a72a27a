#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/answers.h"
#include "serve/deepl/api.h"
#include "serve/documents/uploads.h"
#include "serve/requests/schemas.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr size_t max_form_bytes = 4096;
constexpr std::chrono::hours time_for_a_document{1};

const std::vector<std::string> ignored_document_fields = {"formality", "output_format",
                                                          "translation_memory_id", "style_id"};

void upload(DeepL& api, const ServeCall& call) {
  const Fields fields(call);
  UploadedFile file = uploaded_file(call.request, fields.text("filename"));
  const DeepLChoice chosen = chosen_by(fields, call, api);
  const DocumentJobs::Ticket ticket =
      api.documents.begin(translated_name(file, chosen.to), call.client, file.bytes.size());
  TextWork work = work_of(api.context, call, std::move(file.bytes));
  work.format = file.format;
  work.name = file.name;
  work.from = chosen.from;
  work.to = chosen.to;
  work.glossary = chosen.glossary;
  work.on_read = [kept = api.shared_from_this(), client = call.client](size_t characters) {
    admit_file(kept->context, client, characters);
    kept->usage.add(client, characters);
  };
  work.stop = {};  // the client comes back
  work.deadline = std::chrono::steady_clock::now() + time_for_a_document;
  try {
    const auto done = [kept = api.shared_from_this(), ticket,
                       request = call.request.id](std::future<TextResult> result) {
      kept->documents.finish(ticket.id, result, request);
    };
    api.context.translations.translate(std::move(work), done);
  } catch (...) {
    api.documents.forget(ticket.id);
    throw;
  }
  HttpResponse response = json_answer({{"document_id", ticket.id}, {"document_key", ticket.key}});
  response.headers = ignored_fields(fields, ignored_document_fields);
  call.responder.send(std::move(response));
}

DocumentJobs::Ticket ticket_of(const ServeCall& call) {
  return {call.name, Fields(call).text("document_key")};
}

void show_status(DeepL& api, const ServeCall& call) {
  const DocumentJobs::Status status = api.documents.status(ticket_of(call));
  ordered_json json = {{"document_id", call.name},
                       {"status", !status.error.empty() ? "error"
                                  : status.done         ? "done"
                                                        : "translating"}};
  if (!status.error.empty()) json["error_message"] = status.error;
  call.responder.send(json_answer(json));
}

void download(DeepL& api, const ServeCall& call) {
  const DocumentJobs::Ticket ticket = ticket_of(call);
  const DocumentJobs::Status status = api.documents.status(ticket);
  if (!status.error.empty()) throw ServeError(404, "The document could not be translated: " + status.error);
  if (!status.done) throw ServeError(503, "Document translation is not done", {{"retry-after", "1"}});
  call.responder.send(file_answer(api.documents.file(ticket), status.name));
}

ordered_json upload_schema() {
  ordered_json properties = {{"file", {{"type", "string"}, {"format", "binary"}}}};
  properties.update(text_properties({"filename", "source_lang", "target_lang", "glossary_id"}));
  return object_schema(std::move(properties), {"file", "target_lang"});
}

ordered_json texts(const std::vector<std::string>& names, const std::vector<std::string>& required) {
  return object_schema(text_properties(names), required);
}

}  // namespace

std::vector<Route> deepl_document_routes(const std::shared_ptr<DeepL>& api) {
  const auto post = [](const char* path, const char* summary, ordered_json body, ordered_json answer,
                       std::vector<int> errors) {
    return Route{.method = "POST",
                 .path = path,
                 .summary = summary,
                 .body = std::move(body),
                 .body_types = {"application/json", "application/x-www-form-urlencoded"},
                 .answer = std::move(answer),
                 .errors = std::move(errors),
                 .body_bytes = max_form_bytes};
  };
  Route uploading = post("/v2/document", "Translates a file", upload_schema(),
                         texts({"document_id", "document_key"}, {"document_id", "document_key"}), {404});
  uploading.needs_room = uploading.uses_files = true;
  uploading.body_types = {"multipart/form-data"};
  uploading.body_bytes = static_cast<size_t>(api->context.settings.limits.upload);
  Route result = post("/v2/document/<name>/result", "The translated file",
                      texts({"document_key"}, {"document_key"}), nullptr, {404});
  result.answer_type = "application/octet-stream";
  result.uses_files = true;
  Route status = post("/v2/document/<name>", "The status of a document's translation",
                      texts({"document_key"}, {"document_key"}),
                      texts({"document_id", "status", "error_message"}, {"document_id", "status"}), {404});
  status.while_stopping = result.while_stopping = true;
  return {deepl_route(api, std::move(uploading), upload), deepl_route(api, std::move(status), show_status),
          deepl_route(api, std::move(result), download)};
}

}  // namespace dragoman::internal
