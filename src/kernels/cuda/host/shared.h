// Shared memory as the host's kernels see it: an array whose elements are checked as they are read and written.
#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/host/machine.h"

namespace dragoman::internal::on_host {

// s[i], until the end of the expression: `auto x = s[i]` would be read later than on a GPU, so that it cannot be read.
template <class T>
class SharedElement {
 public:
  SharedElement(int64_t offset, Place place) : offset_(offset), place_(place) {}

  operator T() && { return get(); }
  void operator=(T x) && { set(x); }
  void operator=(SharedElement&& other) && { set(other.get()); }
  void operator+=(T x) && { set(static_cast<T>(get() + x)); }
  void operator-=(T x) && { set(static_cast<T>(get() - x)); }
  void operator*=(T x) && { set(static_cast<T>(get() * x)); }
  void operator/=(T x) && { set(static_cast<T>(get() / x)); }
  void operator|=(T x) && { set(static_cast<T>(get() | x)); }
  void operator&=(T x) && { set(static_cast<T>(get() & x)); }
  void operator^=(T x) && { set(static_cast<T>(get() ^ x)); }

 private:
  T get() const {
    T x;
    std::memcpy(&x, read_shared(offset_, sizeof(T), place_), sizeof(T));
    return x;
  }
  void set(T x) const { std::memcpy(write_shared(offset_, sizeof(T), place_), &x, sizeof(T)); }

  int64_t offset_;
  Place place_;
};

// An index that knows where it was written.
struct SharedIndex {
  SharedIndex(std::integral auto i, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : value(static_cast<int64_t>(i)), place{file, line} {}

  int64_t value;
  Place place;
};

// As a pointer, it knows no end of its own, only that of the block's shared memory.
template <class T>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0,
                "accesses are checked by words of 4 bytes");

 public:
  explicit SharedArray(int64_t offset) : offset_(offset) {}

  SharedElement<T> operator[](SharedIndex i) const { return {offset_ + i.value * bytes, i.place}; }
  int64_t place(int64_t i) const { return offset_ + i * bytes; }  // in bytes
  SharedArray operator+(int64_t i) const { return SharedArray(offset_ + i * bytes); }
  SharedArray& operator+=(int64_t i) { return *this = *this + i; }

 private:
  static constexpr int64_t bytes = sizeof(T);

  int64_t offset_;
};

}  // namespace dragoman::internal::on_host
