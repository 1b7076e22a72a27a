#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/language_tokens.h"
#include "text/protobuf.h"
#include "text/spm_fields.h"
#include "text/spm_file.h"
#include "text/toy_text.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

// The tokens of a .spm file backwards, as if another system had numbered them, between tokens of that system.
class TokenTableTest : public testing::Test {
 protected:
  TokenTableTest() : spm(spm_file(toy_text(200).source_lines, 60, {0, 1, 2})), plain(spm, "plain.spm") {
    table.tokens = {"</s>", "<unk>", ">>fra<<", "ß"};
    for (int64_t i = plain.size() - 1; i > 2; --i)
      table.tokens.push_back(plain.piece(static_cast<int32_t>(i)));
    table.tokens.emplace_back("<pad>");
    table.unknown = 1;
    table.end = 0;
    table.start = static_cast<int32_t>(table.tokens.size()) - 1;
    table.suppressed = {table.start};
  }

  Vocabulary vocabulary() const { return {with_token_table(spm, table), "table.spm"}; }

  std::string error_of(const std::string& model) const {
    try {
      Vocabulary(model, "table.spm");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const std::string spm;
  const Vocabulary plain;
  TokenTable table;
};

TEST_F(TokenTableTest, GoesWithTheFile) {
  EXPECT_EQ(token_table_of(with_token_table(spm, table), "a"), table);
  EXPECT_EQ(token_table_of(spm, "a"), std::nullopt);
}

TEST_F(TokenTableTest, KnowsLanguagesAndForcedTokens) {
  table.forced_prefix = {5};
  table.languages = {{{"fra", 2}, {"deu", 3}}, Languages::TokenPosition::after_end, true};
  EXPECT_EQ(token_table_of(with_token_table(spm, table), "a"), table);
  const Vocabulary other = vocabulary();
  EXPECT_EQ(other.languages(), table.languages);
  EXPECT_EQ(other.forced_prefix(), table.forced_prefix);
  EXPECT_TRUE(other.is_special(3));
  std::vector<int32_t> ids = other.encode("kalo");
  ids.insert(ids.begin(), 2);
  EXPECT_EQ(other.decode(ids), "kalo");
}

// Those of a joint list that only the other language's .spm file has.
TEST_F(TokenTableTest, TokensThatTheFileLacksAreWordsToo) {
  table.tokens.emplace_back("▁chatte");
  const Vocabulary other = vocabulary();
  const int32_t chatte = other.id("▁chatte"), eszett = other.id("ß");
  const TextOfPieces decoded = other.decode_with_spans(std::vector{chatte, eszett, chatte, chatte});
  EXPECT_EQ(decoded.text, "chatteß chatte chatte");
  std::vector<std::string> words;
  for (const TextSpan& span : decoded.spans)
    words.push_back(decoded.text.substr(span.begin, span.end - span.begin));
  EXPECT_EQ(words, (std::vector<std::string>{"chatte", "ß", " chatte", " chatte"}));
}

TEST_F(TokenTableTest, ASourceHasItsLanguageWhereTheModelWantsIt) {
  using TokenPosition = Languages::TokenPosition;
  for (const auto& [position, expected] : {std::pair(TokenPosition::first, std::vector{2, 9, 0}),
                                           {TokenPosition::before_end, std::vector{9, 2, 0}},
                                           {TokenPosition::after_end, std::vector{9, 0, 2}}}) {
    table.languages = {{{"fra", 2}}, position, false};
    std::vector<int32_t> ids = {9};
    source_frame(vocabulary(), true, 2).add_to(ids);
    EXPECT_EQ(ids, expected);
  }
}

TEST_F(TokenTableTest, TheDecoderReadsTheLanguageAndWhatIsForced) {
  table.languages = {{{"fra", 2}}, {}, false};
  EXPECT_EQ(start_tokens(vocabulary(), 2).all(), (std::vector{table.start, 2}));
  table.forced_prefix = {7};
  EXPECT_EQ(start_tokens(vocabulary(), 2).all(), (std::vector{table.start, 2, 7}));
  EXPECT_EQ(start_tokens(vocabulary(), {}).all(), (std::vector{table.start, 7}));
  table.languages.replaces_start = true;
  EXPECT_EQ(start_tokens(vocabulary(), 2).all(), (std::vector{2, 7}));
}

TEST_F(TokenTableTest, IdsArePlacesInTheTable) {
  const Vocabulary other = vocabulary();
  EXPECT_EQ(other.size(), std::ssize(table.tokens));
  EXPECT_EQ(other.special(), (SpecialTokens{.unknown = 1, .start = table.start, .end = 0}));
  EXPECT_EQ(other.suppressed(), table.suppressed);
  for (int32_t id = 0; id < other.size(); ++id) {
    EXPECT_EQ(other.piece(id), table.tokens[static_cast<size_t>(id)]);
    EXPECT_EQ(other.id(other.piece(id)), id);
  }
}

TEST_F(TokenTableTest, TextIsSplitIntoTheSamePieces) {
  const Vocabulary other = vocabulary();
  for (const std::string& line : toy_text(20, 12, 2).source_lines) {
    const PiecesOfText expected = plain.encode_with_spans(line), pieces = other.encode_with_spans(line);
    ASSERT_EQ(pieces.ids.size(), expected.ids.size());
    EXPECT_EQ(pieces.spans, expected.spans);
    for (size_t i = 0; i < pieces.ids.size(); ++i)
      EXPECT_EQ(other.piece(pieces.ids[i]), plain.piece(expected.ids[i]));
    EXPECT_EQ(other.encode(line), pieces.ids);
    EXPECT_EQ(other.decode(pieces.ids), plain.decode(expected.ids));
    EXPECT_EQ(other.score(pieces.ids[0]), plain.score(expected.ids[0]));
  }
}

// SentencePiece returns it as a piece of its own, which the other side's pieces in a joint table may contain.
TEST_F(TokenTableTest, AnUnknownCharacterMayBeAToken) {
  const Vocabulary other = vocabulary();
  const std::vector<int32_t> ids = other.encode("kaßka q");
  EXPECT_EQ(std::ranges::count(ids, other.id("ß")), 1);
  EXPECT_EQ(std::ranges::count(ids, other.special().unknown), 1);
  EXPECT_EQ(other.decode(std::vector{other.id("ß")}), "ß");
}

TEST_F(TokenTableTest, ALanguageIsOneTokenAtTheBeginning) {
  const Vocabulary other = vocabulary();
  std::vector<int32_t> expected = other.encode("kalo");
  expected.insert(expected.begin(), 2);
  EXPECT_EQ(other.encode(">>fra<< kalo"), expected);
  EXPECT_EQ(other.encode_with_spans(">>fra<< kalo").spans[0], (TextSpan{0, 7}));
  for (const char* text : {"kalo >>fra<<", ">>deu<< kalo", ">>fra kalo"})
    EXPECT_EQ(std::ranges::count(other.encode(text), 2), 0) << text;
  EXPECT_EQ(other.encode(">>fra<<"), std::vector{2});
}

TEST_F(TokenTableTest, MarksAreNoText) {
  const Vocabulary other = vocabulary();
  std::vector<int32_t> ids = other.encode("kalo sundo");
  ids.insert(ids.begin(), table.start);
  ids.insert(ids.begin() + 2, table.suppressed[0]);
  ids.push_back(table.end);
  EXPECT_EQ(other.decode(ids), "kalo sundo");
  EXPECT_TRUE(other.is_special(1) && other.is_special(0) && other.is_special(table.start));
  EXPECT_FALSE(other.is_special(3));
}

TEST_F(TokenTableTest, TheFirstOfEqualTokensIsTheOneThatATextHas) {
  table.tokens[3] = table.tokens[5];
  EXPECT_EQ(vocabulary().id(table.tokens[5]), 3);
}

TEST_F(TokenTableTest, DamageIsAnError) {
  const std::string whole = with_token_table(spm, table);
  for (const auto& damage : std::vector<std::function<void(TokenTable&)>>{
           [](TokenTable& t) { t.unknown = -1; }, [](TokenTable& t) { t.unknown = 1000; },
           [](TokenTable& t) { t.suppressed.push_back(1000); },
           [](TokenTable& t) { t.forced_prefix.push_back(1000); },
           [](TokenTable& t) { t.languages.tokens.emplace_back("fra", 1000); },
           [](TokenTable& t) { t.languages.tokens.emplace_back("", 2); },
           [](TokenTable& t) { t.tokens.clear(); }, [](TokenTable& t) { t.tokens[7] = "a\xff"; }}) {
    TokenTable damaged = table;
    damage(damaged);
    EXPECT_TRUE(error_of(with_token_table(spm, damaged)).starts_with("table.spm "))
        << error_of(with_token_table(spm, damaged));
  }
  for (const std::string_view cut : {"\x0a\x05"
                                     "ab",
                                     "\x0a", "\x07"}) {
    const std::string said = error_of(spm + protobuf_field(1001, cut));
    EXPECT_TRUE(said.starts_with("table.spm has a damaged token table: ")) << said;
  }
  for (size_t size = spm.size() + 1; size < whole.size(); ++size)
    EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
}

}  // namespace
}  // namespace dragoman::internal
