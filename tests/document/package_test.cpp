#include "document/office/package.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/identity.h"
#include "document/packed.h"
#include "document/translation.h"

namespace dragoman::internal {
namespace {

std::string paragraph(const std::string& text) {
  return "<w:document "
         "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r><w:t>" +
         text + "</w:t></w:r></w:p></w:body></w:document>";
}

uint64_t number(const std::string& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void set(std::string& bytes, size_t at, size_t size, uint64_t value) {
  for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

TEST(Package, OnlyChangedEntriesChange) {
  Entries entries = {{"mimetype", "application/epub+zip"}};
  for (const auto& entry : unpacked(docx_with(paragraph("Two words")))) entries.push_back(entry);
  entries.emplace_back("../name", std::string(100'000, 'x'));
  const std::string file = packed(entries);
  const Document document = read_as("docx", file);
  EXPECT_EQ(identity_of(document), file);
  const std::string translated = in_upper_case(document);
  Entries expected = entries;
  expected[2].second = paragraph("TWO WORDS");
  expected[2].second.replace(expected[2].second.find("<w:t>"), 5, "<w:t xml:space=\"preserve\">");
  EXPECT_EQ(unpacked(translated), expected);
  // The first entry, its head included, and the times of all.
  EXPECT_EQ(translated.substr(0, 70), file.substr(0, 70));
  const auto time_of_last = [](const std::string& bytes) {
    return bytes.substr(bytes.rfind("PK\1\2") + 12, 4);
  };
  EXPECT_EQ(time_of_last(translated), time_of_last(file));
  EXPECT_EQ(in_upper_case(document), translated);
}

TEST(Package, OtherFilesAreRefused) {
  EXPECT_EQ(refusal("docx", "text"),
            "test.docx: not a zip file, which this format requires: check the file or give its format");
  EXPECT_NE(refusal("docx", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1").find("or a password"), std::string::npos);
  EXPECT_NE(refusal("docx", packed({{"a", "b"}})), "");
  EXPECT_NE(refusal("epub", packed({{"a", "b"}})), "");
  EXPECT_NE(refusal("odf", packed({{"a", "b"}})), "");
  EXPECT_NE(refusal("odf", packed({{"META-INF/manifest.xml", "<m:encryption-data/>"}, {"content.xml", "x"}}))
                .find("encrypted"),
            std::string::npos);
  std::string encrypted = docx_with(paragraph("Words"));
  for (const char* const head : {"PK\3\4", "PK\1\2"}) {
    const size_t at = encrypted.rfind(head);
    set(encrypted, at + (head[2] == 3 ? 6 : 8), 2, 1);
  }
  EXPECT_NE(refusal("docx", encrypted).find("is encrypted"), std::string::npos);
}

TEST(Package, BombsAreRefused) {
  const std::string zeros = docx_with(paragraph(std::string(30'000'000, 'a')));
  EXPECT_NE(refusal("docx", zeros).find("decompresses to 300001"), std::string::npos)
      << refusal("docx", zeros);
  // Each part is small enough, but all together are too large.
  Entries many = {{"META-INF/manifest.xml", ""}};
  const std::string part = "<a>" + std::string(1'000'000, ' ') + "</a>";
  for (int i = 0; i < 300; ++i) many.emplace_back("o" + std::to_string(i) + "/content.xml", part);
  EXPECT_NE(refusal("odf", packed(many)).find("which is too much"), std::string::npos);
}

TEST(Package, OverlappingEntriesAreRefused) {
  std::string part;
  Random random(1);
  while (part.size() < 5000) part += static_cast<char>(random.below(256));
  Entries entries = unpacked(docx_with(paragraph("Words")));
  for (int i = 0; i < 5; ++i) entries.emplace_back("e" + std::to_string(i), part);
  std::string file = packed(entries);
  // Each entry but the first two is moved onto the third.
  const size_t third = file.find("e0") - 30;
  for (size_t at = file.find("PK\1\2"); at != std::string::npos; at = file.find("PK\1\2", at + 4))
    if (number(file, at + 42, 4) > third) set(file, at + 42, 4, third);
  const size_t fourth = file.find("PK\3\4", third + 4), directory = file.find("PK\1\2");
  file.erase(fourth, directory - fourth);
  set(file, file.rfind("PK\5\6") + 16, 4, fourth);
  EXPECT_NE(refusal("docx", file).find("overlap"), std::string::npos) << refusal("docx", file);
}

TEST(Package, DamageIsAnErrorOrHarmless) {
  const std::string file = docx_with(paragraph("Two words &amp; more"));
  const auto survives = [](const std::string& damaged, size_t at) {
    try {
      const Document document = read_as("docx", damaged);
      ASSERT_EQ(identity_of(document), damaged) << at;
      in_upper_case(document);
    } catch (const Error& error) {
      ASSERT_TRUE(std::string_view(error.what()).starts_with("test.docx: ")) << error.what();
    }
  };
  for (size_t size = 0; size < file.size(); ++size) {
    survives(file.substr(0, size), size);
    ASSERT_NE(refusal("docx", file.substr(0, size)), "") << size;
  }
  for (size_t at = 0; at < file.size(); at += 7)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      survives(damaged, at);
    }
}

}  // namespace
}  // namespace dragoman::internal
