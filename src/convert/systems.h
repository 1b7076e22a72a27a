// The importers of all systems, one file each; importers.cpp has the table of them.
//
// Each says whether it knows a source, and imports it. An Error names the file and the key or tensor that is missing or
// cannot be expressed.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

// Imports packages of Argos Translate: an .argosmodel file, or the folder that it unpacks to. The model in it is
// CTranslate2's.
bool is_argos(const std::string& source);
ImportedModel import_argos(const ImportRequest& request);

// Imports encoder-decoder Transformers of CTranslate2: a folder with model.bin and vocabularies, of any version.
bool is_ctranslate2(const std::string& folder);

// How the program that a model is made for searches; CTranslate2's own defaults.
struct CTranslate2Search {
  int64_t beam = 2;
  double length_penalty = 1;
  bool replace_unknown = false;
  std::string target_prefix = {};  // token that every output is forced to begin with; empty: none
};
ImportedModel import_ctranslate2_for(const ImportRequest& request, const CTranslate2Search& search);
ImportedModel import_ctranslate2(const ImportRequest& request);

// Transformers of eole, the successor of OpenNMT-py: a folder with config.json, vocab.json and model.00.safetensors.
bool is_eole(const std::string& folder);
ImportedModel import_eole(const ImportRequest& request);

// Transformers of fairseq: a checkpoint, model.pt, with dict.LANG.txt of both languages beside it.
bool is_fairseq(const std::string& source);
// SOURCE is the checkpoint, or its folder.
ImportedModel import_fairseq(const ImportRequest& request);

// Models of many languages of Hugging Face's transformers: M2M100, NLLB and mBART. A folder with config.json, the
// weights, sentencepiece.bpe.model, and for M2M100 vocab.json.
bool is_huggingface_m2m(const std::string& folder);
ImportedModel import_huggingface_m2m(const ImportRequest& request);

// T5 and its kin, such as mT5, MADLAD-400 and ByT5, of Hugging Face's transformers: a folder with config.json, the
// weights, and spiece.model, which ByT5 does not have.
bool is_huggingface_t5(const std::string& folder);
ImportedModel import_huggingface_t5(const ImportRequest& request);

// Marian models of Hugging Face's transformers, in which the OPUS-MT models are published: a folder with config.json,
// the weights in model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm. And Pegasus models with
// the same files, as which pre-norm models are exported.
bool is_huggingface_marian(const std::string& folder);
ImportedModel import_huggingface_marian(const ImportRequest& request);

// Models of Marian, and of its fork Bergamot, which Firefox has: model.npz or model.bin, vocabularies, and perhaps a
// decoder.yml and a shortlist. The source is the model's file, or the folder.
bool is_marian(const std::string& source);
ImportedModel import_marian(const ImportRequest& request);

// Transformers of OpenNMT-py, versions 1 to 3: a checkpoint, MODEL.pt, that has its vocabularies.
bool is_opennmt(const std::string& source);
// SOURCE is the checkpoint, or its folder.
ImportedModel import_opennmt(const ImportRequest& request);

}  // namespace dragoman::internal
