#include "convert/importers.h"

#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/settings.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

constexpr std::array all_systems = {
    Importer{"huggingface-marian", "Hugging Face Marian (OPUS-MT): a folder", is_huggingface_marian,
             import_huggingface_marian},
    Importer{"huggingface-m2m", "Hugging Face M2M100, NLLB and mBART: a folder", is_huggingface_m2m,
             import_huggingface_m2m},
    Importer{"huggingface-t5", "Hugging Face T5, mT5, MADLAD-400 and ByT5: a folder", is_huggingface_t5,
             import_huggingface_t5},
    Importer{"fairseq", "fairseq: a checkpoint, model.pt", is_fairseq, import_fairseq},
    Importer{"eole", "eole: a folder", is_eole, import_eole},
    Importer{"opennmt-py", "OpenNMT-py: a checkpoint, MODEL.pt", is_opennmt, import_opennmt},
    Importer{"argos", "Argos Translate: an .argosmodel file, or its folder", is_argos, import_argos},
    Importer{"ctranslate2", "CTranslate2: a folder with model.bin", is_ctranslate2, import_ctranslate2},
    Importer{"marian", "Marian, Bergamot and Firefox: model.npz or .bin, or its folder", is_marian,
             import_marian},
};

std::string known_formats() {
  std::string list;
  for (const Importer& importer : all_systems)
    list += fmt::format("\n  {:20} {}", importer.format, importer.description);
  return list;
}

// The sizes are checked like the options of a model, but the user has not set them.
ImportedModel import_by(const Importer& importer, const ImportRequest& request) {
  try {
    return importer.import(request);
  } catch (const OptionError& error) {
    throw Error("{}: the model has invalid dimensions: {}", request.source, error.what());
  }
}

[[noreturn]] void refuse_source(const std::string& source) {
  if (const std::string type = model_type_of(source); !type.empty())
    throw Error("{}/config.json: model_type is {}, which cannot be imported", source, in_quotes(type));
  throw Error("{} is not a model in a known format; supported formats:{}", source, known_formats());
}

}  // namespace

std::span<const Importer> importers() { return all_systems; }

ImportedModel import_model(const ImportRequest& request, const std::string& format) {
  if (!std::filesystem::exists(request.source)) throw Error("{} does not exist", request.source);
  for (const Importer& importer : all_systems) {
    if (format.empty() ? importer.recognises(request.source) : importer.format == format)
      return import_by(importer, request);
  }
  if (!format.empty())
    throw Error("unknown format {}; supported formats:{}", in_quotes(format), known_formats());
  refuse_source(request.source);
}

}  // namespace dragoman::internal
