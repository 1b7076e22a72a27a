#include "convert/torch/unpickler.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "convert/torch/pickle_opcodes.h"

namespace dragoman::internal {
namespace {

using namespace pickle_opcodes;

// Bounds the memory: an instruction adds at most one value. The largest vocabularies need some millions.
constexpr size_t max_instructions = 8'000'000;

class Unpickler {
 public:
  Unpickler(ByteReader& bytes, Pickle& pickle) : bytes_(bytes), pickle_(pickle) {}

  void run() {
    if (bytes_.number<uint8_t>() != proto) bytes_.fail("is not a pickle of protocol 2 to 5");
    read_protocol();
    size_t instructions = 0;
    for (auto code = bytes_.number<uint8_t>(); code != stop; code = bytes_.number<uint8_t>()) {
      if (!read_scalar(code) && !read_text(code) && !read_container(code) && !read_tuple(code) &&
          !read_memo(code) && !read_object(code))
        bytes_.fail("has the unsupported pickle instruction {:#x} at byte {}", code, bytes_.position() - 1);
      if (++instructions > max_instructions)
        bytes_.fail("has a pickle of more than the limit of {} instructions", max_instructions);
    }
    pickle_.root = take();
  }

 private:
  void read_protocol() {
    const int protocol = bytes_.number<uint8_t>();
    if (protocol < 2 || protocol > 5)
      bytes_.fail("is a pickle of protocol {}; 2 to 5 are supported", protocol);
  }

  bool read_scalar(uint8_t code) {
    switch (code) {
      case none:
        return push(std::monostate());
      case newtrue:
        return push(true);
      case newfalse:
        return push(false);
      case binint:
        return push(int64_t{bytes_.number<int32_t>()});
      case binint1:
        return push(int64_t{bytes_.number<uint8_t>()});
      case binint2:
        return push(int64_t{bytes_.number<uint16_t>()});
      case long1:
        return push_long(bytes_.number<uint8_t>());
      case long4:
        return push_long(bytes_.number<uint32_t>());
      case binfloat:
        return push(std::bit_cast<double>(__builtin_bswap64(bytes_.number<uint64_t>())));
      default:
        return false;
    }
  }

  bool read_text(uint8_t code) {
    switch (code) {
      case short_binstring:
      case short_binunicode:
        return push(bytes_.text(bytes_.number<uint8_t>()));
      case binstring:
      case binunicode:
        return push(bytes_.text(bytes_.number<uint32_t>()));
      case binunicode8:
        return push(bytes_.text(bytes_.number<uint64_t>()));
      case short_binbytes:
        return push(PickleBytes{bytes_.text(bytes_.number<uint8_t>())});
      case binbytes:
        return push(PickleBytes{bytes_.text(bytes_.number<uint32_t>())});
      case binbytes8:
      case bytearray8:
        return push(PickleBytes{bytes_.text(bytes_.number<uint64_t>())});
      default:
        return false;
    }
  }

  bool read_container(uint8_t code) {
    switch (code) {
      case empty_dict:
        return push(PickleDict());
      case empty_list:
      case empty_set:
        return push(PickleList());
      case mark:
        marks_.push_back(stack_.size());
        return true;
      case pop:
        take();
        return true;
      case pop_mark:
        take_marked();
        return true;
      case append:
        return append_to_top({take()});
      case appends:
      case additems:
        return append_to_top(take_marked());
      case frozenset:
        return push(PickleList{take_marked()});
      case setitem:
        return set_in_top(take_last(2));
      case setitems:
        return set_in_top(take_marked());
      default:
        return false;
    }
  }

  bool read_tuple(uint8_t code) {
    switch (code) {
      case empty_tuple:
        return push(PickleTuple());
      case tuple1:
        return push(PickleTuple{take_last(1)});
      case tuple2:
        return push(PickleTuple{take_last(2)});
      case tuple3:
        return push(PickleTuple{take_last(3)});
      case tuple:
        return push(PickleTuple{take_marked()});
      default:
        return false;
    }
  }

  bool read_memo(uint8_t code) {
    switch (code) {
      case binput:
        return remember(bytes_.number<uint8_t>());
      case long_binput:
        return remember(bytes_.number<uint32_t>());
      case memoize:
        return remember(static_cast<uint32_t>(memo_.size()));
      case binget:
        return recall(bytes_.number<uint8_t>());
      case long_binget:
        return recall(bytes_.number<uint32_t>());
      default:
        return false;
    }
  }

  bool read_object(uint8_t code) {
    switch (code) {
      case proto:
        read_protocol();
        return true;
      case frame:
        bytes_.number<uint64_t>();
        return true;
      case global:
        return push_global();
      case stack_global:
        return push_stack_global();
      case reduce:
      case newobj:
        return call(take_last(2));
      case newobj_ex:
        take();
        return call(take_last(2));  // without the arguments that have names
      case build:
        return set_state(take());
      case binpersid:
        return push(PicklePersistent{take()});
      default:
        return false;
    }
  }

  template <class T>
  bool push(T contents) {
    stack_.push_back(&pickle_.values.emplace_back(PickleValue{std::move(contents)}));
    return true;
  }

  // In two's complement.
  bool push_long(uint32_t size) {
    const std::string_view bytes = bytes_.text(size);
    if (size > sizeof(int64_t)) return push(PickleBytes{bytes});
    int64_t value = size > 0 && (bytes.back() & 0x80) != 0 ? -1 : 0;
    std::ranges::copy(bytes, reinterpret_cast<char*>(&value));
    return push(value);
  }

  bool push_global() {
    const std::string_view module = bytes_.line();
    return push(PickleGlobal{module, bytes_.line()});
  }

  bool push_stack_global() {
    const PickleItems names = take_last(2);
    if (!names[0]->text() || !names[1]->text()) damaged();
    return push(PickleGlobal{*names[0]->text(), *names[1]->text()});
  }

  bool call(const PickleItems& function_and_arguments) {
    const auto* const arguments = function_and_arguments[1]->as<PickleTuple>();
    if (!arguments) damaged();
    PickleObject object = {.callable = function_and_arguments[0], .arguments = arguments->items};
    if (object.is("collections", "OrderedDict") && object.arguments.empty()) return push(PickleDict());
    return push(std::make_unique<PickleObject>(std::move(object)));
  }

  // The state of a state dict is metadata about versions: nobody reads it.
  bool set_state(const PickleValue* state) {
    if (PickleObject* const object = top_object())
      object->state = state;
    else if (!top().as<PickleDict>())
      damaged();
    return true;
  }

  bool append_to_top(const PickleItems& values) {
    PickleObject* const object = top_object();
    auto* const list = std::get_if<PickleList>(&top().contents);
    if (!object && !list) damaged();
    PickleItems& items = object ? object->items : list->items;
    items.insert(items.end(), values.begin(), values.end());
    return true;
  }

  bool set_in_top(const PickleItems& keys_and_values) {
    PickleObject* const object = top_object();
    auto* const dict = std::get_if<PickleDict>(&top().contents);
    if ((!object && !dict) || keys_and_values.size() % 2 != 0) damaged();
    PickleEntries& entries = object ? object->entries : dict->entries;
    for (size_t i = 0; i < keys_and_values.size(); i += 2)
      entries.emplace_back(keys_and_values[i], keys_and_values[i + 1]);
    return true;
  }

  bool remember(uint32_t place) {
    memo_[place] = &top();
    return true;
  }
  bool recall(uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) damaged();
    stack_.push_back(found->second);
    return true;
  }

  // The values above the last mark belong to what the mark began.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue& top() {
    if (stack_.size() <= floor()) damaged();
    return *stack_.back();
  }
  PickleObject* top_object() {
    auto* const object = std::get_if<std::unique_ptr<PickleObject>>(&top().contents);
    return object ? object->get() : nullptr;
  }
  PickleValue* take() {
    PickleValue* const value = &top();
    stack_.pop_back();
    return value;
  }
  PickleItems take_last(size_t count) {
    if (stack_.size() - floor() < count) damaged();
    return take_from(stack_.size() - count);
  }
  PickleItems take_marked() {
    if (marks_.empty()) damaged();
    const size_t begin = marks_.back();
    marks_.pop_back();
    return take_from(begin);
  }
  PickleItems take_from(size_t begin) {
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
    PickleItems items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  [[noreturn]] void damaged() const {
    bytes_.fail("is damaged: invalid pickle at byte {}", bytes_.position());
  }

  ByteReader& bytes_;
  Pickle& pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint32_t, PickleValue*> memo_;
};

}  // namespace

bool is_pickle(std::span<const std::byte> file) { return !file.empty() && file[0] == std::byte{proto}; }

void unpickle(ByteReader& bytes, Pickle& pickle) { Unpickler(bytes, pickle).run(); }

}  // namespace dragoman::internal
