#include "dragoman/models.h"

#include <algorithm>
#include <filesystem>

#include "api/guard.h"
#include "api/options.h"
#include "base/files.h"
#include "base/threads.h"
#include "convert/exporters.h"
#include "convert/importers.h"
#include "model/decoding_weights.h"
#include "model/folder.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "search/saved_model.h"
#include "text/language_tokens.h"
#include "train/averaging.h"
#include "train/checkpoints.h"

namespace dragoman::internal {
namespace {

// The languages become the folder's defaults.
void set_language(ImportedModel& model, const char* key, const std::string& language,
                  const Vocabulary& vocabulary) {
  if (language.empty()) return;
  language_token(vocabulary, language, key);
  model.search[key] = language;
}

bool needs_language(const ImportedModel& model, const char* key, const std::vector<std::string>& languages) {
  return !languages.empty() && !model.search.contains(key);
}

dragoman::ImportResult imported(const dragoman::ImportRequest& request) {
  check_new_model_folder(request.out);
  ImportedModel model =
      import_model({.source = request.source, .vocabularies = request.vocabularies}, request.format);
  const Vocabularies& vocabularies = model.vocabularies;
  const bool by_target = names_target(*vocabularies.source);
  // Such a model translates from any language.
  if (by_target) {
    check_language(request.from, "from");
  } else {
    set_language(model, "from", request.from, *vocabularies.source);
  }
  set_language(model, "to", request.to, by_target ? *vocabularies.source : *vocabularies.target);
  const bool has_integers = model.precision == Precision::int8;
  model.precision = chosen_precision(requested(request.precision), model.precision);
  write_model_folder(model, request.out);
  return {.system = model.system,
          .choices = model.choices,
          .source_language = model.search.value("from", model.source_language),
          .needs_languages = (!names_target(*vocabularies.source) &&
                              needs_language(model, "from", source_languages(vocabularies))) ||
                             needs_language(model, "to", target_languages(vocabularies)),
          .integers = has_integers && model.precision == Precision::int8};
}

std::vector<std::string> exported_to(SavedModel& model, dragoman::ExportFormat format, const std::string& out,
                                     const std::string& calibration_text) {
  switch (format) {
    case dragoman::ExportFormat::huggingface:
      return export_huggingface(model, out);
    case dragoman::ExportFormat::marian:
      return export_marian(model, out);
    case dragoman::ExportFormat::bergamot:
      return export_bergamot(model, out, calibration_text);
    case dragoman::ExportFormat::ctranslate2:
      break;
  }
  return export_ctranslate2(model, out);
}

std::vector<std::string> exported(const std::string& folder, dragoman::ExportFormat format,
                                  const std::string& out, const std::string& calibration_text) {
  for (const char* name : {"/config.json", "/config.yml", "/decoder.yml"})
    if (std::filesystem::exists(out + name))
      throw UsageError("{} already holds a model: choose another folder", out);
  if (!calibration_text.empty() && format != dragoman::ExportFormat::bergamot)
    throw UsageError("calibration is for Bergamot's format only: the others have no fixed activations");
  check_writable_folder(out);
  if (!calibration_text.empty()) check_readable(calibration_text);
  SavedModel model(folder, chosen_kernels(), available_threads());
  if (!has_encoder(model.model.config))
    throw UsageError("{} is a language model, which this program does not export yet", folder);
  return exported_to(model, format, out, calibration_text);
}

void quantized(const std::string& folder, dragoman::Precision precision, const std::string& out) {
  if (precision != dragoman::Precision::int8 && precision != dragoman::Precision::bf16)
    throw UsageError("a model is quantized to int8 or bf16");
  check_new_model_folder(out);
  Device device(chosen_kernels(), available_threads());
  Transformer model(read_model_config(folder), device, Buffers::none_yet);
  map_weights(device, existing_weights(folder), model.parameters, requested(precision));
  copy_all_but_weights(folder, out);
  write_decoding_weights(weights_path(out), model.parameters);
}

// The model in `folder` with the mean of the weights in the files.
void write_average(const std::string& folder, const std::vector<std::string>& files, const std::string& out) {
  Device device(chosen_kernels(), 1);
  Transformer model(read_model_config(folder), device, Buffers::weights);
  average_weights(model.parameters, files);
  copy_all_but_weights(folder, out);
  const HostView<const float> weights(device.memory, model.parameters.weights());
  write_weights(weights_path(out), model.parameters, weights.span());
}

void averaged(const std::vector<std::string>& folders, const std::string& out) {
  if (folders.empty()) throw UsageError("there is no model to average");
  check_new_model_folder(out);
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    read_config(folder);
    if (!have_same_vocabularies(folders[0], folder))
      throw Error("{} and {} have different vocabularies and cannot be averaged", folders[0], folder);
    files.push_back(existing_weights(folder));
  }
  write_average(folders[0], files, out);
}

void averaged_checkpoints(const std::string& folder, size_t newest, const std::string& out) {
  if (newest == 0) throw UsageError("averaging needs at least one checkpoint, not 0");
  check_new_model_folder(out);
  const Checkpoints checkpoints(folder + "/checkpoints", 1);
  for (const auto& [path, defect] : checkpoints.verify()) {
    if (!defect.empty()) throw Error("{} is damaged: {}; remove it to average the others", path, defect);
  }
  auto found = checkpoints.list();
  std::erase_if(found, [](const auto& checkpoint) { return checkpoint.reason == CheckpointReason::extra; });
  if (found.size() < newest) {
    throw Error(
        "{} has {} regular checkpoints, not {}: average fewer, or train with a larger checkpoints.keep",
        folder, found.size(), newest);
  }
  std::vector<std::string> files;
  for (size_t i = found.size() - newest; i < found.size(); ++i) files.push_back(weights_path(found[i].path));
  write_average(folder, files, out);
}

}  // namespace
}  // namespace dragoman::internal

namespace dragoman {

ImportResult import_model(const ImportRequest& request) {
  return internal::guarded([&] { return internal::imported(request); });
}

std::vector<std::string> export_model(const std::string& folder, ExportFormat format, const std::string& out,
                                      const std::string& calibration_text) {
  return internal::guarded([&] { return internal::exported(folder, format, out, calibration_text); });
}

void quantize(const std::string& folder, Precision precision, const std::string& out) {
  internal::guarded([&] { internal::quantized(folder, precision, out); });
}

void average(const std::vector<std::string>& folders, const std::string& out) {
  internal::guarded([&] { internal::averaged(folders, out); });
}

void average_checkpoints(const std::string& folder, size_t newest, const std::string& out) {
  internal::guarded([&] { internal::averaged_checkpoints(folder, newest, out); });
}

}  // namespace dragoman
