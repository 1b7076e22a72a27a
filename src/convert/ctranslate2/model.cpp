#include "convert/ctranslate2/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/ctranslate2/file.h"
#include "convert/ctranslate2/names.h"
#include "convert/settings.h"

namespace dragoman::internal {
namespace {

constexpr uint32_t newest_revision = 7;
constexpr uint32_t with_config = 6;      // the first binary version with config.json
constexpr uint32_t attributes_once = 5;  // revisions before have one attribute for both stacks
constexpr float old_int16_scale = 1000;

// Revision 1 kept the names of TensorFlow's variables.
std::string without_tensorflow(std::string name) {
  const bool decoder = name.find("decoder") != std::string::npos;
  for (const auto& [from, to] : {std::pair("transformer/", ""),
                                 {":0", ""},
                                 {"w_embs", "embeddings/weight"},
                                 {"kernel", "weight"},
                                 {"LayerNorm", "layer_norm"},
                                 {"dense", "projection"},
                                 {"conv1d_", "linear_"},
                                 {"conv1d", "linear_0"},
                                 {decoder ? "masked_multi_head" : "multi_head", "self_attention"},
                                 {"multi_head", "attention"}})
    replace_first(name, from, to);
  return name;
}

void rename_all(ForeignTensors& tensors, uint32_t revision) {
  ForeignTensors renamed;
  for (auto& [old_name, tensor] : tensors) {
    std::string name = revision == 1 ? without_tensorflow(old_name) : old_name;
    replace_first(name, "encoder/embeddings/", "encoder/embeddings_0/");
    if (revision < attributes_once && name.find('/') == std::string::npos)
      for (const char* stack : {"encoder/", "decoder/"}) renamed.emplace(stack + name, tensor);
    renamed.emplace(std::move(name), std::move(tensor));
  }
  tensors = std::move(renamed);
}

// The scales of a matrix: one, or one for each row.
std::vector<float> scales_of(const std::string& path, const std::string& name, const ForeignTensor& matrix,
                             const ForeignTensors& tensors) {
  const auto found = tensors.find(name + "_scale");
  if (found == tensors.end()) {
    if (matrix.type == ElementType::i16) return {old_int16_scale};
    throw Error("{} is damaged: it has no tensor {}_scale", path, name);
  }
  if (found->second.shape.size() > 1)
    throw Error("{} is damaged: {}_scale is {}", path, name, describe(found->second));
  std::vector<float> scales = to_floats(found->second);
  if (std::ssize(scales) != 1 && std::ssize(scales) != matrix.shape[0])
    throw Error("{} is damaged: {} is {}, but has {} scales", path, name, describe(matrix), scales.size());
  if (!std::ranges::all_of(scales, [](float scale) { return std::isfinite(scale) && scale > 0; }))
    throw Error("{} is damaged: {}_scale contains invalid scales", path, name);
  return scales;
}

void attach_scales(const std::string& path, ForeignTensors& tensors) {
  for (auto& [name, tensor] : tensors) {
    const bool integers = tensor.type == ElementType::i8 || tensor.type == ElementType::i16;
    if (!integers || tensor.shape.size() != 2) continue;
    tensor.scales = scales_of(path, name, tensor, tensors);
    tensor.scaled_dimension = 0;
  }
}

// --- Settings ---------------------------------------------------------------------------------------

std::string text_of(const CTranslate2Model& model, const std::string& name, const std::string& otherwise) {
  const auto found = model.tensors.find(name);
  if (found == model.tensors.end()) return otherwise;
  const ForeignTensor& tensor = found->second;
  if (tensor.type != ElementType::i8 || tensor.shape.size() > 1)
    throw Error("{} is damaged: {} is not a string", model.path, name);
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
}

CTranslate2Settings settings_of(const CTranslate2Model& model) {
  CTranslate2Settings s;
  s.unknown = text_of(model, "unk_token", s.unknown);
  s.begin = text_of(model, "bos_token", s.begin);
  s.end = text_of(model, "eos_token", s.end);
  s.add_source_bos = model.scalar("with_source_bos", 0) != 0;
  s.add_source_eos = model.scalar("with_source_eos", 0) != 0;
  if (model.scalar("user_decoder_start_tokens", 0) != 0) {
    s.decoder_start = {};
  } else {
    s.decoder_start = model.scalar("with_target_bos", 1) != 0 ? s.begin : s.end;
  }
  return s;
}

CTranslate2Settings settings_of(const Settings& config) {
  CTranslate2Settings s;
  s.unknown = config.text("unk_token", s.unknown);
  s.begin = config.text("bos_token", s.begin);
  s.end = config.text("eos_token", s.end);
  s.add_source_bos = config.flag("add_source_bos", false);
  s.add_source_eos = config.flag("add_source_eos", false);
  const bool given = config.values().contains("decoder_start_token") && !config.has("decoder_start_token");
  if (given) {
    s.decoder_start = {};
  } else {
    s.decoder_start = config.text("decoder_start_token", s.begin);
  }
  if (config.has("layer_norm_epsilon")) s.norm_eps = config.number("layer_norm_epsilon", 0);
  config.require("multi_query_attention", false);
  if (config.has("quantization_type") && config.values()["quantization_type"] != 0)
    throw Error("{}: quantization_type {} (AWQ) is not supported", config.path(),
                config.values()["quantization_type"].dump());
  return s;
}

}  // namespace

const ForeignTensor& CTranslate2Model::find(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw Error("{} has no tensor {}", path, name);
  return found->second;
}

const ForeignTensor& CTranslate2Model::matrix(const std::string& name) const {
  const ForeignTensor& tensor = find(name);
  if (tensor.shape.size() != 2 || tensor.shape[0] < 1 || tensor.shape[1] < 1)
    throw Error("{} is damaged: {} is {}, not a matrix", path, name, describe(tensor));
  return tensor;
}

double CTranslate2Model::scalar(const std::string& name, double otherwise) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) return otherwise;
  const ForeignTensor& tensor = found->second;
  const auto number = [&]<class Number>(Number value) {
    std::memcpy(&value, tensor.data.data(), sizeof value);
    return static_cast<double>(value);
  };
  if (tensor.data.size() == element_size(tensor.type)) {
    if (tensor.type == ElementType::i8) return number(int8_t());
    if (tensor.type == ElementType::i16) return number(int16_t());
    if (tensor.type == ElementType::i32) return number(int32_t());
    if (const float value = to_floats(tensor).front(); std::isfinite(value))
      return static_cast<double>(value);
  }
  throw Error("{} is damaged: {} is not a number", path, name);
}

CTranslate2Model read_ctranslate2(const std::string& folder) {
  CTranslate2Model model = {.path = folder + "/model.bin"};
  CTranslate2File file = open_ctranslate2(model.path);
  if (file.spec == "TransformerBig") {
    model.default_heads = 16;
  } else if (!file.spec.empty() && file.spec != "TransformerSpec" && file.spec != "TransformerBase") {
    throw Error("{} is a {}, but only encoder-decoder Transformers (TransformerSpec) can be imported",
                model.path, in_quotes(file.spec));
  }
  if (file.revision > newest_revision)
    throw Error("{} has revision {} of {}, but only revisions up to {} are supported", model.path,
                file.revision, file.spec, newest_revision);
  model.tensors = std::move(file.tensors);
  rename_all(model.tensors, file.revision);
  attach_scales(model.path, model.tensors);
  model.settings =
      file.version >= with_config ? settings_of(Settings(folder, "config.json")) : settings_of(model);
  return model;
}

}  // namespace dragoman::internal
