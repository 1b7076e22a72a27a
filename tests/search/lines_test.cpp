// Lines in, translations out: as many, each its own.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "search/beam/repetition.h"
#include "search/model_folder.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

using Lines = std::vector<std::string>;

class LinesTest : public testing::Test {
 protected:
  SavedModel& model(int threads = 1, int64_t max_length = 40, const Kernels& kernels = kernels_for(nullptr)) {
    if (!folder_) folder_ = std::make_unique<ModelFolder>("model", max_length);
    model_ = std::make_unique<SavedModel>(folder_->path, kernels, threads, precision_);
    return *model_;
  }

  std::vector<TranslatedLine> translate(SavedModel& saved, const Lines& lines, int64_t sentences = 4,
                                        const std::string& prefix = "") {
    steps_ = 0;
    return translate_lines(saved, lines, options_, {.sentences = sentences, .searches = searches_}, prefix,
                           &steps_);
  }
  TranslatedLine translate(const std::string& line, const std::string& prefix = "") {
    return translate(model_ ? *model_ : model(), {line}, 4, prefix)[0];
  }

  SearchOptions options_ = {.beam = 3, .max_length = 20};
  RequestedPrecision precision_ = RequestedPrecision::as_saved;
  int64_t steps_ = 0;
  int searches_ = 1;
  std::unique_ptr<ModelFolder> folder_;
  std::unique_ptr<SavedModel> model_;
};

void expect_same(const TranslatedLine& got, const TranslatedLine& wanted) {
  EXPECT_EQ(got.source, wanted.source);
  ASSERT_EQ(got.translations.size(), wanted.translations.size());
  for (size_t i = 0; i < got.translations.size(); ++i) {
    EXPECT_EQ(got.translations[i].text, wanted.translations[i].text);
    EXPECT_EQ(got.translations[i].score, wanted.translations[i].score);
  }
}

const Lines mixed_lines = {"The cat sleeps.",
                           "",
                           "Where is it?",
                           "   ",
                           "The cat sleeps.",
                           "b\xff"
                           "d",
                           "dog dog dog",
                           "",
                           std::string("a\0b", 3),
                           "It is cold."};

TEST_F(LinesTest, EveryLineComesBackInItsPlace) {
  const auto done = translate(model(), mixed_lines);
  ASSERT_EQ(done.size(), mixed_lines.size());
  for (size_t i = 0; i < done.size(); ++i) {
    const bool is_text = i != 5 && i != 8;
    EXPECT_EQ(done[i].invalid, !is_text);
    EXPECT_EQ(done[i].source == mixed_lines[i], is_text);
    const bool empty = i == 1 || i == 3 || i == 7;
    EXPECT_EQ(done[i].translations[0].text.empty(), empty) << i;
  }
  EXPECT_EQ(done[5].source, "b\uFFFDd");
  EXPECT_EQ(done[8].source, "a\uFFFDb");
}

TEST_F(LinesTest, ALineGetsWhatItGetsAlone) {
  for (const bool sample : {false, true}) {
    for (const RequestedPrecision precision :
         {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
      precision_ = precision;
      options_ = {.beam = 3, .nbest = 2, .max_length = 20, .sample = sample};
      const auto wanted = translate(model(), mixed_lines, 1);
      for (const int threads : {1, 2}) {
        for (const int64_t sentences : {2, 7, 32}) {
          const auto got = translate(model(threads), mixed_lines, sentences);
          ASSERT_EQ(got.size(), wanted.size());
          for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
        }
      }
    }
  }
}

// Short lines, no two of them the same: lines that are would not fill a batch.
Lines different_lines() {
  Lines lines;
  for (const std::string who : {"The cat", "A dog", "It", "We", "The station"}) {
    for (const std::string what : {" sleeps", " barks", " is", " go", " is cold", " is home"}) {
      for (const std::string where : {"", " at home", " at the dog", ", and we go", " where it is"})
        lines.push_back(who + what + where + ".");
    }
  }
  return lines;
}

TEST_F(LinesTest, ALineGetsWhatItGetsAloneInAFullBatch) {
  const Lines lines = different_lines();
  for (const RequestedPrecision precision :
       {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
    precision_ = precision;
    for (const bool sample : {false, true}) {
      options_ = {.beam = 2, .nbest = 2, .max_length = 6, .sample = sample};
      const auto wanted = translate(model(), lines, 1);
      const int64_t steps = steps_;
      const auto got = translate(model(2), lines, 128);
      EXPECT_LT(steps_, steps / 50) << "so many at once";
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
      searches_ = 3;
      const auto side_by_side = translate(*model_, lines, 16);
      searches_ = 1;
      ASSERT_EQ(side_by_side.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) expect_same(side_by_side[i], wanted[i]);
    }
  }
}

// Drawn by the seed and the line, whatever was translated before.
TEST_F(LinesTest, ASampleIsItsLinesOwn) {
  options_ = {.max_length = 12, .sample = true};
  const TranslatedLine alone = translate("The cat sleeps.");
  const auto among =
      translate(*model_, {"It is cold.", "The cat sleeps.", "A dog barks.", "The cat sleeps."});
  expect_same(among[1], alone);
  expect_same(among[3], alone);
  options_.seed = 2;
  EXPECT_NE(translate("The cat sleeps.").translations[0].text, alone.translations[0].text);
}

TEST_F(LinesTest, ALineGetsWhatItGetsAloneOnEveryTable) {
  options_ = {.beam = 4, .nbest = 4, .max_length = 20};
  for (const Kernels* kernels : every_table()) {
    for (const RequestedPrecision precision :
         {RequestedPrecision::fp32, RequestedPrecision::bf16, RequestedPrecision::int8}) {
      SCOPED_TRACE(kernels->name);
      precision_ = precision;
      const auto wanted = translate(model(1, 40, *kernels), mixed_lines, 1);
      const auto got = translate(model(2, 40, *kernels), mixed_lines, 7);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
    }
  }
}

TEST_F(LinesTest, AlternativesAreSortedAndTheirTextsDiffer) {
  options_ = {.beam = 300, .nbest = 300, .max_length = 3};  // some are the same letters in other pieces
  const TranslatedLine line = translate("The cat sleeps.");
  EXPECT_GT(line.translations.size(), 2U);
  EXPECT_LT(line.translations.size(), 300U);
  EXPECT_TRUE(std::ranges::is_sorted(line.translations, std::greater{}, &Translation::score));
  for (size_t i = 0; i < line.translations.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(line.translations[i].text, line.translations[j].text);
  }
}

TEST_F(LinesTest, ATranslationBeginsWithItsPrefix) {
  const std::string text = "A dog is here, where it is cold.";
  for (size_t size = 1; size <= text.size(); ++size) {  // inside a word, too
    const std::string prefix = text.substr(0, size);
    if (prefix.ends_with(' ')) continue;
    const TranslatedLine line = translate("The cat sleeps.", prefix);
    EXPECT_TRUE(line.translations[0].text.starts_with(prefix)) << prefix << "|" << line.translations[0].text;
  }
}

TEST_F(LinesTest, WhatTheModelDoesNotKnowIsFlagged) {
  EXPECT_TRUE(translate("The cat Ω.").unknown);
  EXPECT_FALSE(translate("The cat.").unknown);
}

// A line that is too long is what its sentences are, with the white space between them.
TEST_F(LinesTest, LongLinesAreSplitBetweenSentences) {
  SavedModel& saved = model(1, 16);
  const std::string first = translate("The cat sleeps.").translations[0].text,
                    second = translate("Where is the dog?").translations[0].text,
                    third = translate("It is cold.").translations[0].text;
  const TranslatedLine line = translate(saved, {"  The cat sleeps.  Where is the dog?\tIt is cold.  "})[0];
  EXPECT_EQ(line.translations[0].text, first + "  " + second + "\t" + third);
  const auto parts = split_line(saved, "The cat sleeps.  Where is the dog?\tIt is cold.");
  ASSERT_EQ(parts.size(), 3U);
  for (const Segment& part : parts) EXPECT_FALSE(part.cut);
  EXPECT_EQ(split_line(saved, "It is. It is.", {.split_sentences = "none"}).size(), 1U) << "short enough";
}

TEST_F(LinesTest, SentencesAreTranslatedOneByOneWhereThatIsWanted) {
  model(1, 64);
  const std::string first = translate("Mr. Cat sleeps.").translations[0].text,
                    second = translate("It is cold.").translations[0].text;
  for (const char* language : {"en", "any"}) {
    options_.split_sentences = language;
    EXPECT_EQ(translate("Mr. Cat sleeps.  It is cold. ").translations[0].text, first + "  " + second);
    EXPECT_EQ(translate("It is cold.").translations[0].text, second);
  }
}

TEST_F(LinesTest, ALongSentenceIsSplitBetweenWordsAndSaysSo) {
  SavedModel& saved = model(1, 10);
  std::string text;
  for (int i = 0; i < 30; ++i) text += "the dog sleeps ";
  std::vector<int32_t> joined;
  for (const Segment& part : split_line(saved, text)) {
    EXPECT_TRUE(part.cut);
    EXPECT_LE(part.ids.size(), 11U);
    EXPECT_EQ(part.ids.back(), eos_id);
    EXPECT_TRUE(saved.vocabularies.source->piece(part.ids[0]).starts_with("▁"));
    joined.insert(joined.end(), part.ids.begin(), part.ids.end() - 1);
  }
  EXPECT_EQ(joined, saved.vocabularies.source->encode(text)) << "nothing is left out";
  EXPECT_TRUE(translate(text).cut);
  EXPECT_GT(split_line(saved, std::string(100, 'a')).size(), 5U) << "one word of a hundred letters";
}

// It is encoded a stretch at a time, which changes neither the pieces nor where they stand.
TEST_F(LinesTest, AVeryLongSentenceHasThePiecesOfItsWords) {
  SavedModel& saved = model(1, 10);
  std::string text;
  while (text.size() < 50'000) text += "Où the dog  sleeps ";
  std::vector<int32_t> joined;
  for (const Segment& part : split_line(saved, text)) {
    for (size_t i = 0; i + 1 < part.ids.size(); ++i) {
      const std::string& piece = saved.vocabularies.source->piece(part.ids[i]);
      const std::string said = text.substr(part.spans[i].begin, part.spans[i].end - part.spans[i].begin);
      EXPECT_TRUE(part.ids[i] == unknown_id || said.ends_with(piece.substr(piece.starts_with("▁") ? 3 : 0)))
          << said << " for " << piece;
      joined.push_back(part.ids[i]);
    }
  }
  EXPECT_EQ(joined, saved.vocabularies.source->encode(text));
}

TEST_F(LinesTest, ATranslationThatHadToEndIsFlagged) {
  options_ = {.beam = 1, .max_length = 2};
  EXPECT_TRUE(translate("The cat sleeps.").cut);
}

TEST(Loops, AreStretchesOfFourRounds) {
  const auto loop = [](std::vector<int32_t> tokens) { return longest_loop(tokens); };
  EXPECT_EQ(loop({1, 2, 3, 4, 5}), 0);
  EXPECT_EQ(loop({9, 7, 7, 7, 8}), 0);
  EXPECT_EQ(loop({9, 7, 7, 7, 7, 8}), 4);
  EXPECT_EQ(loop({1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}), 14);
  EXPECT_EQ(loop({1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 2, 3}), 0);
  const std::vector<int32_t> ten(10, 5), forty(40, 5), none = {1, 2};
  EXPECT_FALSE(is_loop(ten, none));
  EXPECT_TRUE(is_loop(forty, none));
  EXPECT_FALSE(is_loop(forty, forty)) << "the source says it so often, too";
}

// Random weights like to loop: what does must come out without.
TEST_F(LinesTest, LoopsAreTranslatedAgainWithoutThem) {
  options_ = {.beam = 1, .max_length = 60, .max_length_ratio = 0};
  int looped = 0;
  for (const TranslatedLine& line : translate(model(), known_lines())) {
    std::vector<std::string> pieces;
    for (const ScoredPiece& piece : line.translations[0].pieces) pieces.push_back(piece.piece);
    looped += line.repeats;
    if (!line.repeats) continue;
    for (size_t i = 0; i + 3 <= pieces.size(); ++i) {
      const auto next = std::search(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, pieces.end(),
                                    pieces.begin() + static_cast<std::ptrdiff_t>(i),
                                    pieces.begin() + static_cast<std::ptrdiff_t>(i) + 3);
      EXPECT_TRUE(next == pieces.end());
    }
  }
  EXPECT_GT(looped, 0);
}

std::string error_of(const std::string& folder) {
  try {
    SavedModel(folder, kernels_for(nullptr), 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(LinesTest, AFolderThatDoesNotHoldTogetherIsRefused) {
  model();
  const std::string path = folder_->path, config = read_file(path + "/config.json");
  nlohmann::json other = nlohmann::json::parse(config);
  other["model"]["source_vocabulary"] = other["model"]["target_vocabulary"] = 99;
  write_file(path + "/config.json", {other.dump()});
  EXPECT_NE(error_of(path).find("99 source tokens"), std::string::npos) << error_of(path);
  other = nlohmann::json::parse(config);
  other["model"]["d_model"] = 1'000'000;  // a million times a million, in every layer
  other["model"]["encoder_layers"] = 1000;
  write_file(path + "/config.json", {other.dump()});
  EXPECT_NE(error_of(path).find("model.safetensors: tensor"), std::string::npos) << error_of(path);
  other = nlohmann::json::parse(config);
  const auto expect_error = [&](const char* place, const nlohmann::json& value, const std::string& wanted) {
    other = nlohmann::json::parse(config);
    other[nlohmann::json::json_pointer(place)] = value;
    write_file(path + "/config.json", {other.dump()});
    EXPECT_TRUE(error_of(path).starts_with(path + "/config.json" + wanted)) << error_of(path);
  };
  const std::string length_must = ", but must be a whole number, 1 to 1000000";
  expect_error("/recipe/data/max_length", "many", ": data.max_length is \"many\"" + length_must);
  expect_error("/recipe/data/max_length", 1.5, ": data.max_length is 1.5" + length_must);
  expect_error("/recipe/data/max_length", -5, ": data.max_length is -5" + length_must);
  expect_error("/recipe/vocabulary/source_eos", 1, ": vocabulary.source_eos is 1, but must be true or false");
  expect_error("/format", 0, " has format 0, but format numbers start at 1");
  expect_error("/format", -3, " has format -3, but");
  expect_error("/format", "1", " has format \"1\", but");
  expect_error("/format", 2, " has format 2, but this version reads formats up to 1");
  write_file(path + "/config.json", {config});
  EXPECT_EQ(error_of(path), "no error");
  std::filesystem::remove(path + "/model.safetensors");
  EXPECT_NE(error_of(path).find("model.safetensors"), std::string::npos) << error_of(path);
  EXPECT_NE(error_of("/nowhere").find("/nowhere"), std::string::npos) << error_of("/nowhere");
}

// The memory of a long text is mostly that of its pieces.
TEST_F(LinesTest, PiecesAreLeftOutWhereNobodyWantsThem) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "The cat sleeps. Where is it? ";
  SteppedTranslator translator(model());
  options_.nbest = 2;
  translator.add(0, {.text = text, .options = options_});
  translator.add(1, {.text = text, .options = options_, .tokens = false});
  std::vector<TranslatedLine> done(2);
  while (translator.busy()) {
    for (TranslationResult& result : translator.step()) done[result.id] = std::move(result.line);
  }
  expect_same(done[1], done[0]);
  EXPECT_FALSE(done[0].translations[0].pieces.empty());
  for (const Translation& translation : done[1].translations) EXPECT_TRUE(translation.pieces.empty());
}

// Its segments take turns in the batch: those that have not begun yet hold no place, and have no search to cancel.
TEST_F(LinesTest, ALongLineCanBeCancelledBesideAShortOne) {
  std::string text;  // of different sentences: equal ones are translated once
  for (int i = 0; i < 100; ++i) {
    for (int n = i; n > 0; n /= 3) text += "act"[n % 3];
    text += " sleeps. ";
  }
  SteppedTranslator translator(model(), {.sentences = 4});
  translator.add(0, {.text = "Where is it?", .options = options_});
  translator.add(1, {.text = text, .options = options_});
  translator.step();
  EXPECT_EQ(translator.sentences_under_way(), 4);
  translator.cancel(1);
  std::vector<SearchStatus> status(2, SearchStatus::failed);
  while (translator.busy()) {
    for (const TranslationResult& result : translator.step()) status.at(result.id) = result.status;
  }
  EXPECT_EQ(status, (std::vector{SearchStatus::finished, SearchStatus::cancelled}));
}

}  // namespace
}  // namespace dragoman::internal
