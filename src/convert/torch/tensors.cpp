#include "convert/torch/tensors.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

// More than any model has. Dicts that contain each other could have any number.
constexpr int max_depth = 50;
constexpr size_t max_dimensions = 64;
constexpr size_t max_values = 8'000'000, max_torch_tensors = 100'000, max_name_bytes = 1000;

constexpr std::array<std::pair<std::string_view, ElementType>, 10> storage_types = {
    {{"FloatStorage", ElementType::f32},
     {"HalfStorage", ElementType::f16},
     {"BFloat16Storage", ElementType::bf16},
     {"DoubleStorage", ElementType::f64},
     {"CharStorage", ElementType::i8},
     {"ByteStorage", ElementType::u8},
     {"ShortStorage", ElementType::i16},
     {"IntStorage", ElementType::i32},
     {"LongStorage", ElementType::i64},
     {"BoolStorage", ElementType::boolean}}};

ElementType storage_type(const std::string& path, const PickleValue& type) {
  const auto* const global = type.as<PickleGlobal>();
  const auto found =
      std::ranges::find(storage_types, global ? global->name : "", [](const auto& t) { return t.first; });
  if (!global || !global->module.starts_with("torch") || found == storage_types.end())
    throw Error("{} has a tensor of {}, which is not supported; save it in another type", path,
                in_quotes(type.described()));
  return found->second;
}

// The object that makes a tensor; null if the value is not a tensor.
const PickleObject* tensor_object(const PickleValue& value) {
  const PickleObject* object = value.object();
  while (object && !object->arguments.empty() &&
         (object->is("torch._utils", "_rebuild_parameter") ||
          object->is("torch._utils", "_rebuild_parameter_with_state")))
    object = object->arguments[0]->object();
  const auto* const function = object ? object->callable->as<PickleGlobal>() : nullptr;
  const bool makes_tensor =
      function && function->module.starts_with("torch.") && function->name.starts_with("_rebuild_");
  return makes_tensor ? object : nullptr;
}

class Collector {
 public:
  Collector(const std::string& path, const std::function<SharedBytes(const TorchStorage&)>& data_of)
      : path_(path), data_of_(data_of) {}

  void visit_dict(const PickleValue& dict, const std::string& prefix, int depth) {
    if (depth > max_depth) throw Error("{} nests more than the limit of {} dicts", path_, max_depth);
    for (const auto& [key, value] : dict.entries()) {
      if (++values_ > max_values)
        throw Error("{} has dicts with more than the limit of {} values", path_, max_values);
      const PickleObject* const tensor = tensor_object(*value);
      if (!tensor && value->entries().empty()) continue;
      if (!key->text() && !key->integer()) continue;
      const std::string name =
          prefix + (key->text() ? std::string(*key->text()) : std::to_string(*key->integer()));
      if (name.size() > max_name_bytes)
        throw Error("{} has a tensor name of more than the limit of {} bytes: {}", path_, max_name_bytes,
                    in_quotes(name));
      if (tensor)
        add(name, *tensor);
      else
        visit_dict(*value, name + ".", depth + 1);
    }
  }

  ForeignTensors take() { return std::move(tensors_); }

 private:
  void add(const std::string& name, const PickleObject& object) {
    if (tensors_.size() == max_torch_tensors)
      throw Error("{} has more than the limit of {} tensors", path_, max_torch_tensors);
    const bool plain =
        object.is("torch._utils", "_rebuild_tensor_v2") || object.is("torch._utils", "_rebuild_tensor");
    if (!plain)
      throw Error("{}: tensor {} is made by {}, which is not supported; save it as a plain tensor", path_,
                  in_quotes(name), in_quotes(object.callable->described()));
    const auto* const persistent =
        object.arguments.size() < 4 ? nullptr : object.arguments[0]->as<PicklePersistent>();
    const auto offset = persistent ? object.arguments[1]->integer() : std::nullopt;
    if (!offset) damaged(name);
    const TorchStorage storage = read_storage(path_, *persistent);
    ForeignTensor tensor = {.type = storage.type,
                            .shape = integers(name, *object.arguments[2]),
                            .strides = integers(name, *object.arguments[3]),
                            .data = {},
                            .owner = {}};
    place(name, tensor, storage, *offset);
    tensors_.insert_or_assign(name, std::move(tensor));
  }

  void place(const std::string& name, ForeignTensor& tensor, const TorchStorage& storage, int64_t offset) {
    SharedBytes data = data_of_(storage);
    const auto count = extent(tensor.shape, tensor.strides);
    const size_t size = element_size(tensor.type);
    const auto in_file = static_cast<int64_t>(data.bytes.size() / size);
    const auto fits = [](int64_t begin, int64_t length, int64_t within) {
      return begin >= 0 && length >= 0 && begin <= within && length <= within - begin;
    };
    if (!count || !fits(storage.begin, storage.count, in_file) || !fits(offset, *count, storage.count))
      throw Error("{}: tensor {} reaches beyond its data; the file is truncated or damaged", path_,
                  in_quotes(name));
    tensor.data = data.bytes.subspan(static_cast<size_t>(storage.begin + offset) * size,
                                     static_cast<size_t>(*count) * size);
    tensor.owner = std::move(data.owner);
  }

  // A tuple, or a torch.Size of one.
  std::vector<int64_t> integers(const std::string& name, const PickleValue& value) const {
    const bool size =
        value.object() && value.object()->is("torch", "Size") && !value.object()->arguments.empty();
    const auto items = size ? value.object()->arguments[0]->items() : value.items();
    if (items.size() > max_dimensions) damaged(name);
    std::vector<int64_t> numbers;
    for (const PickleValue* const item : items) {
      if (!item->integer()) damaged(name);
      numbers.push_back(*item->integer());
    }
    return numbers;
  }

  [[noreturn]] void damaged(const std::string& name) const {
    throw Error("{} is damaged: the entry of tensor {} is invalid", path_, in_quotes(name));
  }

  const std::string& path_;
  const std::function<SharedBytes(const TorchStorage&)>& data_of_;
  ForeignTensors tensors_;
  size_t values_ = 0;
};

}  // namespace

// ('storage', class, key, location, count), and in older files a view: None or (key, begin, count)
TorchStorage read_storage(const std::string& path, const PicklePersistent& persistent) {
  const auto id = persistent.id->items();
  const bool complete = id.size() >= 5 && id[0]->text() == "storage" && id[2]->text() && id[4]->integer();
  if (!complete) throw Error("{} is damaged: the entry of a storage is invalid", path);
  TorchStorage storage = {
      .key = *id[2]->text(), .type = storage_type(path, *id[1]), .count = *id[4]->integer(), .begin = 0};
  if (id.size() < 6 || id[5]->items().empty()) return storage;
  const auto view = id[5]->items();
  if (view.size() != 3 || !view[1]->integer() || !view[2]->integer())
    throw Error("{} is damaged: the entry of a view is invalid", path);
  storage.begin = *view[1]->integer();
  storage.count = *view[2]->integer();
  return storage;
}

ForeignTensors collect_tensors(const std::string& path, const PickleValue& root,
                               const std::function<SharedBytes(const TorchStorage&)>& data_of) {
  Collector collector(path, data_of);
  collector.visit_dict(root, "", 1);
  return collector.take();
}

}  // namespace dragoman::internal
