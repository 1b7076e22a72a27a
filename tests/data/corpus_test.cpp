#include "data/corpus.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/corpora.h"

namespace dragoman::internal {
namespace {

struct Read {
  uint64_t index;
  int64_t origin;
  bool invalid;
  std::string source, target;

  bool operator==(const Read&) const = default;
};

std::vector<Read> read_all(const DataConfig& data) {
  std::vector<Read> pairs;
  CorpusReader reader(corpus_sources(data), data.swap, data.limit);
  for (RawPair pair; reader.next(pair);) {
    pairs.push_back(
        {pair.index, pair.origin, pair.invalid, std::string(pair.source), std::string(pair.target)});
  }
  return pairs;
}

class CorpusTest : public testing::Test {
 protected:
  std::string error_of(const DataConfig& data) {
    try {
      read_all(data);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder;
};

TEST_F(CorpusTest, SourcesAreReadInOrder) {
  DataConfig data;
  data.source = {folder.write("a.s", "a\nb"), folder.write("b.s", "")};
  data.target = {folder.write("a.t", "A\r\nB\r\n"), folder.write("b.t", "")};
  data.tsv = {folder.write("c", "c\tC\nd\tD\tby somebody\r\nnone\n")};
  EXPECT_EQ(read_all(data), (std::vector<Read>{{0, 0, false, "a", "A"},
                                               {1, 0, false, "b", "B"},
                                               {2, 2, false, "c", "C"},
                                               {3, 2, false, "d", "D"},
                                               {4, 2, true, "", ""}}));
  data.swap = true;
  data.limit = 1;
  EXPECT_EQ(read_all(data), (std::vector<Read>{{0, 0, false, "A", "a"}, {1, 2, false, "C", "c"}}));
}

TEST_F(CorpusTest, TextOfOneSideHasNoSources) {
  DataConfig data;
  data.text = {folder.write("a", "A\r\nB\tC\n"), folder.write("b", "D")};
  EXPECT_EQ(read_all(data),
            (std::vector<Read>{{0, 0, false, "", "A"}, {1, 0, false, "", "B\tC"}, {2, 1, false, "", "D"}}));
  data.text = {folder.write("c", "A\tB\tC\nD\tE\nF\n")};
  data.text_column = 2;
  EXPECT_EQ(read_all(data),
            (std::vector<Read>{{0, 0, false, "", "B"}, {1, 0, false, "", "E"}, {2, 0, true, "", ""}}));
  data.text_column = 1;
  EXPECT_EQ(read_all(data)[2], (Read{2, 0, false, "", "F"}));
}

TEST_F(CorpusTest, InvalidTextIsCounted) {
  DataConfig data;
  data.source = {folder.write("s", "a\n\xFF\nb\n" + std::string("\0\n", 2) + "\n")};
  data.target = {folder.write("t", "A\nX\n\xC3(\nY\nB\n")};
  EXPECT_EQ(read_all(data), (std::vector<Read>{{0, 0, false, "a", "A"},
                                               {1, 0, true, "", ""},
                                               {2, 0, true, "", ""},
                                               {3, 0, true, "", ""},
                                               {4, 0, false, "", "B"}}));
}

TEST_F(CorpusTest, SidesOfDifferentLengthAreAnErrorWithBothCounts) {
  DataConfig data;
  data.source = {folder.write("s", "a\nb\nc\n")};
  data.target = {folder.write("t", "A\nB\nC\nD\nE\n")};
  EXPECT_EQ(error_of(data), fmt::format("{} has 3 lines, but {} has 5: they must correspond line by line",
                                        data.source[0], data.target[0]));
  std::swap(data.source, data.target);
  EXPECT_NE(error_of(data).find("has 5 lines, but"), std::string::npos);
  data.limit = 3;
  EXPECT_EQ(read_all(data).size(), 3U);
}

TEST_F(CorpusTest, ValidationLeavesOutEmptyAndInvalidPairs) {
  DroppedPairs left_out;
  const auto pairs = read_pairs({{folder.write("s", "a\n \n\xFF\nb\n"), folder.write("t", "A\nB\nC\nD\n")}},
                                false, left_out);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[1].source + pairs[1].target, "bD");
  EXPECT_EQ(left_out.empty, 1);
  EXPECT_EQ(left_out.invalid, 1);
}

// SentencePiece would take minutes for them.
TEST_F(CorpusTest, ValidationLeavesOutWhatIsNoSentence) {
  const std::string lines = "a\n" + std::string(100'000, 'x') + "\nb\n" + std::string(300'000, 'x') + "\n";
  const std::vector<CorpusSource> files = {{folder.write("s", lines), folder.write("t", "A\nB\nC\nD\n")}};
  DroppedPairs left_out;
  EXPECT_EQ(read_pairs(files, false, left_out).size(), 2U);
  EXPECT_EQ(left_out.too_long, 2);
  EXPECT_EQ(read_pairs(files, true, left_out).size(), 2U);
  left_out = {};
  EXPECT_EQ(read_pairs(files, false, left_out, 1000).size(), 3U);
  EXPECT_EQ(left_out.total(), 1);
}

std::string refused(const DataConfig& data) {
  try {
    validate(data);
  } catch (const OptionError& error) {
    return error.key;
  }
  return "";
}

// Older recipes and saved configurations have weights as strings, and every version reads those.
TEST(DataConfig, WeightsAreNumbersOrStringsOfThem) {
  DataConfig data;
  Options options;
  declare(options, data);
  for (const char* weights : {"[1, 0.5]", "[\"1\", \"0.5\"]"}) {
    data.weights.clear();
    options.read_recipe("[data]\nweights = " + std::string(weights), "r.toml");
    EXPECT_EQ(data.weights, (std::vector<double>{1, 0.5})) << weights;
    EXPECT_EQ(options.to_json()["data"]["weights"].dump(), R"(["1","0.5"])");
  }
  for (const char* wrong : {",1", "x,1", "-1,1", "inf,1", "nan,1", "1 ,1", "1e19,1", "1e308,1"})
    EXPECT_THROW(options.set_flag("data.weights", wrong), UsageError) << wrong;
}

TEST(DataConfig, ContradictionsAreRefused) {
  const DataConfig good = {.source = {"a"}, .target = {"b"}, .tsv = {"c"}, .weights = {1, 2.5}};
  EXPECT_EQ(refused(good), "");
  EXPECT_EQ(source_weights(good), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(source_weights({.source = {"a"}, .target = {"b"}}), (std::vector<double>{1}));
  const auto with = [&](auto change) {
    DataConfig data = good;
    change(data);
    return refused(data);
  };
  EXPECT_EQ(with([](DataConfig& d) { d.target = {}; }), "data.source");
  EXPECT_EQ(with([](DataConfig& d) { d.valid_source = {"v"}; }), "data.valid_source");
  EXPECT_EQ(with([](DataConfig& d) { d.weights = {1}; }), "data.weights");
  EXPECT_EQ(with([](DataConfig& d) { d.weights = {0, 0}; }), "data.weights");
  EXPECT_EQ(with([](DataConfig& d) { d.max_ratio = 0.5; }), "data.max_ratio");
  EXPECT_EQ(with([](DataConfig& d) { d.synthetic = Synthetic::copy; }), "data.synthetic");
  EXPECT_EQ(with([](DataConfig& d) { d.hold_out = 1, d.valid_source = d.valid_target = {"v"}; }),
            "data.hold_out");
  EXPECT_EQ(with([](DataConfig& d) { d.text = {"x"}, d.weights = {}; }), "data.text");
  EXPECT_EQ(with([](DataConfig& d) { d.valid_text = {"x"}; }), "data.valid_text");
  EXPECT_EQ(with([](DataConfig& d) { d.text_column = 1; }), "data.text_column");
  EXPECT_EQ(with([](DataConfig& d) { d.documents = true; }), "data.documents");
  const auto with_text = [&](auto change) {
    DataConfig data = {.text = {"a", "b"}, .weights = {1, 2}};
    change(data);
    return refused(data);
  };
  EXPECT_EQ(with_text([](DataConfig& d) { d.valid_text = {"v"}; }), "");
  EXPECT_EQ(with_text([](DataConfig& d) { d.weights = {1}; }), "data.weights");
  EXPECT_EQ(with_text([](DataConfig& d) { d.swap = true; }), "data.swap");
  EXPECT_EQ(with_text([](DataConfig& d) { d.terms = "t"; }), "data.terms");
  EXPECT_EQ(with_text([](DataConfig& d) { d.max_ratio = 2; }), "data.max_ratio");
  EXPECT_EQ(with_text([](DataConfig& d) { d.from = "en"; }), "data.from");
  EXPECT_EQ(with_text([](DataConfig& d) { d.format = TextFormat::sgm; }), "data.format");
  EXPECT_EQ(with_text([](DataConfig& d) { d.valid_source = d.valid_target = {"v"}; }), "data.valid_source");
  EXPECT_EQ(with_text([](DataConfig& d) { d.hold_out = 1, d.valid_text = {"v"}; }), "data.hold_out");
  EXPECT_EQ(with_text([](DataConfig& d) { d.synthetic = Synthetic::copy; }), "data.synthetic");
  EXPECT_THROW(require_corpus({}), OptionError);
  EXPECT_NO_THROW(require_corpus(good));
}

TEST(VocabularyConfig, ContradictionsAreRefused) {
  EXPECT_NO_THROW(validate(VocabularyConfig{}));
  EXPECT_THROW(validate({.kind = PieceKind::words, .sampling = 0.1}), OptionError);
  EXPECT_THROW(validate({.kind = PieceKind::bpe, .min_frequency = 2}), OptionError);
  EXPECT_THROW(validate({.kind = PieceKind::words, .byte_fallback = true}), OptionError);
  EXPECT_THROW(validate({.size = 200, .byte_fallback = true}), OptionError);
  EXPECT_THROW(validate({.size = 3}), OptionError);
  EXPECT_THROW(validate({.tokenizer = WordTokenizer::simple}), OptionError);
  EXPECT_NO_THROW(validate({.kind = PieceKind::words, .tokenizer = WordTokenizer::simple, .size = 0}));
  EXPECT_NO_THROW(validate({.kind = PieceKind::characters, .size = 0, .byte_fallback = true}));
  for (const PieceKind kind : {PieceKind::bpe, PieceKind::unigram})
    EXPECT_THROW(validate({.kind = kind, .size = 0}), OptionError);
}

}  // namespace
}  // namespace dragoman::internal
