// What the commands that translate share: models, batches, and the loop from lines to translations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/lines_in_order.h"
#include "base/lines.h"
#include "base/options.h"
#include "dragoman/glossary.h"
#include "dragoman/memory.h"
#include "dragoman/translator.h"
#include "search/options.h"
#include "search/saved_model.h"
#include "tensor/device_option.h"

namespace dragoman::internal {

// On what a model runs, and in which precision.
struct MachineOptions {
  std::string device = default_device;
  int64_t threads = 0;  // 0: all processors
  dragoman::Precision precision = dragoman::Precision::as_saved;
};

struct TranslatingOptions {
  std::vector<std::string> models;  // several translate together
  MachineOptions machine;
  bool verify = true;
  int64_t batch = 0;  // 0: chosen
  int64_t batch_tokens = 0;
  int64_t workers = 0;
  std::string language_model;  // fused with the models; empty: none
  double language_model_weight = 0.1;
  bool continues = false;  // the model is a language model, for texts to be continued
  bool tokens = false;     // whether the command needs those of the translations
  std::string glossary;    // a file; empty: none
  std::string memory;      // a folder; empty: none
  SearchOptions search;
};

// Which model, and how it runs: among a command's own flags.
void declare_machine(Section& own, MachineOptions& machine, Devices devices = Devices::one);
void declare_model(Section& own, std::string& model, MachineOptions& machine);
void declare_models_and_batch(Section& own, TranslatingOptions& options);
void declare_fusion(Section& own, TranslatingOptions& options);

int thread_count(const MachineOptions& machine);
std::unique_ptr<SavedModel> load_model(const std::string& folder, const MachineOptions& machine);

// The lines of --text, where it is given, or of arguments in place of files that are text themselves: of words without
// quotation marks around them, one line. None: the files are to be read.
std::vector<std::string> given_lines(const std::optional<std::string>& text,
                                     const std::vector<std::string>& files);

// Given lines, or those of several files, or of standard input, each with its line of the prefix file.
class TranslationInput {
 public:
  // Throws an Error if one of the files cannot be read.
  explicit TranslationInput(std::vector<std::string> files, const std::string& prefix_file = "",
                            std::vector<std::string> given_lines = {});

  struct Line {
    std::string_view text, prefix;
  };
  // Whether there was another line. It is valid until the next call of either.
  bool next(Line& line);
  // Whether next() would return at once.
  bool ready();
  // After the last line: throws an Error if prefixes are left over; warns of those that were not valid UTF-8.
  void finish();

 private:
  void read_prefix(std::string_view& prefix);

  bool next_text(std::string_view& text);

  std::vector<std::string> given_lines_, files_;  // the next one last
  std::string given_line_;                        // that next() handed out
  std::unique_ptr<LineReader> reader_, prefixes_;
  std::string repaired_prefix_;
  int64_t repaired_prefixes_ = 0;
};

dragoman::TranslatorSettings settings_of(const TranslatingOptions& options);

// How the folder's model searches by default, with the given options on top; `alignment`: translations get their word
// alignment. A UsageError where two options do not fit together.
SearchOptions checked_search(const std::string& folder, const Options& given, bool alignment = false);

// Between which languages the models translate, as far as that is known: by the options, or else by the first folder.
struct TranslationLanguages {
  std::string from, to;
};
TranslationLanguages languages_of(const TranslatingOptions& options);

// Of --glossary, where it is given.
std::optional<dragoman::Glossary> glossary_of(const TranslatingOptions& options);

// Of --memory, where it is given.
std::optional<dragoman::Memory> memory_of(const TranslatingOptions& options);

// Word alignments as Pharaoh wrote them: "0-0 1-2", source word and target word.
std::string pharaoh_format(const std::vector<WordAlignment>& pairs);

// Translates all lines, and delivers each as soon as it and all lines before it are done, while later ones are still
// being read. If reading fails, the lines read so far are handed on before the Error. `request`: the options of each
// line.
void translate_lines(const TranslatingOptions& options, const dragoman::Options& request,
                     TranslationInput& input, const OnTranslation& on_translation);
void translate_lines(const TranslatingOptions& options, const dragoman::Options& request,
                     const std::vector<std::string>& texts, const OnTranslation& on_translation);

}  // namespace dragoman::internal
