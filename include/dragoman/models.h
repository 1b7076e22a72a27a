// Model folders: imported, exported, quantized and averaged.
//
//   dragoman::import_model({.source = "opus-mt-en-fr", .out = "models/en-fr"});
//   dragoman::quantize("models/en-fr", dragoman::Precision::int8, "models/en-fr-int8");
//
// A new folder must not contain a model. If something fails, none is left there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"
#include "dragoman/translator.h"

namespace dragoman {

struct ImportRequest {
  std::string source;                          // another system's model: a folder, an archive or a file
  std::string out;                             // the new model folder
  std::string format = {};                     // of the source (docs/models.md); empty: detected
  std::vector<std::string> vocabularies = {};  // files outside the source, its own first; one: for both sides
  std::string from = {}, to = {};              // languages that become the folder's defaults
  // as_saved: int8 where the source has integers, else fp32, which can be trained.
  Precision precision = Precision::as_saved;
};

struct ImportResult {
  std::string system;                // that the model was made for: "Hugging Face Marian"
  std::vector<std::string> choices;  // how the model was interpreted, for display
  std::string source_language;       // that it reads by default; empty: the files do not say
  bool needs_languages = false;      // every request must name them: the model has several
  bool integers = false;             // the new weights are the source's own integers
};

DRAGOMAN_API ImportResult import_model(const ImportRequest& request);

enum class ExportFormat { ctranslate2, huggingface, marian, bergamot };

// Returns notes for the user, one per line. An Error names the option of [model] that the other system cannot
// express. `calibration_text`, for Bergamot only: a file of source lines, by which the multipliers of activations are
// fixed; empty: they are measured as the model is used.
DRAGOMAN_API std::vector<std::string> export_model(const std::string& folder, ExportFormat format,
                                                   const std::string& out,
                                                   const std::string& calibration_text = {});

// To int8 or bf16.
DRAGOMAN_API void quantize(const std::string& folder, Precision precision, const std::string& out);

// The mean of the weights of models that have one shape and the same vocabularies.
DRAGOMAN_API void average(const std::vector<std::string>& folders, const std::string& out);
// The average of a model's newest regular checkpoints.
DRAGOMAN_API void average_checkpoints(const std::string& folder, size_t newest, const std::string& out);

}  // namespace dragoman
