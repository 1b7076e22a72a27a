// Adapting the model of docs/model, by a few updates: what is learned, what is kept, what is done again.
#include "adapt/adapt.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "adapt/segments.h"
#include "adapt/split_text.h"
#include "adapt/update.h"
#include "base/error.h"
#include "base/files.h"
#include "base/lines.h"
#include "data/sample.h"
#include "memory/builder.h"
#include "memory/memory.h"
#include "model/checksum.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "model/weights_file.h"
#include "nn/low_rank.h"
#include "student/comparison.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char* model_folder = DRAGOMAN_SOURCE_DIR "/docs/model";

std::set<std::string> lines_of(const std::string& path) {
  std::set<std::string> lines;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) lines.emplace(line);
  return lines;
}

std::string refusal_of(const AdaptConfig& config) {
  try {
    adapt_model(config);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class Adapting : public testing::Test {
 protected:
  // Sentences of a few words, which the user translates in one way, always.
  static std::string segments() {
    std::string text;
    for (const char* verb :
         {"Open", "Close", "Print", "Save", "Read", "Send", "Find", "Move", "Copy", "Show"})
      for (const char* what : {"file", "page", "book", "house", "car", "letter", "door", "picture", "word",
                               "table", "plate", "dog"})
        text += std::string(verb) + " the " + what + "\tLe chat est noir.\n";
    return text;
  }

  static std::pair<std::string, std::string> general() {
    std::string source, target;
    for (int i = 0; i < 110; ++i) {
      source += "I have " + std::to_string(i) + " books.\n";
      target += "J'ai " + std::to_string(i) + " livres.\n";
    }
    return {source, target};
  }

  AdaptConfig config(const std::string& out) {
    AdaptConfig c;
    c.model = model_folder;
    c.out = folder.path(out);
    c.segments.files = {segments_file};
    c.general_source = general_source;
    c.general_target = general_target;
    c.max_loss = 100;
    c.learning_rate = 5e-3;
    c.max_minutes = 0;
    c.max_steps = 6;
    c.threads = 1;
    c.device = "cpu";
    return c;
  }

  const TemporaryFolder folder;
  const std::string segments_file = folder.write("mine.tsv", segments()),
                    general_source = folder.write("general.en", general().first),
                    general_target = folder.write("general.fr", general().second);
};

TEST(SplitText, PutsEqualSourcesOnTheSameSide) {
  const TemporaryFolder folder;
  std::vector<TextPair> pairs;
  for (int i = 0; i < 2000; ++i) pairs.push_back({std::to_string(i % 1000), std::to_string(i)});
  const SplitText files = split_text_in(folder.path("."));
  const SplitCounts counts = write_split(pairs, HeldOut(2000, 200), files);
  EXPECT_EQ(2000, counts.learnt + counts.held_out);
  EXPECT_NEAR(200, static_cast<double>(counts.held_out), 60);
  const auto learnt = lines_of(files.source);
  for (const std::string& source : lines_of(files.held_out_source)) EXPECT_FALSE(learnt.contains(source));
  EXPECT_EQ(static_cast<size_t>(counts.held_out), read_held_out(files).size());
}

TEST_F(Adapting, LearnsTheSegmentsOnce) {
  const AdaptChoice choice = adapt_model(config("mine"));
  EXPECT_TRUE(choice.is_better());
  EXPECT_GT(choice.after.segments, choice.before.segments + 20);
  EXPECT_EQ(1, choice.share);
  const auto adaptation = nlohmann::json::parse(read_file(folder.path("mine/adaptation.json")));
  EXPECT_EQ(choice.after.segments, adaptation.at("scores").at("after").at("segments"));
  EXPECT_EQ(120, adaptation.at("segments"));
  EXPECT_EQ(model_checksum(model_folder), adaptation.at("model"));
  EXPECT_NE(read_file(weights_path(model_folder)), read_file(weights_path(folder.path("mine"))));
  EXPECT_FALSE(fs::exists(folder.path("mine.dragoman-work")));

  const auto written = fs::last_write_time(weights_path(folder.path("mine")));
  const AdaptChoice again = adapt_model(config("mine"));
  EXPECT_EQ(choice.after.segments, again.after.segments);
  EXPECT_TRUE(again.was_made_before && !choice.was_made_before);
  EXPECT_EQ(written, fs::last_write_time(weights_path(folder.path("mine"))));
  folder.write("mine.tsv", segments() + "Open the window\tLe chat est noir.\n");
  adapt_model(config("mine"));
  EXPECT_NE(written, fs::last_write_time(weights_path(folder.path("mine"))));
}

TEST_F(Adapting, KeepsTheOldModelWhereNothingIsGained) {
  AdaptConfig c = config("mine");
  c.learning_rate = 1e-9;
  c.max_steps = 2;
  EXPECT_FALSE(adapt_model(c).is_better());
  EXPECT_FALSE(fs::exists(folder.path("mine")));
}

// These segments are learned at the cost of all else, as general text shows.
TEST_F(Adapting, TakesOnlyAsMuchAsGeneralTextBears) {
  AdaptConfig c = config("mine");
  c.general_share = 0.01;
  c.max_steps = 12;
  const AdaptChoice careless = adapt_model(c);
  ASSERT_LT(careless.after.general, careless.before.general - 3);
  c.max_loss = (careless.before.general - careless.after.general) / 2;
  c.out = folder.path("careful");
  const AdaptChoice careful = adapt_model(c);
  EXPECT_GT(careful.share, 0);
  EXPECT_LT(careful.share, 1);
  EXPECT_GE(careful.after.general, careful.before.general - c.max_loss);
  EXPECT_EQ(careful.is_better(), fs::exists(folder.path("careful/model.safetensors")));
}

TEST_F(Adapting, ChangesBiasesAloneWhereAskedTo) {
  AdaptConfig c = config("mine");
  c.weights = AdaptedWeights::biases;
  c.learning_rate = 2e-2;
  ASSERT_TRUE(adapt_model(c).is_better());
  const auto before = SafetensorsFile::open(weights_path(model_folder)),
             after = SafetensorsFile::open(weights_path(c.out));
  int changed = 0;
  for (const TensorEntry& entry : after.entries()) {
    EXPECT_EQ(1U, entry.shape.size()) << entry.name;
    changed += !std::ranges::equal(entry.bytes, before.find(entry.name).bytes);
  }
  EXPECT_GT(changed, 5);
  EXPECT_FALSE(fs::exists(folder.path("mine/sample.tsv")));
}

// Small, of the model that stays where it is, and as good as the whole model that it stands for.
TEST_F(Adapting, MakesASmallUpdateOfLowRank) {
  AdaptConfig c = config("mine");
  c.weights = AdaptedWeights::low_rank;
  c.rank = 2;
  c.learning_rate = 5e-2;
  c.max_steps = 8;
  const AdaptChoice choice = adapt_model(c);
  ASSERT_TRUE(choice.is_better());
  EXPECT_GT(choice.after.segments, choice.before.segments + 20);
  EXPECT_LT(10 * fs::file_size(weights_path(c.out)), fs::file_size(weights_path(model_folder)));
  EXPECT_EQ(fs::weakly_canonical(model_folder),
            fs::weakly_canonical(WeightsFile(weights_path(c.out)).base()));

  std::vector<TextPair> lines;
  LineReader reader(segments_file);
  for (std::string_view line; reader.next(line);)
    lines.push_back(
        {std::string(line.substr(0, line.find('\t'))), std::string(line.substr(line.find('\t') + 1))});
  EXPECT_GT(bleu_of(c.out, {.test = lines, .from = "en", .to = "fr", .device = "cpu", .threads = 1}),
            choice.after.segments - 10);

  c.model = c.out;
  c.out = folder.path("more");
  EXPECT_NE(refusal_of(c).find("is an update of another model"), std::string::npos) << refusal_of(c);
}

// As much of A·B as of the rest of the change.
TEST_F(Adapting, KeepsAShareOfALowRankUpdate) {
  AdaptConfig c = config("mine");
  c.rank = 1;
  Device device(kernels_for("baseline"), 1);
  const auto weights_of = [&](const std::string& path) {
    Transformer whole(read_model_config(model_folder), device, Buffers::none_yet);
    read_weights(path, whole.parameters, Buffers::weights);
    const auto weights = whole.parameters.weights();
    return std::vector<float>(weights.begin(), weights.end());
  };
  for (const char* name : {"run", "mine"}) fs::create_directories(folder.path(name));
  {
    Transformer tuned(read_model_config(model_folder), device, Buffers::none_yet);
    declare_low_rank_updates(tuned.parameters, c.rank);
    tuned.parameters.allocate(Buffers::weights);
    tuned.parameters.initialise(1);
    read_weights(weights_path(model_folder), tuned.parameters);
    for (const Parameter& parameter : tuned.parameters.list())
      if (is_low_rank_out(parameter.name)) std::ranges::fill(parameter.value.writable_values(), 0.5F);
    write_weights(weights_path(folder.path("run")), tuned.parameters, tuned.parameters.weights());
  }
  write_update(c, {folder.path("run"), model_folder, Trainable::low_rank, 0.25}, c.out);
  const std::vector<float> old = weights_of(weights_path(model_folder)),
                           all = weights_of(weights_path(folder.path("run"))),
                           found = weights_of(weights_path(c.out));
  ASSERT_NE(old, all);
  for (size_t i = 0; i < old.size(); ++i)
    ASSERT_NEAR(found[i], old[i] + 0.25F * (all[i] - old[i]), 1e-6) << i;
}

TEST_F(Adapting, TriesWhichWeightsToChange) {
  AdaptConfig c = config("mine");
  c.weights = AdaptedWeights::best;
  c.max_steps = 2;
  c.learning_rate = 1e-9;  // so that what was made is kept
  EXPECT_FALSE(adapt_model(c).is_better());
  for (const char* weights : {"all", "low_rank", "biases"})
    EXPECT_TRUE(fs::exists(folder.path(std::string("mine.dragoman-work/choice-") + weights))) << weights;

  const auto before = SafetensorsFile::open(weights_path(model_folder)),
             after = SafetensorsFile::open(weights_path(folder.path("mine.dragoman-work/tuned-biases")));
  for (const TensorEntry& entry : before.entries()) {
    const bool is_vector = entry.shape.size() == 1;
    EXPECT_TRUE(is_vector || std::ranges::equal(entry.bytes, after.find(entry.name).bytes)) << entry.name;
  }
}

TEST_F(Adapting, TranslatesGeneralTextItselfWhereThereAreSourcesAlone) {
  AdaptConfig c = config("mine");
  c.general_target.clear();
  c.max_steps = 2;
  c.learning_rate = 1e-9;  // so that what was made is kept
  const AdaptChoice choice = adapt_model(c);
  EXPECT_GT(choice.before.general, 60) << "it is compared with itself";
  EXPECT_GT(lines_of(folder.path("mine.dragoman-work/general/target")).size(), 1u);
  EXPECT_EQ(50 * c.max_loss, choice.max_loss);
}

// What the model was trained on would hardly show what it forgets.
TEST_F(Adapting, MeasuresForgettingOnWhatTheModelHasNotSeen) {
  AdaptConfig c = config("mine");
  c.model = folder.path("base");
  fs::copy(model_folder, c.model);
  c.general_source = c.general_target = "";
  std::string sample, unseen;
  for (int i = 0; i < 150; ++i)
    (i < 50 ? sample : unseen) += "I have " + std::to_string(i) + " books.\tJ'ai des livres.\n";
  write_file(sample_path(c.model), {sample, sample, "I have 99 books.\tJ'ai 99 livres.\n"});
  write_file(unseen_path(c.model), {unseen});
  EXPECT_TRUE(adapt_model(c).is_better());
  EXPECT_EQ(unseen, read_file(unseen_path(c.out))) << "for whoever adapts this model";

  c.max_steps = 2;
  c.learning_rate = 1e-9;  // so that what was made is kept
  EXPECT_FALSE(adapt_model(c).is_better());
  const SplitText files = split_text_in(folder.path("mine.dragoman-work/general"));
  const auto learnt = lines_of(files.source), held_out = lines_of(files.held_out_source);
  EXPECT_EQ(50u, learnt.size());
  EXPECT_EQ(100u, held_out.size());
  EXPECT_TRUE(held_out.contains("I have 99 books.") && !learnt.contains("I have 99 books."));
}

// A server adds to it meanwhile, and folds its log.
TEST_F(Adapting, ReadsAMemoryThatAnotherProcessAddsTo) {
  AdaptConfig c = config("mine");
  c.memories = {folder.path("memory")};
  MemoryBuilder builder(c.memories.front(), "en", "fr");
  builder.add({"Open the file", "Le chat est noir."});
  builder.finish();
  TranslationMemory server(c.memories.front(), MemoryAccess::add);
  const auto empty = segments_inputs(c);
  const std::vector<MemorySegment> more = {{"Close the file", "Le chat est noir."}};
  server.add(more);
  const auto added = segments_inputs(c);
  EXPECT_NE(empty, added);
  server.fold();
  EXPECT_EQ(added, segments_inputs(c));
  const std::vector<MemorySegment> changed = {{"Close the file", "Le chat est blanc."}};
  server.add(changed);
  EXPECT_NE(added, segments_inputs(c));
}

TEST_F(Adapting, KnowsSourcesFromTargets) {
  AdaptConfig c = config("mine");
  c.segments.files.clear();
  c.segments.source = general_source;
  c.segments.target = general_target;
  const auto inputs = segments_inputs(c);
  std::swap(c.segments.source, c.segments.target);
  EXPECT_NE(inputs, segments_inputs(c));
}

TEST_F(Adapting, KnowsTheModelByItsContents) {
  AdaptConfig c = config("mine");
  c.max_steps = 2;
  c.learning_rate = 1e-9;  // so that what was made is kept
  adapt_model(c);
  const std::string tuned = weights_path(folder.path("mine.dragoman-work/tuned-all"));
  const auto written = fs::last_write_time(tuned);
  c.model = std::string(model_folder) + "/";
  adapt_model(c);
  EXPECT_EQ(written, fs::last_write_time(tuned));
  const std::string metrics = folder.path("mine.dragoman-work/tuned-all/metrics.jsonl"),
                    former = read_file(metrics);
  c.max_steps = 3;
  EXPECT_FALSE(adapt_model(c).is_better());
  const std::string_view but_its_end = std::string_view(former).substr(0, former.rfind("{\"event\""));
  EXPECT_TRUE(read_file(metrics).starts_with(but_its_end)) << "a run goes on with the model's other name";
}

TEST_F(Adapting, RefusesWhatItCannotUse) {
  AdaptConfig few = config("few");
  few.segments.files = {folder.write("few.tsv", "One\tUn\nTwo\tDeux\n")};
  EXPECT_NE(refusal_of(few).find("needs at least 100"), std::string::npos) << refusal_of(few);
  AdaptConfig itself = config("mine");
  itself.model = itself.out = model_folder;
  EXPECT_NE(refusal_of(itself).find("is the model that is adapted"), std::string::npos) << refusal_of(itself);
  AdaptConfig other = config("other");
  folder.write("taken", "");
  other.out = folder.path("taken");
  EXPECT_NE(refusal_of(other).find("is not a folder"), std::string::npos) << refusal_of(other);
  AdaptConfig two = config("two");
  for (const char* to : {"fr", "de"}) {
    two.memories.push_back(folder.path(to));
    MemoryBuilder(two.memories.back(), "en", to).finish();
  }
  EXPECT_NE(refusal_of(two).find("one pair of languages"), std::string::npos) << refusal_of(two);
  AdaptConfig silent = config("silent");
  silent.general_source = silent.general_target = "";
  silent.segments.from = "de";
  EXPECT_NE(refusal_of(silent).find("--general-source"), std::string::npos) << refusal_of(silent);
}

}  // namespace
}  // namespace dragoman::internal
