// Translating with a shortlist: what it forbids is not said, what it allows is said as before, and a sentence's words
// are its own.
#include "search/shortlist.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "search/model_folder.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

class ShortlistTest : public testing::Test {
 protected:
  int32_t size() const { return static_cast<int32_t>(pieces().size()); }
  const Vocabulary& pieces() const { return *model_.vocabularies.target; }
  Ids every_word() const {
    Ids ids(static_cast<size_t>(size()));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }
  // Every piece may become itself, or the one after it.
  Lexicon neighbours() const {
    Lexicon lexicon = {.frequent = {5, 4}, .translations = {}};
    for (int32_t id = 0; id < size(); ++id) lexicon.translations.push_back({(id + 1) % size(), id});
    return lexicon;
  }
  void write(const Lexicon& lexicon) { write_shortlist(folder_.path, lexicon, model_.vocabularies); }
  Shortlist read() const { return Shortlist::read(folder_.path, model_.vocabularies); }
  std::string error() const {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<TranslatedLine> translate(SavedModel& model, int64_t sentences = 4,
                                        const std::string& prefix = "") {
    return translate_lines(model, lines_, options_, {.sentences = sentences}, prefix);
  }
  Ids words_for(const std::string& line) const { return read().words_for(model_.encode_source(line), {}); }

  const ModelFolder folder_{"model"};
  SavedModel model_{folder_.path, kernels_for(nullptr), 1};
  SearchOptions options_ = {.beam = 3, .nbest = 2, .max_length = 20};
  const std::vector<std::string> lines_ = {"The cat sleeps.", "Where is it?", "A dog barks at the cat.",
                                           "It is cold.",     "home",         "cat cat dog"};
};

void expect_same(const std::vector<TranslatedLine>& got, const std::vector<TranslatedLine>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].translations.size(), wanted[i].translations.size());
    for (size_t n = 0; n < got[i].translations.size(); ++n) {
      EXPECT_EQ(got[i].translations[n].text, wanted[i].translations[n].text);
      EXPECT_EQ(got[i].translations[n].score, wanted[i].translations[n].score);
    }
  }
}

TEST_F(ShortlistTest, TheWordsOfASentence) {
  write(neighbours());
  EXPECT_EQ(read().words_for(Ids{7, 3}, Ids{9, 3}), (Ids{eos_id, 3, 4, 5, 7, 8, 9}));
  Shortlist list = read();
  write_file(folder_.path + "/mine", {"dog\n\n"});
  list.allow_words_of(folder_.path + "/mine", pieces());
  for (const int32_t id : pieces().encode("dog")) EXPECT_TRUE(std::ranges::count(list.words_for({}, {}), id));
}

TEST_F(ShortlistTest, WhatAllowsEverythingChangesNothing) {
  for (const bool sample : {false, true}) {
    options_.sample = sample, options_.shortlist = false;
    const auto wanted = translate(model_);
    Lexicon lexicon = neighbours();
    lexicon.frequent = every_word();
    write(lexicon);
    options_.shortlist = true;
    expect_same(translate(model_), wanted);
  }
}

TEST_F(ShortlistTest, OnlyWhatIsAllowedIsSaid) {
  options_.no_repeat_ngram = 2, options_.repetition_penalty = 1.2, options_.min_length = 4;
  const auto freely = translate(model_);
  write(neighbours());
  options_.shortlist = true;
  const auto done = translate(model_);
  bool any_other = false;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const Ids allowed = words_for(lines_[i]);
    ASSERT_LT(std::ssize(allowed), size());
    for (const ScoredPiece& piece : done[i].translations[0].pieces)
      EXPECT_TRUE(std::ranges::count(allowed, pieces().id(piece.piece))) << piece.piece;
    any_other |= done[i].translations[0].text != freely[i].translations[0].text;
  }
  EXPECT_TRUE(any_other);
  for (const TranslatedLine& line : translate(model_, 4, "A dog"))
    EXPECT_TRUE(line.translations[0].text.starts_with("A dog")) << "a prefix is allowed";
}

TEST_F(ShortlistTest, ASentenceGetsWhatItGetsAlone) {
  write(neighbours());
  options_.shortlist = true;
  for (const RequestedPrecision precision : {RequestedPrecision::fp32, RequestedPrecision::int8}) {
    SavedModel one_thread(folder_.path, kernels_for(nullptr), 1, precision);
    SavedModel two_threads(folder_.path, kernels_for(nullptr), 2, precision);
    for (const bool sample : {false, true}) {
      options_.sample = sample;
      const auto wanted = translate(one_thread, 1);
      for (const int64_t sentences : {2, 7, 32}) {
        expect_same(translate(one_thread, sentences), wanted);
        expect_same(translate(two_threads, sentences), wanted);
      }
    }
  }
}

TEST_F(ShortlistTest, AFileThatDoesNotFitIsRefused) {
  EXPECT_NE(error().find("--shortlist"), std::string::npos) << error();
  write_file(folder_.path + "/shortlist.safetensors", {"12345678"});
  EXPECT_NE(error().find("shortlist.safetensors"), std::string::npos) << error();
  for (const int32_t wrong : {-1, size()}) {
    Lexicon lexicon = neighbours();
    lexicon.translations[3][1] = wrong;
    write(lexicon);
    EXPECT_NE(error().find("damaged"), std::string::npos) << error();
  }
  Lexicon lexicon = neighbours();
  lexicon.translations.pop_back();
  write(lexicon);
  EXPECT_NE(error().find("damaged"), std::string::npos) << error();
  const auto changed = std::make_shared<const Vocabulary>(learn_vocabulary(
      {.kind = PieceKind::characters, .shared = true},
      []() -> Sentences {
        return [first = true]() mutable -> std::optional<std::string_view> {
          return std::exchange(first, false) ? std::optional<std::string_view>("a b c") : std::nullopt;
        };
      },
      "shared"));
  write_shortlist(folder_.path, neighbours(), {changed, changed});
  EXPECT_NE(error().find("other vocabularies"), std::string::npos) << error();
}

}  // namespace
}  // namespace dragoman::internal
