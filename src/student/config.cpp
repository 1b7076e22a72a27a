#include "student/config.h"

#include <fmt/format.h>

#include "data/standard_input.h"

namespace dragoman::internal {
namespace {

using Setting = std::pair<const char*, OptionValue>;

// Real text is not all as clean as a corpus, and a small model is easily put off: it learns from a little noise, too.
// Guided by a word aligner, an attention knows which word became which, for tags and glossaries.
//
// All that Marian and Bergamot have a name for, so that browsers can load it (dragoman export).
//
// A student has its teacher's smooth outputs to learn from, many of them: it needs no dropout. Its decoder, which runs
// once a word, has the cheapest layers there are, and fewer of them than the encoder.
const std::vector<Setting> of_every_student = {
    {"model.decoder_self_attention", "ssru"},
    {"model.tied", "all"},
    {"model.norm", "post"},
    {"model.positions", "tensor2tensor"},
    {"model.zero_start", true},
    {"model.ssru_input_bias", false},
    {"model.dropout", 0.0},
    {"model.attention_dropout", 0.0},
    {"model.embedding_dropout", 0.0},
    {"vocabulary.shared", true},
    {"training.precision", "auto"},
    {"training.ema", 0.998},
    {"training.guided_alignment", 0.1},
    {"data.noise_upper", 0.05},
    {"data.noise_title", 0.05},
    {"data.noise_typos", 0.3},
    {"data.noise_punctuation", 0.05},
    {"data.noise_tags", 0.05},
};

// Muon's, which learns from half as many updates as Adam and needs no warm-up.
std::vector<Setting> training_of(StudentSize size) {
  return {{"training.optimizer", "muon"},
          {"training.momentum", 0.9},
          {"training.schedule", "constant"},
          {"training.learning_rate", size == StudentSize::base ? 0.002 : 0.003},
          {"training.cooldown", 0.6}};
}

std::vector<Setting> settings_of(StudentSize size) {
  switch (size) {
    case StudentSize::tiny:
      return {{"model.encoder_layers", int64_t{4}}, {"model.decoder_layers", int64_t{1}},
              {"model.d_model", int64_t{256}},      {"model.d_ff", int64_t{512}},
              {"model.heads", int64_t{4}},          {"vocabulary.size", int64_t{8000}},
              {"training.warmup", int64_t{1000}},   {"training.batch_tokens", int64_t{2048}}};
    case StudentSize::base:
      return {{"model.encoder_layers", int64_t{6}}, {"model.decoder_layers", int64_t{2}},
              {"model.d_model", int64_t{512}},      {"model.d_ff", int64_t{2048}},
              {"model.heads", int64_t{8}},          {"vocabulary.size", int64_t{32000}}};
    case StudentSize::own:
      break;
  }
  return {};
}

void set_if_not_given(Options& options, const std::vector<Setting>& settings, const std::string& origin) {
  for (const auto& [key, value] : settings)
    if (!options.is_given(key)) options.set(key, value, origin);
}

void check_back_translation(const StudentConfig& c) {
  if (c.monolingual_target.empty() != c.backward.empty())
    throw OptionError(
        c.backward.empty() ? "student.backward" : "student.monolingual_target",
        "is missing: the model folder that translates back, and the text for it, belong together");
  if (c.backward_tag.find_first_of(" \t\r\n") != std::string::npos)
    throw OptionError("student.backward_tag", "has white space, but must be one word");
}

void check_cleaning(const StudentRecipe& recipe) {
  const CleaningModels& models = recipe.cleaning_models;
  const DataConfig& data = recipe.training.data;
  if (!models.detector.empty() && data.from.empty() && data.to.empty())
    throw OptionError("clean.detector",
                      "has no effect without data.from or data.to, the languages to expect");
  if (models.score_model.empty() != (recipe.cleaning.min_score == 0))
    throw OptionError("clean.min_score", "such as -3, and clean.score_model belong together");
  if (models.backward && models.score_model.empty())
    throw OptionError("clean.backward", "has no effect without clean.score_model");
}

}  // namespace

void declare(Options& options, StudentRecipe& recipe) {
  StudentConfig& c = recipe.student;
  auto own = options.section("student", "The teacher, and what it teaches");
  own.add("teacher", c.teacher, "model folders, imported or trained here; several translate together");
  own.add("size", c.size,
          "tiny: 4 encoder layers and 1 decoder layer of 256; base: 6 and 2 of 512; own: what [model] says",
          {{"tiny", StudentSize::tiny}, {"base", StudentSize::base}, {"own", StudentSize::own}});
  own.add("monolingual", c.monolingual, "further text of the source language, one sentence per line");
  own.add("monolingual_target", c.monolingual_target,
          "text of the target language, which student.backward translates into the source language");
  own.add("backward", c.backward,
          "model folders that translate the target language into the source language; several together");
  own.add("backward_tag", c.backward_tag,
          "first word of each source that was translated back, by which the student tells them from "
          "people's; empty: none");
  own.add("backward_share", c.backward_share, "share of the training pairs whose source was translated back",
          above(0).below(1));
  own.add("beam", c.beam, "the teacher's beam size", at_least(1).at_most(1000));
  own.add("candidates", c.candidates,
          "translations that the teacher finds for each source: the nearest to its reference by chrF are "
          "taught, or, without one, the best",
          at_least(1).at_most(1000));
  own.add("translations", c.translations,
          "how many of them are taught at most: an epoch has one for each source, drawn at random",
          at_least(1).at_most(1000));
  own.add("int8_steps", c.int8_steps,
          "updates of fine-tuning with int8 weights, whose result is kept if its BLEU is better; 0: none",
          at_least(0));
  own.add("test_source", c.test_source,
          "text to compare teacher and student on; by default the validation set");
  own.add("test_target", c.test_target, "its translation");
  auto cleaning = options.section("clean", "Which pairs are worth learning from");
  declare(cleaning, recipe.cleaning, OptionSpelling::keys);
  CleaningModels& models = recipe.cleaning_models;
  cleaning
      .add("detector", models.detector,
           "fastText's lid.176.ftz (tools/get_detector), with which languages are checked")
      .shows("FILE");
  cleaning.add("score_model", models.score_model, "model that translates the sources, for clean.min_score")
      .shows("DIR");
  cleaning.add("backward", models.backward, "the score model translates the targets into the sources");
  declare(options, recipe.training);
}

void take_size(Options& options, StudentSize size) {
  if (size == StudentSize::own) return;
  set_if_not_given(options, of_every_student, "student.size");
  set_if_not_given(options, settings_of(size), "student.size");
  const bool trains_otherwise =
      options.is_given("training.optimizer") || options.is_given("training.schedule");
  if (!trains_otherwise) set_if_not_given(options, training_of(size), "student.size");
}

void validate(const StudentRecipe& recipe) {
  const StudentConfig& c = recipe.student;
  if (c.teacher.empty()) throw OptionError("student.teacher", "is missing: name the teacher's model folder");
  if (c.candidates > c.beam)
    throw OptionError("student.candidates",
                      fmt::format("is {}, but student.beam finds no more than {}", c.candidates, c.beam));
  if (c.test_source.size() != c.test_target.size())
    throw OptionError("student.test_source", "and student.test_target must have the same number of files");
  check_back_translation(c);
  check_cleaning(recipe);
  const Recipe& training = recipe.training;
  if (reads_standard_input(training.data))
    throw OptionError("data",
                      "names standard input (-), but a student's corpus is read more than once: name a file");
  if (training.data.synthetic != Synthetic::none)
    throw OptionError("data.synthetic", "makes symbols, which no teacher translates: name text in [data]");
  if (training.model.kind == ModelKind::language_model)
    throw OptionError("model.kind", "is language_model, which does not translate");
  if (c.test_source.empty() && !has_validation_set(training.data))
    throw OptionError("data.hold_out",
                      "is 0 and there is no validation set, on which teacher and student are compared: set "
                      "data.hold_out, or name data.valid_source and data.valid_target");
  validate(training);
}

}  // namespace dragoman::internal
