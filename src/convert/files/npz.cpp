#include "convert/files/npz.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/files/byte_reader.h"
#include "convert/files/zip_archive.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

constexpr std::array<std::pair<std::string_view, ElementType>, 9> npy_types = {
    {{"f4", ElementType::f32},
     {"f2", ElementType::f16},
     {"f8", ElementType::f64},
     {"i1", ElementType::i8},
     {"u1", ElementType::u8},
     {"i2", ElementType::i16},
     {"i4", ElementType::i32},
     {"i8", ElementType::i64},
     {"b1", ElementType::boolean}}};

// What follows a key of a header such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
std::string_view behind(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  header.remove_prefix(at + key.size() + 3);
  return header.substr(std::min(header.find_first_not_of(' '), header.size()));
}

// What is between two characters; the text begins with the first.
std::string_view between(std::string_view text, char open, char close) {
  const size_t end = text.find(close, 1);
  return text.starts_with(open) && end != text.npos ? text.substr(1, end - 1) : std::string_view();
}

ElementType element_type(const ByteReader& file, std::string_view header) {
  const std::string_view text = between(behind(header, "descr"), '\'', '\'');
  const auto found = std::ranges::find(npy_types, text.substr(std::min<size_t>(text.size(), 1)),
                                       [](const auto& t) { return t.first; });
  if (found == npy_types.end() || text.starts_with('>'))
    file.fail("is an array of the unsupported type {}; save it in another type", in_quotes(text));
  return found->second;
}

std::vector<int64_t> shape_of(const ByteReader& file, std::string_view header) {
  std::string_view text = between(behind(header, "shape"), '(', ')');
  std::vector<int64_t> shape;
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc()) file.fail("is not a NumPy array: its header has no shape");
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return shape;
}

}  // namespace

ForeignTensor read_npy(const std::string& name, const SharedBytes& npy) {
  ByteReader file(name, npy.bytes);
  if (npy.bytes.size() < npy_magic.size() || file.text(npy_magic.size()) != npy_magic)
    file.fail("is not a NumPy array");
  const auto version = file.number<uint8_t>();
  file.number<uint8_t>();
  const std::string_view header = file.text(version == 1 ? file.number<uint16_t>() : file.number<uint32_t>());
  const ElementType type = element_type(file, header);
  std::vector<int64_t> shape = shape_of(file, header);
  const bool by_columns = behind(header, "fortran_order").starts_with("True");
  if (by_columns) std::ranges::reverse(shape);
  auto tensor = row_by_row(type, std::move(shape), file.bytes(file.left()), npy.owner);
  if (!tensor) file.fail("is truncated or damaged: its size does not match its shape");
  if (by_columns) {
    std::ranges::reverse(tensor->shape);
    std::ranges::reverse(tensor->strides);
  }
  return std::move(*tensor);
}

ForeignTensors read_npz(const std::string& path, SharedBytes file) {
  constexpr std::string_view extension = ".npy";
  ZipArchive archive(path, std::move(file));
  ForeignTensors tensors;
  for (const auto& [member, place] : archive.members()) {
    if (!member.ends_with(extension)) throw Error("{}: {} is not a NumPy array", path, in_quotes(member));
    tensors.emplace(member.substr(0, member.size() - extension.size()),
                    read_npy(fmt::format("{}: {}", path, in_quotes(member)), archive.read(member)));
  }
  return tensors;
}

}  // namespace dragoman::internal
