#include "convert/files/zip_archive.h"

#include <zlib.h>

#include "fixtures.h"

namespace dragoman::internal {
namespace {

struct MadeMember {
  std::string name, contents;
  bool deflated = false, in_zip64 = false;
  uint16_t method = 8, flags = 0;
  std::string packed = contents;
  uint64_t size = contents.size();
  uint32_t checksum = 0;
};

MadeMember stored(std::string name, std::string contents) {
  return {.name = std::move(name), .contents = std::move(contents), .method = 0};
}

MadeMember deflated(std::string name, std::string contents) {
  MadeMember member = {.name = std::move(name), .contents = std::move(contents)};
  std::string packed(compressBound(member.contents.size()) + 16, '\0');
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(member.contents.data());
  stream.avail_in = static_cast<uInt>(member.contents.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  member.packed = packed;
  member.checksum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(member.contents.data()),
                                                static_cast<uInt>(member.contents.size())));
  return member;
}

std::string directory_entry(const MadeMember& member, uint64_t at) {
  const bool big = member.in_zip64;
  const auto field = [&](uint64_t value) { return little(big ? 0xffffffffU : static_cast<uint32_t>(value)); };
  const std::string other = little<uint16_t>(0x5455) + little<uint16_t>(1) + "x",
                    extra = big ? other + little<uint16_t>(1) + little<uint16_t>(24) + little(member.size) +
                                      little<uint64_t>(member.packed.size()) + little(at)
                                : "";
  return "PK\1\2" + little(uint32_t{0}) + little(member.flags) + little(member.method) + little(uint32_t{0}) +
         little(member.checksum) + field(member.packed.size()) + field(member.size) +
         little(static_cast<uint16_t>(member.name.size())) + little(static_cast<uint16_t>(extra.size())) +
         little(uint16_t{0}) + little(uint64_t{0}) + field(at) + member.name + extra;
}

std::string archive_of(const std::vector<MadeMember>& members, const std::string& comment = "") {
  std::string file, directory;
  for (const MadeMember& member : members) {
    directory += directory_entry(member, file.size());
    file += "PK\3\4" + std::string(22, '\0') + little(static_cast<uint16_t>(member.name.size())) +
            little(uint16_t{3}) + member.name + "pad" + member.packed;
  }
  const size_t at = file.size();
  const bool big = !members.empty() && members[0].in_zip64;
  file += directory;
  if (big) {
    const uint64_t end_at = file.size();
    file += "PK\6\6" + std::string(28, '\0') + little<uint64_t>(members.size()) +
            little<uint64_t>(directory.size()) + little<uint64_t>(at) + "PK\6\7" + little(uint32_t{0}) +
            little(end_at) + little(uint32_t{1});
  }
  const auto number = [&](size_t value) { return little(big ? 0xffffffffU : static_cast<uint32_t>(value)); };
  return file + "PK\5\6" + std::string(6, '\0') + number(members.size()).substr(0, 2) +
         number(directory.size()) + number(at) + little(static_cast<uint16_t>(comment.size())) + comment;
}

// The archive is of these bytes, which the caller keeps.
ZipArchive open(const std::string& file) {
  return ZipArchive("x.zip", {std::as_bytes(std::span(file)), nullptr});
}

std::string text(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()};
}

std::string zip_refusal(const std::string& file) {
  return error_of([&] {
    ZipArchive archive = open(file);
    for (const auto& [name, member] : archive.members()) archive.read(name);
  });
}

TEST(ZipArchive, StoredMembersAreUsedWhereTheyAre) {
  const std::string file = archive_of({stored("a", "first"), stored("b/c", "")}, "a comment");
  ZipArchive archive = open(file);
  EXPECT_EQ(archive.members().size(), 2U);
  EXPECT_EQ(text(archive.read("a")), "first");
  EXPECT_EQ(archive.read("a").bytes.data(), std::as_bytes(std::span(file)).data() + file.find("first"));
  EXPECT_EQ(text(archive.read("b/c")), "");
  EXPECT_NE(error_of([&] { archive.read("b"); }), "");
}

TEST(ZipArchive, DeflatedMembersAreInflated) {
  std::string numbers;
  for (int i = 0; i < 100'000; ++i) numbers += std::to_string(i);
  const std::string file = archive_of({deflated("numbers", numbers), deflated("empty", "")});
  ZipArchive archive = open(file);
  EXPECT_EQ(text(archive.read("numbers")), numbers);
  EXPECT_EQ(text(archive.read("empty")), "");
}

TEST(ZipArchive, PlacesAbove4GigabytesAreInTheirOwnField) {
  MadeMember big = deflated("a", "first"), other = stored("b", "second");
  big.in_zip64 = other.in_zip64 = true;
  const std::string file = archive_of({big, other});
  EXPECT_EQ(text(open(file).read("a")), "first");
  EXPECT_EQ(text(open(file).read("b")), "second");
}

TEST(ZipArchive, WhatIsDamagedIsRefused) {
  MadeMember flipped = deflated("a", "contents"), longer = flipped, shorter = flipped, changed = flipped;
  flipped.packed[1] ^= 1;
  longer.size += 1;
  shorter.size -= 1;
  changed.checksum ^= 1;
  for (const MadeMember& member : {flipped, longer, shorter, changed})
    EXPECT_NE(zip_refusal(archive_of({member})), "");
  MadeMember cut = stored("a", "contents");
  cut.size += 1;
  EXPECT_NE(zip_refusal(archive_of({cut})), "");
  EXPECT_NE(zip_refusal(archive_of({stored("a", ""), stored("a", "")})), "");
}

TEST(ZipArchive, WhatIsNotSupportedIsNamed) {
  MadeMember encrypted = stored("a", "contents"), packed = encrypted;
  encrypted.flags = 1;
  packed.method = 14;
  EXPECT_NE(zip_refusal(archive_of({encrypted})).find("encrypted"), std::string::npos);
  EXPECT_NE(zip_refusal(archive_of({packed})).find("compression"), std::string::npos);
}

TEST(ZipArchive, SizesAreCheckedBeforeMemoryIsAllocated) {
  MadeMember bomb = deflated("a", "contents");
  bomb.in_zip64 = true;
  for (const uint64_t size : {uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}}) {
    bomb.size = size;
    EXPECT_NE(zip_refusal(archive_of({bomb})).find("inflate"), std::string::npos);
  }
  // Many members share the limit.
  const MadeMember part = deflated("a", std::string(30 << 20, '\0'));
  std::vector<MadeMember> parts(4, part);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].name = std::to_string(i);
  EXPECT_EQ(zip_refusal(archive_of({part})), "");
  EXPECT_NE(zip_refusal(archive_of(parts)).find("inflate"), std::string::npos);
}

TEST(ZipArchive, CutAnywhereIsRefused) {
  const std::string file = archive_of({stored("a", "first"), deflated("b", "second")});
  for (size_t size = file.size(); size-- > 0;) EXPECT_NE(zip_refusal(file.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace dragoman::internal
