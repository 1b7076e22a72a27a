// A zip archive in a mapped file, zip64 included. Members that are stored, as PyTorch writes them, are used where they
// are in the file, which zip libraries do not offer; deflated ones are inflated with zlib.
//
// An archive from anywhere may be opened: every size and place is checked, and what is inflated is limited in
// proportion to the file. Checksums are compared only for deflated members: PyTorch need not write them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace dragoman::internal {

class ZipArchive {
 public:
  static bool is_zip(std::span<const std::byte> file);

  // The path is for messages.
  ZipArchive(std::string path, SharedBytes file);

  struct Member {
    uint16_t flags, method;
    uint32_t checksum;
    uint64_t packed_size, size, header_at;
  };
  const std::map<std::string, Member, std::less<>>& members() const { return members_; }
  bool has(std::string_view name) const { return members_.contains(name); }
  // The member's contents; an Error if there is no such member.
  SharedBytes read(std::string_view name);

 private:
  struct Directory {
    uint64_t members, size, at;
  };
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  SharedBytes inflated(std::string_view name, const Member& member, std::span<const std::byte> packed);

  std::string path_;
  SharedBytes file_;
  std::map<std::string, Member, std::less<>> members_;
  uint64_t inflatable_;  // bytes that may still be inflated
};

}  // namespace dragoman::internal
