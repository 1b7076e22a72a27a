// The public library's memory: it is read while it grows, and as long as a request needs it.
#include "dragoman/memory.h"

#include <optional>

#include <gtest/gtest.h>

#include "dragoman/document.h"
#include "memory/builder.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

class LibraryMemoryTest : public testing::Test {
 protected:
  LibraryMemoryTest() {
    internal::MemoryBuilder builder(memory_folder_, "en", "fr");
    builder.add({"The cat sleeps.", "Le chat dort.", "test"});
    builder.finish();
  }

  internal::ModelFolder folder_{"library-memory-model"};
  const std::string memory_folder_ = folder_.path + "/memory";
  Translator translator_{folder_.path, {.threads = 1, .batch = 4}};
};

TEST_F(LibraryMemoryTest, WhatIsAddedIsUsedAtOnce) {
  Memory memory(memory_folder_, Memory::Access::add);
  const auto translated = [&](const std::string& text) {
    return translator_.submit({.text = text, .memory = &memory}).get();
  };
  EXPECT_EQ(translated("The cat sleeps.").text(), "Le chat dort.");
  EXPECT_FALSE(translated("It is cold.").memory);
  memory.add({"It is cold.", "Il fait froid."}, "test");
  const Translation known = translated("It is cold.");
  EXPECT_EQ(known.text(), "Il fait froid.");
  EXPECT_TRUE(known.memory);
  ASSERT_EQ(known.memory_segments.size(), 1U);
  EXPECT_TRUE(known.memory_segments[0].exact);
  EXPECT_EQ(memory.look_up("The cat  sleeps").at(0).target, "Le chat dort.");
}

TEST_F(LibraryMemoryTest, ARequestKeepsItOpen) {
  std::optional<Memory> memory(memory_folder_);
  std::vector<std::future<Translation>> waiting;
  for (int i = 0; i < 8; ++i)
    waiting.push_back(
        translator_.submit({.text = i == 7 ? "The cat sleeps." : "The cat barks at " + std::to_string(i),
                            .options = {{"max-length", 12}},
                            .memory = &*memory}));
  memory.reset();
  for (auto& one : waiting) one.wait();
  EXPECT_EQ(waiting.back().get().text(), "Le chat dort.");
}

// What the memory has, what it has something similar to, and what it does not know.
TEST_F(LibraryMemoryTest, FilesSayWhatItKnew) {
  const Memory memory(memory_folder_);
  const auto unit = [](const std::string& text) {
    return "<trans-unit id=\"1\"><source>" + text + "</source></trans-unit>";
  };
  const auto translated = [&](const std::string& units, const Memory* with, bool mark = false) {
    return translate_document(translator_,
                              {.bytes = "<xliff version=\"1.2\"><file source-language=\"en\"><body>" + units +
                                        "</body></file></xliff>",
                               .name = "a.xlf",
                               .options = {{"max-length", 12}},
                               .memory = with,
                               .mark_unconfirmed = mark});
  };
  const auto has = [](const TranslatedDocument& document, std::string_view part) {
    return document.bytes.find(part) != std::string::npos;
  };
  const TranslatedDocument exact = translated(unit("The cat sleeps."), &memory);
  EXPECT_TRUE(
      has(exact, "<target state=\"translated\" state-qualifier=\"exact-match\">Le chat dort.</target>"))
      << exact.bytes;
  EXPECT_EQ(exact.memory, 1u);
  EXPECT_EQ(exact.similar, 0u);
  const TranslatedDocument both =
      translated(unit("The <g id=\"1\">cat</g> sleeps.") + unit("The cat sleeps."), &memory);
  EXPECT_TRUE(has(both, "state-qualifier=\"exact-match\">Le chat dort.</target>")) << both.bytes;
  EXPECT_EQ(both.memory, 1u);
  const TranslatedDocument similar = translated(unit("The cat barks."), &memory);
  EXPECT_TRUE(has(similar, "state=\"needs-review-translation\" state-qualifier=\"fuzzy-match\""));
  EXPECT_TRUE(has(similar,
                  "<alt-trans match-quality=\"75\" origin=\"memory\"><source>The cat sleeps.</source>"
                  "<target>Le chat dort.</target></alt-trans></trans-unit>"))
      << similar.bytes;
  EXPECT_EQ(similar.memory, 0u);
  EXPECT_EQ(similar.similar, 1u);
  EXPECT_TRUE(has(translated(unit("Eat fruit!"), &memory), "state-qualifier=\"mt-suggestion\""));
  for (const std::string text : {"The cat sleeps.", "The cat barks.", "Eat fruit!"}) {
    EXPECT_FALSE(has(translated(unit(text), nullptr), "state-qualifier")) << text;
    EXPECT_TRUE(has(translated(unit(text), nullptr, true), "mt-suggestion")) << text;
  }
}

// A text of several sentences is not as similar to a segment as one of its sentences is.
TEST_F(LibraryMemoryTest, SimilarityIsThatOfAllOfAText) {
  const Memory memory(memory_folder_);
  const auto quality = [&](const std::string& text) {
    const std::string bytes =
        translate_document(
            translator_,
            {.bytes = "<xliff version=\"1.2\"><file source-language=\"en\"><trans-unit><source>" + text +
                      "</source></trans-unit></file></xliff>",
             .name = "a.xlf",
             .options = {{"max-length", 12}},
             .memory = &memory})
            .bytes;
    const size_t begin = bytes.find("match-quality=\"");
    return begin == bytes.npos ? "" : bytes.substr(begin + 15, bytes.find('"', begin + 15) - begin - 15);
  };
  EXPECT_EQ(quality("The cat sleeps. The dog barks at a cat."), "36") << "4 of 11 words";
  EXPECT_EQ(quality("The <g id=\"1\">cat</g> sleeps."), "100") << "its tags are where the search put them";
  EXPECT_EQ(quality("the Cat sleeps."), "99");
}

TEST_F(LibraryMemoryTest, MessagesThatItLacksAreFuzzyWhereAskedFor) {
  const Memory memory(memory_folder_);
  const std::string file =
      "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
      "msgid \"The cat sleeps.\"\nmsgstr \"\"\n\n#: a.c\nmsgid \"It is cold.\"\nmsgstr \"\"\n";
  const auto translated = [&](bool mark) {
    return translate_document(translator_, {.bytes = file,
                                            .name = "a.po",
                                            .options = {{"max-length", 12}},
                                            .memory = &memory,
                                            .mark_unconfirmed = mark})
        .bytes;
  };
  std::string marked = translated(true);
  EXPECT_NE(marked.find("\n\nmsgid \"The cat sleeps.\"\nmsgstr \"Le chat dort.\""), std::string::npos)
      << marked;
  const size_t flag = marked.find("#: a.c\n#, fuzzy\nmsgid \"It is cold.\"");
  ASSERT_NE(flag, std::string::npos) << marked;
  EXPECT_EQ(marked.erase(flag + 7, 9), translated(false));
}

TEST_F(LibraryMemoryTest, WhatIsOnlyReadCannotGrow) {
  Memory memory(memory_folder_);
  EXPECT_EQ(memory.from() + memory.to(), "enfr");
  EXPECT_THROW(memory.add({"It is cold.", "Il fait froid."}), Error);
  Memory grows(memory_folder_, Memory::Access::add);
  EXPECT_THROW(grows.add({"", "Il fait froid."}), Error);
  EXPECT_THROW(grows.add({"It is cold.", "\xff"}), Error);
  EXPECT_THROW(Memory(folder_.path), Error);
}

}  // namespace
}  // namespace dragoman
