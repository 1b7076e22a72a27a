#include "device/protected_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr size_t page = 4096,
                 arena_size = size_t{1} << 40;  // addresses alone: pages come when they are touched

// All of it is one arena, so that one call opens it or closes it.
class ProtectedMemory final : public DeviceMemory {
 public:
  ProtectedMemory() {
    void* data = mmap(nullptr, arena_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(data != MAP_FAILED, "mmap: {}", std::strerror(errno));
    arena_ = static_cast<char*>(data);
  }

  void* reserve(size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t size = whole_pages(bytes);
    const auto found = std::ranges::find(free_, size, &Region::size);
    if (found != free_.end()) {
      char* const data = found->data;
      free_.erase(found);
      return data;
    }
    CHECK(used_ + size <= arena_size, "{} bytes after {}", size, used_);
    char* const data = arena_ + used_;
    used_ += size;
    if (users_ > 0) protect(PROT_READ | PROT_WRITE);
    return data;
  }
  void release(void* data, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t size = whole_pages(bytes);
    madvise(data, size, MADV_DONTNEED);
    free_.push_back({static_cast<char*>(data), size});
  }

  void commit(void*, size_t) override {}

  void upload(void* to, const void* from, size_t bytes) override {
    EXPECT_TRUE(contains(to) && !contains(from));
    copy_bytes(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    EXPECT_TRUE(!contains(to) && contains(from));
    copy_bytes(to, from, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override {
    EXPECT_TRUE(contains(to) && contains(from));
    copy_bytes(to, from, bytes);
  }
  void fill(Matrix to, float value) override {
    EXPECT_TRUE(to.rows == 0 || contains(to.data));
    open();
    cpu_memory().fill(to, value);
    close();
  }

  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) override {
    void* const data = reserve(bytes);
    upload(data, host.get(), bytes);
    return {data, [this, bytes](const void* adopted) { release(const_cast<void*>(adopted), bytes); }};
  }
  bool is_host_memory() const override { return false; }

  bool contains(const void* pointer) const {
    const auto* p = static_cast<const char*>(pointer);
    return p >= arena_ && p < arena_ + arena_size;
  }

  // For as long as anyone uses it: searches run side by side.
  void open() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) protect(PROT_NONE);
  }

 private:
  struct Region {
    char* data;
    size_t size;
  };

  void copy_bytes(void* to, const void* from, size_t bytes) {
    open();
    if (bytes > 0) std::memcpy(to, from, bytes);
    close();
  }
  void protect(int access) {
    CHECK(mprotect(arena_, used_, access) == 0, "mprotect: {}", std::strerror(errno));
  }
  static size_t whole_pages(size_t bytes) { return (bytes + page - 1) / page * page; }

  std::mutex mutex_;
  char* arena_ = nullptr;
  std::vector<Region> free_;
  size_t used_ = 0;
  int users_ = 0;
};

ProtectedMemory& memory() {
  static ProtectedMemory memory;
  return memory;
}

// --- what a kernel is given -------------------------------------------------------------------------

void check(const void* pointer) {
  EXPECT_TRUE(pointer == nullptr || memory().contains(pointer)) << "a kernel is given host memory";
}
void check(const Dropout& dropout) { check(dropout.rows); }
void check(const Epilogue& epilogue) {
  check(epilogue.bias);
  check(epilogue.before_activation);
  check(epilogue.dropout);
}
void check(const AttentionShape& shape) {
  check(shape.queries);
  check(shape.keys);
  check(shape.key_rows);
  check(shape.dropout);
  for (const ConstMatrix& table : {shape.distance_bias, shape.distance_keys, shape.distance_values})
    check(static_cast<const void*>(table.data));
}
void check(const DistanceGradients& gradients) {
  for (const Matrix& table : {gradients.bias, gradients.keys, gradients.values})
    check(static_cast<const void*>(table.data));
}
void check(const NearestShape& shape) {
  check(shape.spans);
  check(shape.rows);
  check(shape.words);
}
void check(const SsruShape& shape) {
  check(shape.spans);
  check(shape.keys);
  check(shape.key_rows);
}
void check(const SmallProduct*) {}  // a list of the host's
void check(const LowPrecisionMatrix& matrix) {
  check(matrix.data);
  check(matrix.scales);
}
template <class T>
void check(const T& argument) {
  if constexpr (requires {
                  argument.columns;
                  argument.data;
                }) {
    if (argument.rows > 0) check(static_cast<const void*>(argument.data));
  } else if constexpr (std::is_pointer_v<T>) {
    check(static_cast<const void*>(argument));
  }
}

// --- the table --------------------------------------------------------------------------------------

const Kernels& cpu_kernels() { return kernels_for(nullptr); }

template <auto entry, class Function>
struct Opened;
template <auto entry, class Result, class... Arguments>
struct Opened<entry, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    struct Access {
      Access() { memory().open(); }
      ~Access() { memory().close(); }
    };
    (check(arguments), ...);
    const Access access;
    return entry(cpu_kernels())(arguments...);
  }
};

template <auto entry>
void wrap(Kernels& table) {
  auto& function = entry(table);
  function = Opened<entry, std::remove_cvref_t<decltype(function)>>::call;
}

void wrap_products(Kernels& table) {
  wrap < [](auto& k) -> auto& { return k.products.pack; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.products.product; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.products.multiply; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.products.multiply_each; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.int8; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.bf16; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.rounded.pack; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.rounded.product; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.rounded.multiply; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.low_precision.rounded.multiply_each; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.widen_columns; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.gather_columns; }
  > (table);
}

void wrap_layers(Kernels& table) {
  wrap < [](auto& k) -> auto& { return k.activation_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.embed; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.embed_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.drop; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.add_dropout_norm; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.add_dropout_norm_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.attention; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.attention_weights; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.attention_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.alignment_loss; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.scores_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.rotate; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.normalise_heads; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.normalise_heads_backward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.ssru; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.ssru_backward; }
  > (table);
}

void wrap_the_rest(Kernels& table) {
  wrap < [](auto& k) -> auto& { return k.cross_entropy; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.log_softmax; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.mix_log_probabilities; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.mix_nearest; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.top; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.top_log_probabilities; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.adam; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.move_toward; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.sum_of_squares; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.add; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.multiply_elements; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.polynomial; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.scatter_rows; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.gather_rows; }
  > (table);
  wrap < [](auto& k) -> auto& { return k.pick_columns; }
  > (table);
}

}  // namespace

DeviceMemory& protected_memory() { return memory(); }

// A kernel that is not wrapped crashes.
const Kernels& protected_kernels() {
  static const Kernels table = [] {
    Kernels wrapped = cpu_kernels();
    wrap_products(wrapped);
    wrap_layers(wrapped);
    wrap_the_rest(wrapped);
    return wrapped;
  }();
  return table;
}

}  // namespace dragoman::internal
