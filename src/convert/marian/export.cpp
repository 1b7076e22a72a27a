// Folders for Marian, model.npz in floats, and for Bergamot, which Firefox has, in 8 bits.
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lines.h"
#include "convert/exporters.h"
#include "convert/marian/calibration.h"
#include "convert/marian/exported_tensors.h"
#include "convert/marian/shortlist.h"
#include "convert/marian/written_file.h"
#include "convert/marian/written_settings.h"
#include "convert/marian/written_vocabularies.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

constexpr size_t calibration_lines = 500;
constexpr float largest_activation = 127;

const char* name_of(MarianProgram program) {
  return program == MarianProgram::marian ? "marian" : "bergamot";
}

// --- What can be said -------------------------------------------------------------------------------

void check_vocabulary(const Vocabulary& vocabulary, std::vector<std::string>& needed) {
  const SpecialTokens& special = vocabulary.special();
  if (special.end < 0 || vocabulary.piece(special.end) != "</s>" ||
      vocabulary.piece(special.unknown) != "<unk>")
    needed.emplace_back("vocabularies whose marks are </s> and <unk>");
  if (!vocabulary.forced_prefix().empty() || !vocabulary.languages().names().empty())
    needed.emplace_back("a model without forced words and a table of languages");
  if (tokenizer_of(vocabulary.model(), "the vocabulary") != WordTokenizer::none)
    needed.emplace_back("vocabulary.tokenizer = \"none\"");
}

void check_expressible(const SavedModel& model, MarianProgram program) {
  const auto unmet = program == MarianProgram::marian ? unmet_by_marian : unmet_by_bergamot;
  std::vector<std::string> needed = unmet(model.model.config, model.readers[0].end_mark);
  check_vocabulary(*model.vocabularies.target, needed);
  if (needed.empty() && !model.vocabularies.shared()) check_vocabulary(*model.vocabularies.source, needed);
  if (!needed.empty())
    throw Error("export --format {}: {} needs {}", name_of(program), model.folder, fmt::join(needed, ", "));
}

// --- Files ------------------------------------------------------------------------------------------

// "enfr." between the parts of names, as Firefox's files have it; empty if the languages have no codes of two letters.
std::string pair_of(const SearchOptions& search) {
  const auto is_code = [](const std::string& language) {
    return language.size() == 2 && language.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == language.npos;
  };
  return is_code(search.from) && is_code(search.to) ? search.from + search.to + "." : "";
}

struct SpmFiles {
  std::optional<std::string> source, target;
};

SpmFiles spm_files(const SavedModel& model) {
  const Vocabularies& both = model.vocabularies;
  return {spm_with_its_ids(*both.source), spm_with_its_ids(*both.target)};
}

// Sets the names of the vocabularies, and writes them.
void write_spm(const std::string& folder, const SpmFiles& files, const std::string& one,
               const std::string& source, const std::string& target, MarianFileNames& names) {
  const bool same = *files.source == *files.target;
  names.source_vocabulary = same ? one : source;
  names.target_vocabulary = same ? one : target;
  write_file(folder + "/" + names.source_vocabulary, {*files.source});
  if (!same) write_file(folder + "/" + names.target_vocabulary, {*files.target});
}

// Text is split with the .spm files before Marian reads it.
void write_lists(const std::string& folder, const Vocabularies& vocabularies, MarianFileNames& names) {
  const std::string source = list_of_tokens(*vocabularies.source),
                    target = list_of_tokens(*vocabularies.target);
  const bool same = source == target;
  names.source_vocabulary = same ? "vocab.yml" : "source.vocab.yml";
  names.target_vocabulary = same ? "vocab.yml" : "target.vocab.yml";
  write_file(folder + "/" + names.source_vocabulary, {source});
  if (!same) write_file(folder + "/" + names.target_vocabulary, {target});
  write_file(folder + "/source.spm", {without_token_table(vocabularies.source->model())});
  write_file(folder + "/target.spm", {without_token_table(vocabularies.target->model())});
}

bool has_shortlist(const SavedModel& model) {
  return std::filesystem::exists(model.folder + "/shortlist.safetensors");
}

void write_shortlist_file(const std::string& folder, SavedModel& model, int64_t lists,
                          MarianFileNames& names) {
  if (!has_shortlist(model)) return;
  names.shortlist = "lex." + pair_of(model.search) + "s2t.bin";
  write_marian_shortlist(folder + "/" + names.shortlist, model.shortlist(), *model.vocabularies.source,
                         lists);
}

std::vector<std::string> search_notes(const SavedModel& model) {
  if (model.search.penalty_form == LengthPenalty::plain || model.search.beam == 1) return {};
  return {fmt::format("Marian has no GNMT length penalty: normalize is {}, of the plain form",
                      model.search.length_penalty)};
}

// --- Activations in 8 bits --------------------------------------------------------------------------

std::vector<std::string> first_lines(const std::string& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string_view line; lines.size() < calibration_lines && reader.next(line);)
    if (is_text(line)) lines.emplace_back(line);
  return lines;
}

// By the names of Marian's matrices. The generator has two: with a shortlist it is "none", else the embedding.
std::map<std::string, float> activation_multipliers(SavedModel& model, const std::string& text) {
  const MarianNaming naming = naming_of(model.model.config);
  std::map<std::string, float> multipliers;
  for (const auto& [parameter, largest] : largest_inputs(model, first_lines(text))) {
    const float multiplier = largest_activation / largest;
    if (parameter == generator_input) {
      multipliers["none"] = multiplier;
      multipliers[naming.shared_embeddings ? "Wemb" : "decoder_Wemb"] = multiplier;
    } else {
      for (const std::string& name : marian_names(naming, parameter)) multipliers[name] = multiplier;
    }
  }
  return multipliers;
}

}  // namespace

std::vector<std::string> export_marian(SavedModel& model, const std::string& folder) {
  check_expressible(model, MarianProgram::marian);
  const MarianTensors tensors = exported_tensors(model);
  const SpmFiles files = spm_files(model);
  const bool lists = !files.source || !files.target;
  MarianFileNames names = {.model = "model.npz", .source_vocabulary = {}, .target_vocabulary = {}};
  make_folder(folder);
  if (lists) {
    write_lists(folder, model.vocabularies, names);
  } else {
    write_spm(folder, files, "vocab.spm", "source.spm", "target.spm", names);
  }
  write_shortlist_file(folder, model, model.model.config.source_vocabulary, names);
  write_marian_npz(folder + "/" + names.model, tensors,
                   marian_configuration(model.model.config, MarianProgram::marian));
  write_file(folder + "/decoder.yml",
             {marian_decoder_settings(names, model.search, MarianProgram::marian, false)});
  std::vector<std::string> notes = search_notes(model);
  if (model.model.config.norm == NormOrder::pre && !has_ssru(model.model.config))
    notes.emplace_back(
        "Marian scores pre-norm models right, but decodes them wrong: its decoder's attention reads what is "
        "not "
        "normalised");
  if (lists)
    notes.emplace_back(
        "the tokens are in a list: split sources with source.spm for Marian, and join its outputs");
  return notes;
}

std::vector<std::string> export_bergamot(SavedModel& model, const std::string& folder,
                                         const std::string& calibration_text) {
  check_expressible(model, MarianProgram::bergamot);
  const SpmFiles files = spm_files(model);
  if (!files.source || !files.target)
    throw Error(
        "export --format bergamot: the tokens of {} come from a list, but Bergamot reads .spm files only: "
        "export it with --format marian",
        model.folder);
  ModelConfig config = model.model.config;
  MarianTensors tensors = exported_tensors(model);
  config.target_vocabulary = pad_vocabulary(tensors, naming_of(config));
  if (has_shared_embedding(config)) config.source_vocabulary = config.target_vocabulary;
  const bool fixed = !calibration_text.empty();
  const auto activations =
      fixed ? activation_multipliers(model, calibration_text) : std::map<std::string, float>();

  const std::string pair = pair_of(model.search);
  MarianFileNames names = {.model = "model." + pair + (fixed ? "intgemm.alphas.bin" : "intgemm8.bin"),
                           .source_vocabulary = {},
                           .target_vocabulary = {}};
  make_folder(folder);
  write_spm(folder, files, "vocab." + pair + "spm", "srcvocab." + pair + "spm", "trgvocab." + pair + "spm",
            names);
  write_shortlist_file(folder, model, config.source_vocabulary, names);
  write_bergamot_bin(folder + "/" + names.model, tensors,
                     marian_configuration(config, MarianProgram::bergamot), activations);
  write_file(folder + "/config.yml",
             {marian_decoder_settings(names, model.search, MarianProgram::bergamot, fixed)});
  std::vector<std::string> notes = search_notes(model);
  if (names.shortlist.empty())
    notes.push_back(
        "the model has no shortlist, without which Bergamot is slower: dragoman prepare --shortlist makes "
        "one");
  if (!fixed)
    notes.emplace_back(
        "activations are measured as they come; with --calibrate FILE they are fixed, which is faster");
  if (tensors.in_integers)
    notes.push_back(
        fmt::format("{} is in 8 bits with a scale for each column, and was rounded again to one a matrix: "
                    "exporting the model in fp32 is more accurate",
                    model.folder));
  return notes;
}

}  // namespace dragoman::internal
