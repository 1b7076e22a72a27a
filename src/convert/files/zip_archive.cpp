#include "convert/files/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/files/byte_reader.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view local_mark = "PK\3\4", member_mark = "PK\1\2", end_mark = "PK\5\6",
                           end64_mark = "PK\6\6", locator64_mark = "PK\6\7";
constexpr size_t end_size = 22, locator64_size = 20, max_comment = 65535;
constexpr uint16_t stored = 0, deflated = 8, encrypted_flag = 1, zip64_field = 1;
constexpr uint32_t in_zip64 = 0xffffffff;  // instead of a size or place: the zip64 field has it

// Weights hardly compress. Small files may, such as those of tests.
constexpr uint64_t inflated_always = 64 << 20, inflated_per_byte = 16;
constexpr uint64_t max_at_once = 1 << 30;

// Replaces the sizes and places that do not fit in 32 bits, which follow in this order in a field of the member.
void read_zip64(ZipArchive::Member& member, ByteReader fields) {
  while (fields.left() >= 4) {
    const auto kind = fields.number<uint16_t>();
    ByteReader field(fields.path(), fields.bytes(fields.number<uint16_t>()));
    if (kind != zip64_field) continue;
    for (uint64_t* value : {&member.size, &member.packed_size, &member.header_at})
      if (*value == in_zip64) *value = field.number<uint64_t>();
    return;
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether the data inflate to exactly this size.
bool inflate_all(std::span<const std::byte> packed, std::span<std::byte> to) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  std::byte nothing[1];                                                              // zlib wants an address
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));  // which it only reads
  stream.next_out = reinterpret_cast<Bytef*>(to.empty() ? nothing : to.data());
  uint64_t in_left = packed.size(), out_left = to.size();
  int state = Z_OK;
  while (state == Z_OK) {  // zlib counts in 32 bits
    stream.avail_in = static_cast<uInt>(std::min<uint64_t>(in_left, max_at_once));
    stream.avail_out = static_cast<uInt>(std::min<uint64_t>(out_left, max_at_once));
    in_left -= stream.avail_in;
    out_left -= stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    in_left += stream.avail_in;
    out_left += stream.avail_out;
  }
  return state == Z_STREAM_END && out_left == 0;
}

uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

bool ZipArchive::is_zip(std::span<const std::byte> file) {
  return text_of(file).starts_with(local_mark) || text_of(file).starts_with(end_mark);
}

ZipArchive::ZipArchive(std::string path, SharedBytes file)
    : path_(std::move(path)), file_(std::move(file)), inflatable_(inflated_always) {
  inflatable_ += inflated_per_byte * file_.bytes.size();
  read_directory(find_directory());
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const std::string_view file = text_of(file_.bytes);
  const size_t tail_at = file.size() - std::min(file.size(), end_size + max_comment);
  const size_t mark = file.substr(tail_at).rfind(end_mark);
  if (mark == file.npos) throw Error("{} is not a zip archive, or is truncated", path_);
  const size_t end_at = tail_at + mark;
  ByteReader end(path_, file_.bytes.subspan(end_at + end_mark.size()));
  end.bytes(6);  // numbers of disks
  Directory directory = {};
  directory.members = end.number<uint16_t>();
  directory.size = end.number<uint32_t>();
  directory.at = end.number<uint32_t>();
  end.bytes(end.number<uint16_t>());  // a comment
  if (end_at < locator64_size || file.substr(end_at - locator64_size, 4) != locator64_mark) return directory;

  ByteReader locator(path_, file_.bytes.subspan(end_at - locator64_size + 8));
  ByteReader end64(path_, file_.bytes);
  end64.bytes(locator.number<uint64_t>());
  if (end64.text(4) != end64_mark) end64.fail("is damaged: its zip64 directory is not where it should be");
  end64.bytes(28);  // sizes, versions, disks, the number of members on this disk
  directory.members = end64.number<uint64_t>();
  directory.size = end64.number<uint64_t>();
  directory.at = end64.number<uint64_t>();
  return directory;
}

void ZipArchive::read_directory(const Directory& directory) {
  ByteReader file(path_, file_.bytes);
  file.bytes(directory.at);
  ByteReader bytes(path_, file.bytes(directory.size));
  for (uint64_t i = 0; i < directory.members; ++i) {
    if (bytes.text(4) != member_mark) bytes.fail("is damaged: its zip directory has no member {}", i);
    bytes.bytes(4);  // versions
    Member member = {};
    member.flags = bytes.number<uint16_t>();
    member.method = bytes.number<uint16_t>();
    bytes.bytes(4);  // time and date
    member.checksum = bytes.number<uint32_t>();
    member.packed_size = bytes.number<uint32_t>();
    member.size = bytes.number<uint32_t>();
    const auto name_size = bytes.number<uint16_t>(), fields_size = bytes.number<uint16_t>(),
               comment_size = bytes.number<uint16_t>();
    bytes.bytes(8);  // disk and attributes
    member.header_at = bytes.number<uint32_t>();
    const std::string name(bytes.text(name_size));
    read_zip64(member, ByteReader(path_, bytes.bytes(fields_size)));
    bytes.bytes(comment_size);
    if (!members_.emplace(name, member).second) bytes.fail("has the member {} twice", in_quotes(name));
  }
}

SharedBytes ZipArchive::read(std::string_view name) {
  const auto found = members_.find(name);
  if (found == members_.end()) throw Error("{} has no member {}", path_, in_quotes(name));
  const Member& member = found->second;
  ByteReader file(path_, file_.bytes);
  file.bytes(member.header_at);
  if (file.text(4) != local_mark)
    file.fail("is damaged: the member {} is not where it should be", in_quotes(name));
  file.bytes(22);  // the same as in the directory
  const auto name_size = file.number<uint16_t>(), fields_size = file.number<uint16_t>();
  file.bytes(uint64_t{name_size} + fields_size);
  const std::span<const std::byte> packed = file.bytes(member.packed_size);
  if (member.flags & encrypted_flag) file.fail("is encrypted; decrypt it first");
  if (member.method == stored && member.size == member.packed_size) return {packed, file_.owner};
  if (member.method == deflated) return inflated(name, member, packed);
  file.fail("has the member {} in a compression format other than deflate; compress it again",
            in_quotes(name));
}

SharedBytes ZipArchive::inflated(std::string_view name, const Member& member,
                                 std::span<const std::byte> packed) {
  if (member.size > inflatable_)
    throw Error("{} inflates to more than the limit of {} times its size", path_, inflated_per_byte);
  inflatable_ -= member.size;
  const auto contents = std::make_shared<std::vector<std::byte>>(member.size);
  if (!inflate_all(packed, *contents) || crc_of(*contents) != member.checksum)
    throw Error("{} is damaged: the compressed member {} cannot be inflated", path_, in_quotes(name));
  return {*contents, contents};
}

}  // namespace dragoman::internal
