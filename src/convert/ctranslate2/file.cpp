#include "convert/ctranslate2/file.h"

#include <array>
#include <optional>
#include <utility>

#include "base/mapped_file.h"
#include "base/quotes.h"
#include "convert/files/byte_reader.h"

namespace dragoman::internal {
namespace {

constexpr uint32_t newest_version = 6;
constexpr int max_rank = 8;  // aliases copy them
// The first versions with a name of the model, with aliases, and with types rather than sizes of elements.
constexpr uint32_t with_spec = 2, with_aliases = 3, with_types = 4;

// In the order of the codes.
constexpr std::array type_codes = {ElementType::f32, ElementType::i8,  ElementType::i16,
                                   ElementType::i32, ElementType::f16, ElementType::bf16};

class Reader {
 public:
  Reader(const std::string& path, const SharedBytes& file) : bytes_(path, file.bytes), owner_(file.owner) {}

  CTranslate2File read() {
    file_.version = bytes_.number<uint32_t>();
    if (file_.version < 1 || file_.version > newest_version)
      bytes_.fail("is not a model.bin of CTranslate2, or has the format version {}; 1 to {} are supported",
                  file_.version, newest_version);
    file_.spec = file_.version < with_spec ? "" : text();
    file_.revision = file_.version < with_spec ? 1 : bytes_.number<uint32_t>();
    for (auto variables = bytes_.number<uint32_t>(); variables > 0; --variables) read_variable();
    if (file_.version >= with_aliases)
      for (auto aliases = bytes_.number<uint32_t>(); aliases > 0; --aliases) read_alias();
    if (bytes_.left() > 0) bytes_.fail("is damaged: {} unexpected bytes at the end", bytes_.left());
    return std::move(file_);
  }

 private:
  // The size counts a zero at the end.
  std::string text() {
    const std::string_view text = bytes_.text(bytes_.number<uint16_t>());
    return std::string(text.substr(0, text.find('\0')));
  }

  void read_variable() {
    const std::string name = text();
    const int dimensions = bytes_.number<uint8_t>();
    if (dimensions > max_rank)
      bytes_.fail("is damaged: the tensor {} has {} dimensions", in_quotes(name), dimensions);
    std::vector<int64_t> shape(static_cast<size_t>(dimensions));
    for (int64_t& size : shape) size = bytes_.number<uint32_t>();
    const auto code = bytes_.number<uint8_t>();
    const auto type = file_.version >= with_types ? type_of_code(code) : type_of_size(code);
    if (!type) bytes_.fail("contains the tensor {} of the unknown type {}", in_quotes(name), code);
    const uint64_t size = uint64_t{bytes_.number<uint32_t>()} * (file_.version >= with_types ? 1 : code);
    auto tensor = row_by_row(*type, std::move(shape), bytes_.bytes(size), owner_);
    if (!tensor)
      bytes_.fail("is damaged: the tensor {} has {} bytes, which does not match its shape", in_quotes(name),
                  size);
    if (!file_.tensors.emplace(name, std::move(*tensor)).second)
      bytes_.fail("contains the tensor {} twice", in_quotes(name));
  }

  static std::optional<ElementType> type_of_code(uint8_t code) {
    return code < type_codes.size() ? std::optional(type_codes.at(code)) : std::nullopt;
  }
  static std::optional<ElementType> type_of_size(uint8_t size) {
    if (size == 1) return ElementType::i8;
    if (size == 2) return ElementType::i16;
    return size == 4 ? std::optional(ElementType::f32) : std::nullopt;
  }

  void read_alias() {
    const std::string alias = text(), name = text();
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end())
      bytes_.fail("contains an alias of the tensor {}, which does not exist", in_quotes(name));
    file_.tensors.emplace(alias, found->second);
    // The scales of integers are copied too.
    const auto scale = file_.tensors.find(name + "_scale");
    if (scale != file_.tensors.end()) file_.tensors.emplace(alias + "_scale", scale->second);
  }

  ByteReader bytes_;
  std::shared_ptr<const void> owner_;
  CTranslate2File file_ = {};
};

}  // namespace

CTranslate2File open_ctranslate2(const std::string& path) { return Reader(path, map_file(path)).read(); }

}  // namespace dragoman::internal
