// Matrices of the library as arrays of NumPy.
#pragma once

#include <new>
#include <utility>
#include <vector>

#include <dragoman/network.h>
#include <nanobind/ndarray.h>

namespace dragoman::python {

// The array owns the matrix's numbers. A vector has the first row alone.
inline nanobind::object array_of(Matrix matrix, bool is_vector = false) {
  auto* const values = new std::vector<float>(std::move(matrix.values));
  const nanobind::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  const size_t shape[] = {matrix.rows, matrix.columns}, skipped = is_vector ? 1 : 0;
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, float>(values->data(), 2 - skipped, shape + skipped, owner));
}

}  // namespace dragoman::python

namespace nanobind::detail {

// From arrays of floats in whole rows, which python/dragoman/_network.py makes of others.
template <>
struct type_caster<dragoman::Matrix> {
  using Rows = ndarray<const float, ndim<2>, c_contig, device::cpu>;
  NB_TYPE_CASTER(dragoman::Matrix, const_name("numpy.ndarray"))

  // False where the copy finds no memory: nothing may be thrown here.
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept try {
    make_caster<Rows> array;
    if (!array.from_python(source, flags, cleanup)) return false;
    const Rows& rows = array.value;
    value = {
        .rows = rows.shape(0), .columns = rows.shape(1), .values = {rows.data(), rows.data() + rows.size()}};
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  static handle from_cpp(dragoman::Matrix&& matrix, rv_policy, cleanup_list*) noexcept {
    return dragoman::python::array_of(std::move(matrix)).release();
  }
};

}  // namespace nanobind::detail
