// A CTranslate2 folder's variables and settings, whatever version wrote them: under today's names, integers with their
// scales, and the settings of config.json about tokens, which older versions store in model.bin.
#pragma once

#include <optional>
#include <string>

#include "convert/files/tensors.h"

namespace dragoman::internal {

struct CTranslate2Settings {
  std::string unknown = "<unk>", begin = "<s>", end = "</s>";
  std::optional<std::string> decoder_start = "<s>";  // nothing: the caller's choice
  bool add_source_bos = false, add_source_eos = false;
  std::optional<double> norm_eps = {};  // none: 1e-5, of RMSNorm 1e-6
};

struct CTranslate2Model {
  std::string path;  // of model.bin
  ForeignTensors tensors;
  CTranslate2Settings settings;
  int64_t default_heads = 8;

  bool has(const std::string& name) const { return tensors.contains(name); }
  // An Error if there is none, or, from `matrix`, if it does not have two dimensions.
  const ForeignTensor& find(const std::string& name) const;
  const ForeignTensor& matrix(const std::string& name) const;
  // A scalar of any type, or `otherwise`.
  double scalar(const std::string& name, double otherwise) const;
};

CTranslate2Model read_ctranslate2(const std::string& folder);

}  // namespace dragoman::internal
