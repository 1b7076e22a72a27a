#include "model/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"
#include "model/safetensors_json.h"

namespace dragoman::internal {
namespace {

using Json = nlohmann::json;

constexpr size_t data_alignment = 64;
constexpr const char* metadata_key = "__metadata__";

struct DtypeName {
  std::string_view name;
  int64_t size;
};
// In the order of the enumeration.
constexpr std::array<DtypeName, 15> dtypes = {{{"BOOL", 1},
                                               {"U8", 1},
                                               {"I8", 1},
                                               {"F8_E5M2", 1},
                                               {"F8_E4M3", 1},
                                               {"U16", 2},
                                               {"I16", 2},
                                               {"F16", 2},
                                               {"BF16", 2},
                                               {"U32", 4},
                                               {"I32", 4},
                                               {"F32", 4},
                                               {"U64", 8},
                                               {"I64", 8},
                                               {"F64", 8}}};

const DtypeName& described(Dtype dtype) { return dtypes.at(static_cast<size_t>(dtype)); }

// The product of the sizes; false if it overflows.
bool multiply(const std::vector<int64_t>& shape, int64_t size, int64_t& product) {
  product = size;
  for (const int64_t n : shape) {
    if (__builtin_mul_overflow(product, n, &product)) return false;
  }
  return true;
}

class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Metadata metadata(const Json& object) const {
    Metadata result;
    if (!object.is_object()) fail("{} is not an object", metadata_key);
    for (const auto& [key, value] : object.items()) {
      if (!value.is_string()) fail("{} of {} is not a string", in_quotes(key), metadata_key);
      result.emplace(key, value.get<std::string>());
    }
    return result;
  }

  // `data` is everything after the header.
  TensorEntry entry(const std::string& name, const Json& object, std::span<const std::byte> data) const {
    if (!object.is_object()) fail("tensor {} is not an object", in_quotes(name));
    TensorEntry entry = {
        .name = name, .dtype = dtype(name, object), .shape = numbers(name, object, "shape"), .bytes = {}};
    const std::vector<int64_t> offsets = numbers(name, object, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || static_cast<uint64_t>(offsets[1]) > data.size()) {
      fail(
          "tensor {} has data_offsets [{}], and the file has {} bytes of data: it is cut off or damaged, "
          "copy it again",
          in_quotes(name), fmt::join(offsets, ", "), data.size());
    }
    int64_t size = 0;
    if (!multiply(entry.shape, described(entry.dtype).size, size) || size != offsets[1] - offsets[0]) {
      fail("tensor {} has {} bytes of data, which is not the size of {} [{}]", in_quotes(name),
           offsets[1] - offsets[0], described(entry.dtype).name, fmt::join(entry.shape, ", "));
    }
    entry.bytes = data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(size));
    return entry;
  }

  template <typename... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) const {
    throw Error("{}: {}", path_, fmt::format(message, std::forward<Values>(values)...));
  }

 private:
  const Json& field(const std::string& name, const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) fail("tensor {} has no {}", in_quotes(name), key);
    return *found;
  }

  Dtype dtype(const std::string& name, const Json& object) const {
    const Json& value = field(name, object, "dtype");
    if (!value.is_string()) fail("the dtype of tensor {} is not a string", in_quotes(name));
    const auto& text = value.get_ref<const std::string&>();
    const auto found = std::ranges::find(dtypes, text, &DtypeName::name);
    if (found == dtypes.end()) fail("tensor {} has the unknown dtype {}", in_quotes(name), in_quotes(text));
    return static_cast<Dtype>(found - dtypes.begin());
  }

  std::vector<int64_t> numbers(const std::string& name, const Json& object, const char* key) const {
    const Json& list = field(name, object, key);
    if (!list.is_array()) fail("{} of tensor {} is not an array", key, in_quotes(name));
    std::vector<int64_t> result;
    for (const Json& value : list) {
      if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
        fail("{} of tensor {} contains {}, which is not a size", key, in_quotes(name),
             in_quotes(value.dump()));
      }
      result.push_back(value.get<int64_t>());
    }
    return result;
  }

  const std::string& path_;
};

// Tensor follows tensor from the first byte to the last.
void check_layout(const HeaderReader& reader, std::vector<TensorEntry>& entries,
                  std::span<const std::byte> data) {
  std::ranges::stable_sort(entries, {},
                           [](const TensorEntry& e) { return std::pair(e.bytes.data(), e.bytes.size()); });
  const std::byte* end = data.data();
  for (const TensorEntry& entry : entries) {
    if (entry.bytes.data() != end) {
      reader.fail("tensor {} {}", in_quotes(entry.name),
                  entry.bytes.data() < end ? "overlaps the one before it" : "follows a hole in the data");
    }
    end += entry.bytes.size();
  }
  const auto left = data.data() + data.size() - end;
  if (left != 0) reader.fail("{} bytes at the end belong to no tensor", left);
}

}  // namespace

SafetensorsHeader read_safetensors_header(const std::string& path, std::string_view text,
                                          std::span<const std::byte> data) {
  const HeaderReader reader(path);
  const Json object = parse_safetensors_json(path, text);
  SafetensorsHeader header;
  for (const auto& [name, value] : object.items()) {
    if (name == metadata_key) {
      header.metadata = reader.metadata(value);
    } else {
      header.entries.push_back(reader.entry(name, value, data));
    }
  }
  check_layout(reader, header.entries, data);
  return header;
}

std::string safetensors_header_text(const Metadata& metadata, std::span<const TensorEntry> entries) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  int64_t offset = 0;
  for (const TensorEntry& entry : entries) {
    const int64_t size = size_of(entry);
    CHECK(entry.name != metadata_key && !header.contains(entry.name), "tensor {} twice", entry.name);
    header[entry.name] = {{"dtype", described(entry.dtype).name},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, offset + size}}};
    offset += size;
  }
  std::string text = header.dump();
  const size_t end = sizeof(uint64_t) + text.size();
  text.append((end + data_alignment - 1) / data_alignment * data_alignment - end, ' ');
  return text;
}

int64_t size_of(const TensorEntry& entry) {
  int64_t size = 0;
  CHECK(multiply(entry.shape, described(entry.dtype).size, size), "tensor {}", entry.name);
  return size;
}

std::string describe(const TensorEntry& entry) {
  return fmt::format("{} [{}]", described(entry.dtype).name, fmt::join(entry.shape, ", "));
}

}  // namespace dragoman::internal
