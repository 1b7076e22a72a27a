// Translation memories: what is found, what survives, what is refused.
#include "memory/memory.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "memory/builder.h"
#include "memory/part_writer.h"
#include "memory/read_segments.h"
#include "memory/similarity.h"
#include "memory/tmx_writer.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// What an Error says; empty if there is none.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

using Texts = std::map<std::string, std::string>;

class MemoryTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  std::string build(const std::vector<std::pair<std::string, std::string>>& segments) const {
    MemoryBuilder builder(path("memory"), "en", "fr");
    for (const auto& [source, target] : segments) builder.add({source, target, "test"});
    builder.finish();
    return path("memory");
  }

  // Without waiting for the disk.
  static void overwrite(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  static std::vector<std::string> targets(const std::vector<MemoryMatch>& matches) {
    std::vector<std::string> list;
    for (const MemoryMatch& match : matches) list.push_back(match.segment.target);
    return list;
  }

  static Texts all(const TranslationMemory& memory) {
    Texts segments;
    memory.for_each([&](const MemorySegmentView& segment) {
      EXPECT_TRUE(segments.emplace(segment.source, segment.target).second) << segment.source;
    });
    return segments;
  }

  TemporaryFolder folder_;
};

std::string random_text(Random& random, size_t vocabulary) {
  std::string text;
  for (uint64_t i = 0, n = 1 + random.below(9); i < n; ++i)
    text += (i == 0 ? "w" : " w") + std::to_string(random.below(vocabulary));
  return text;
}

TEST_F(MemoryTest, FindsWhatIsExactFirstAndThenWhatIsSimilar) {
  const TranslationMemory memory(build({{"Open the file", "Ouvrir le fichier"},
                                        {"Open the folder", "Ouvrir le dossier"},
                                        {"Close all windows", "Fermer toutes les fenêtres"},
                                        {"Open  the\tfile ", "Ouvrez le fichier"}}),
                                 MemoryAccess::read);
  const auto matches = memory.look_up("Open the file", {});
  EXPECT_EQ(targets(matches), (std::vector<std::string>{"Ouvrez le fichier", "Ouvrir le dossier"}));
  EXPECT_TRUE(matches[0].exact);
  EXPECT_EQ(matches[0].similarity, 1);
  EXPECT_FALSE(matches[1].exact);
  EXPECT_NEAR(matches[1].similarity, 2.0 / 3, 1e-9);
  EXPECT_TRUE(memory.look_up("Something else entirely", {}).empty());
}

TEST_F(MemoryTest, OfTextsThatDifferInCaseTheNewestIsFirst) {
  std::vector<std::pair<std::string, std::string>> segments;
  for (const char* source :
       {"Save file", "SAVE file", "save File", "Save File", "save FILE", "SAVE FILE", "sAve file"})
    segments.emplace_back(source, std::to_string(segments.size()));
  const TranslationMemory memory(build(segments), MemoryAccess::read);
  EXPECT_EQ(memory.look_up("saVe filE", {.match_case = false}).at(0).segment.target, "6");
}

TEST_F(MemoryTest, CaseAndNumbersCountUnlessToldOtherwise) {
  const TranslationMemory memory(build({{"Page 12 of 1,024", "Page 12 sur 1 024"}}), MemoryAccess::read);
  EXPECT_FALSE(memory.look_up("page 12 of 1,024", {}).at(0).exact);
  EXPECT_TRUE(memory.look_up("page 12 of 1,024", {.match_case = false}).at(0).exact);
  EXPECT_FALSE(memory.look_up("page 3 of 7", {.at_least = 0.1, .match_case = false}).at(0).exact);
  EXPECT_TRUE(memory.look_up("Page 3 of 7", {.match_numbers = false}).at(0).exact);
  EXPECT_FALSE(memory.look_up("Page of 7", {.at_least = 0.1, .match_numbers = false}).at(0).exact);
}

// Comparing them takes the square of their length: they are found where they are the same.
TEST_F(MemoryTest, VeryLongSegmentsAreNotCompared) {
  std::string words;
  for (int i = 0; i < 1500; ++i) words += ", ";
  const TranslationMemory memory(build({{words + "a", "x"}}), MemoryAccess::read);
  EXPECT_TRUE(memory.look_up(words + "a", {}).at(0).exact);
  EXPECT_TRUE(memory.look_up(words + "b", {}).empty());
}

TEST_F(MemoryTest, VeryLongSegmentsAreNotSimilarToShorterOnes) {
  const auto words = [](const char* word, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += word + std::to_string(i) + " ";
    return text;
  };
  const TranslationMemory memory(build({{words("v", 1000), "as long as it may be"},
                                        {words("w", 1001), "many words"},
                                        {words("x", 20) + std::string(70'000, 'y'), "many bytes"}}),
                                 MemoryAccess::read);
  EXPECT_EQ(memory.look_up(words("v", 600), {}).size(), 1u);
  EXPECT_TRUE(memory.look_up(words("w", 600), {}).empty());
  EXPECT_TRUE(memory.look_up(words("x", 20), {}).empty());
}

// As in a corpus of short messages: the time must not grow with the square of their number.
TEST_F(MemoryTest, ManySegmentsHaveTheSameSource) {
  constexpr int segments = is_sanitized ? 10'000 : 100'000;
  std::string bytes;
  PartWriter writer([&](std::string_view more) { bytes += more; });
  for (int i = 0; i < segments; ++i) writer.add({"Yes", std::to_string(i), "test"});
  writer.finish();
  const auto part = std::make_shared<const MemoryPart>(MemoryPart::of(std::move(bytes)));
  std::vector<std::string> newest;
  for_each_newest({&part, 1}, [&](const MemorySegmentView& segment) { newest.emplace_back(segment.target); });
  EXPECT_EQ(newest, (std::vector<std::string>{std::to_string(segments - 1)}));
  const auto with_key = [&] { return part->with_key(memory_key("Yes"), false); };
  EXPECT_EQ(std::ssize(with_key()), segments);
  EXPECT_EQ(with_key().data(), with_key().data()) << "they were copied";
}

TEST_F(MemoryTest, ComposedAndDecomposedCharactersAreTheSame) {
  const TranslationMemory memory(build({{"caf\u00e9", "coffee"}}), MemoryAccess::read);
  EXPECT_TRUE(memory.look_up("cafe\u0301", {}).at(0).exact);
}

// The index looks at few segments; a plain search through all of them finds nothing better.
TEST_F(MemoryTest, FindsTheMostSimilarOfAll) {
  Random random(1);
  std::vector<std::pair<std::string, std::string>> segments;
  for (int i = 0; i < 2000; ++i) segments.emplace_back(random_text(random, 60), std::to_string(i));
  const TranslationMemory memory(build(segments), MemoryAccess::read);
  int worse = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string text = random_text(random, 60);
    double best = 0;
    for (const auto& [source, target] : segments)
      best = std::max(best, similarity(memory_words(text), memory_words(source), 0));
    const auto found = memory.look_up(text, {.at_least = 0});
    worse += found.empty() || found[0].similarity < std::min(best, 0.99) - 1e-9;
  }
  EXPECT_LE(worse, 3);
}

TEST_F(MemoryTest, SimilarityIsLevenshteins) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const auto a = memory_words(random_text(random, 4)), b = memory_words(random_text(random, 4));
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t x = 0; x <= a.size(); ++x)
      for (size_t y = 0; y <= b.size(); ++y)
        d[x][y] = x == 0   ? y
                  : y == 0 ? x
                           : std::min({d[x - 1][y] + 1, d[x][y - 1] + 1,
                                       d[x - 1][y - 1] + (a[x - 1] == b[y - 1] ? 0 : 1)});
    const double expected =
        1 - static_cast<double>(d[a.size()][b.size()]) / static_cast<double>(std::max(a.size(), b.size()));
    for (const double at_least : {0.0, 0.3, 0.5, 0.8})
      EXPECT_NEAR(similarity(a, b, at_least), expected < at_least - 1e-9 ? 0 : expected, 1e-12);
  }
}

// Whatever is added in whatever portions, folded or not, closed and opened again: the newest of each source counts.
TEST_F(MemoryTest, AddsReplacesAndRemoves) {
  Random random(3);
  const std::string folder = build({{"w0", "old"}});
  Texts expected = {{"w0", "old"}};
  auto memory = std::make_unique<TranslationMemory>(folder, MemoryAccess::add);
  for (int round = 0; round < 60; ++round) {
    std::vector<MemorySegment> segments(1 + random.below(20));
    for (MemorySegment& segment : segments) {
      segment = {.source = random_text(random, 3),
                 .target = random.below(5) == 0 ? "" : std::to_string(round)};
      expected[segment.source] = segment.target;
    }
    memory->add(segments);
    if (random.below(8) == 0) memory->fold();
    if (random.below(8) == 0) {
      memory.reset();
      memory = std::make_unique<TranslationMemory>(folder, MemoryAccess::add);
    }
  }
  std::erase_if(expected, [](const auto& segment) { return segment.second.empty(); });
  EXPECT_EQ(all(*memory), expected);
  EXPECT_EQ(all(TranslationMemory(folder, MemoryAccess::read)), expected);
  for (const auto& [source, target] : expected)
    EXPECT_EQ(memory->look_up(source, {}).at(0).segment.target, target);
  memory->verify();
  size_t files = 0;
  for (const std::string& file : entries_of(folder)) files += file.find("segments-") != file.npos;
  EXPECT_LE(files, 3u);
}

TEST_F(MemoryTest, ALogThatWasCutLosesOnlyTheUnfinishedLine) {
  const std::string folder = build({{"a", "b"}});
  TranslationMemory(folder, MemoryAccess::add)
      .add(std::vector<MemorySegment>{{"one", "un"}, {"two", "deux"}});
  const std::string log = folder + "/" + read_manifest(folder).log;
  const std::string whole = read_file(log);
  for (size_t size = 0; size < whole.size(); ++size) {
    overwrite(log, whole.substr(0, size));
    const size_t lines = static_cast<size_t>(std::ranges::count(whole.substr(0, size), '\n'));
    EXPECT_EQ(all(TranslationMemory(folder, MemoryAccess::read)).size(), 1 + lines) << size;
  }
  write_file(log, {std::string_view(whole).substr(0, whole.size() - 3)});
  TranslationMemory memory(folder, MemoryAccess::add);
  memory.add(std::vector<MemorySegment>{{"three", "trois"}});
  EXPECT_EQ(all(TranslationMemory(folder, MemoryAccess::read)),
            (Texts{{"a", "b"}, {"one", "un"}, {"three", "trois"}}));
}

TEST_F(MemoryTest, OneProcessAdds) {
  const std::string folder = build({{"a", "b"}});
  const TranslationMemory memory(folder, MemoryAccess::add);
  const TranslationMemory reader(folder, MemoryAccess::read);
  EXPECT_NE(error_of([&] { TranslationMemory(folder, MemoryAccess::add); }).find("another process adds to"),
            std::string::npos);
  EXPECT_NE(error_of([&] { build({{"c", "d"}}); }).find("another process adds to"), std::string::npos);
}

TEST_F(MemoryTest, IsReadWhileItGrows) {
  const std::string folder = build({{"first", "premier"}});
  TranslationMemory memory(folder, MemoryAccess::add);
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      EXPECT_EQ(memory.look_up("first", {}).at(0).segment.target, "premier");
      EXPECT_EQ(all(TranslationMemory(folder, MemoryAccess::read)).at("first"), "premier");
    }
  });
  for (int i = 0; i < 60; ++i) {
    memory.add(std::vector<MemorySegment>{{"w" + std::to_string(i), "x"}});
    if (i % 7 == 0) memory.fold();
  }
  done = true;
  reader.join();
}

// Models name languages otherwise than those who suggest translations.
TEST_F(MemoryTest, ReadsLanguagesUnderAnyCode) {
  write_file(path("a.jsonl"), {R"({"q":"three","s":"trois","source":"en","target":"fr"})"
                               "\n"
                               R"({"q":"drei","s":"trois","source":"de","target":"fr"})"
                               "\n"});
  const SegmentFiles files = {.files = {path("a.jsonl")}, .from = "eng_Latn", .to = "fra_Latn"};
  const SegmentCounts counts =
      read_segments(files, [](const MemorySegmentView& segment) { EXPECT_EQ(segment.source, "three"); });
  EXPECT_EQ(counts.taken, 1);
  EXPECT_EQ(counts.other_language, 1);
}

TEST_F(MemoryTest, RefusesDamage) {
  const std::string folder = build({{"one two", "un deux"}, {"three", "trois"}});
  const std::string part = folder + "/" + read_manifest(folder).parts.at(0);
  const std::string whole = read_file(part);
  for (size_t size = 0; size < whole.size(); size += 7) {
    overwrite(part, whole.substr(0, size));
    EXPECT_NE(error_of([&] { TranslationMemory(folder, MemoryAccess::read); }).find("segments-1"),
              std::string::npos);
  }
  // One byte changed anywhere: never a crash, and found by verify().
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xFF);
    overwrite(part, changed);
    EXPECT_THROW(
        {
          const TranslationMemory memory(folder, MemoryAccess::read);
          try {
            memory.look_up("one two three", {.at_least = 0, .match_case = false});
            all(memory);
          } catch (const Error&) {}
          memory.verify();
        },
        Error)
        << i;
  }
  overwrite(part, whole);
  std::filesystem::remove(folder + "/" + read_manifest(folder).log);
  EXPECT_NE(error_of([&] { TranslationMemory(folder, MemoryAccess::read); }).find("log-2"),
            std::string::npos);
  write_file(folder + "/memory.json", {"{"});
  EXPECT_NE(error_of([&] { TranslationMemory(folder, MemoryAccess::read); }).find("memory.json is damaged"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              TranslationMemory(path("none"), MemoryAccess::read);
            }).find("is not a translation memory"),
            std::string::npos);
}

TEST_F(MemoryTest, ReadsWhatItExports) {
  const std::vector<std::pair<std::string, std::string>> segments = {{"a < b & c", "« d »"},
                                                                     {"two\nlines", "deux\nlignes"},
                                                                     {"bell\x01", "cloche"},
                                                                     {"no\uFFFE\uFFFF text", "\uFFFF"}};
  const TranslationMemory memory(build(segments), MemoryAccess::read);
  std::string bytes;
  TmxWriter tmx("en", "fr", [&](std::string_view more) { bytes += more; });
  memory.for_each([&](const MemorySegmentView& segment) { tmx.add(segment); });
  tmx.finish();
  write_file(path("out.tmx"), {bytes});
  Texts read;
  read_segments({.files = {path("out.tmx")}, .from = "en", .to = "fr"},
                [&](const MemorySegmentView& segment) { read.emplace(segment.source, segment.target); });
  EXPECT_EQ(read, (Texts{{"a < b & c", "« d »"},
                         {"bell", "cloche"},
                         {"two\nlines", "deux\nlignes"},
                         {"no\uFFFD\uFFFD text", "\uFFFD"}}));
}

TEST_F(MemoryTest, CountsWhatItCannotTake) {
  write_file(path("a.tsv"), {"one\tun\textra\n\tempty\nno column\nbad\xff\tx\ntwo\t deux \n"});
  write_file(path("b.jsonl"), {R"({"q":"three","s":"trois","source":"en","target":"fr"})"
                               "\n"
                               R"({"q":"drei","s":"trois","source":"de","target":"fr"})"
                               "\n{}\n"});
  std::vector<std::string> read;
  const SegmentCounts counts =
      read_segments({.files = {path("a.tsv"), path("b.jsonl")}, .from = "en", .to = "fr"},
                    [&](const MemorySegmentView& segment) {
                      read.push_back(std::string(segment.source) + "=" + std::string(segment.target) + "@" +
                                     std::string(segment.origin));
                    });
  EXPECT_EQ(read, (std::vector<std::string>{"one=un@a.tsv", "two=deux@a.tsv", "three=trois@b.jsonl"}));
  EXPECT_EQ(counts.read, 8);
  EXPECT_EQ(counts.taken, 3);
  EXPECT_EQ(counts.empty, 1);
  EXPECT_EQ(counts.invalid, 3);
  EXPECT_EQ(counts.other_language, 1);
}

TEST_F(MemoryTest, AnExactMatchIsTheFirstOfALookUp) {
  const TranslationMemory memory(build({{"Page 1", "Page 1"}, {"a dog", "un chien"}, {"A dog", "Un chien"}}),
                                 MemoryAccess::read);
  for (const MemoryQuery& query : {MemoryQuery{}, MemoryQuery{.match_case = false, .match_numbers = false}}) {
    for (const char* text : {"a  dog", "A DOG", "page 7", "Page 1", "a cat", ""}) {
      const auto exact = memory.exact(text, query);
      const auto all = memory.look_up(text, query);
      ASSERT_EQ(exact.has_value(), !all.empty() && all.front().exact) << text;
      if (!exact) continue;
      EXPECT_EQ(exact->segment.target, all.front().segment.target) << text;
    }
  }
}

TEST_F(MemoryTest, GrowsWhileItIsRead) {
  TranslationMemory memory(build({{"a", "b"}, {"c", "d"}}), MemoryAccess::add);
  size_t seen = 0;
  memory.for_each([&](const MemorySegmentView& segment) {
    memory.add(std::vector<MemorySegment>{{std::string(segment.source) + " again", "e"}});
    memory.fold();
    ++seen;
  });
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(memory.size(), 4u);
  EXPECT_TRUE(memory.exact("c again", {}));
}

}  // namespace
}  // namespace dragoman::internal
