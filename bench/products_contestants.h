// The same product by three libraries: ours, oneDNN and OpenBLAS. Each is prepared once and then called many times.
//
// In training the right operand changes in every call, so packing it is part of the call. In decoding it is packed once
// if the library can do so, and read from memory: the calls cycle through several copies of it.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#if defined(DRAGOMAN_WITH_ONEDNN)
#include <oneapi/dnnl/dnnl.hpp>
#endif
#if defined(DRAGOMAN_WITH_OPENBLAS)
#include <cblas.h>
#endif

#include "kernels/low_precision.h"

namespace dragoman::internal::bench {

enum class Use { plain, transposed, weight_gradient, decoding, decoding_int8 };
enum class Rounding { none, bf16 };  // of both operands in training

// c (m × n) from an inner index of k: a is stored transposed for weight_gradient, b for transposed.
struct Shape {
  const char* name;
  Use use;
  int64_t m, k, n;
  Rounding rounding = Rounding::none;

  double operations() const { return 2.0 * static_cast<double>(m * k * n); }
  bool int8() const { return use == Use::decoding_int8; }
  bool bf16() const { return rounding == Rounding::bf16; }
  double weight_bytes() const { return (int8() ? 1.0 : 4.0) * static_cast<double>(k * n); }
  bool a_transposed() const { return use == Use::weight_gradient; }
  bool b_transposed() const { return use == Use::transposed; }
  bool accumulate() const { return use == Use::weight_gradient; }
  bool packed_once() const { return use == Use::decoding || int8(); }
  int copies() const {
    return packed_once() ? static_cast<int>(std::clamp(160e6 / weight_bytes(), 1.0, 640.0)) : 1;
  }
};

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

// In huge pages, as in training; nearly normally distributed, as normalised rows and weights are.
inline Floats floats(int64_t count) {
  const size_t page = size_t{2} << 20, bytes = (static_cast<size_t>(count) * 4 + page - 1) / page * page;
  Floats memory(static_cast<float*>(std::aligned_alloc(page, bytes)));
  madvise(memory.get(), bytes, MADV_HUGEPAGE);
  uint32_t x = 12345;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int part = 0; part < 4; ++part) {
      x = x * 1664525u + 1013904223u;
      sum += static_cast<float>(x >> 8) * 0x1p-24f - 0.5f;
    }
    memory[static_cast<size_t>(i)] = sum;
  }
  return memory;
}

struct Data {
  explicit Data(const Shape& shape) : a(floats(shape.m * shape.k)), c(floats(shape.m * shape.n)) {
    for (int i = 0; i < (shape.int8() ? 1 : shape.copies()); ++i) b.push_back(floats(shape.k * shape.n));
  }
  Floats a, c;
  std::vector<Floats> b;  // int8: one, of which each library makes the copies
};

// Computes the product with copy number `copy` of b.
using Call = std::function<void(int copy)>;

inline Call our_call(const Shape& s, Data& data, const Kernels& kernels, CpuContext& context) {
  const float* b = data.b[0].get();
  const ConstMatrix a = s.a_transposed() ? ConstMatrix{data.a.get(), s.k, s.m, s.m, 1}.transposed()
                                         : ConstMatrix{data.a.get(), s.m, s.k, s.k, 1};
  const ConstMatrix weights =
      s.b_transposed() ? ConstMatrix{b, s.n, s.k, s.k, 1}.transposed() : ConstMatrix{b, s.k, s.n, s.n, 1};
  const Matrix c = {data.c.get(), s.m, s.n, s.n};
  const Epilogue epilogue = {.accumulate = s.accumulate()};
  if (!s.packed_once()) {
    const ProductKernels& products = s.bf16() ? kernels.low_precision.rounded : kernels.products;
    return [=, &products, &context](int) { products.multiply(context, a, weights, c, epilogue); };
  }
  auto packed = std::make_shared<std::vector<Floats>>();
  for (const Floats& copy : data.b) {
    packed->push_back(floats(kernels.products.packed_size(s.k, s.n)));
    kernels.products.pack(context, {copy.get(), s.k, s.n, s.n, 1}, packed->back().get());
  }
  return [=, &s, &kernels, &context](int copy) {
    kernels.products.product(context, a, {(*packed)[static_cast<size_t>(copy)].get(), s.k, s.n}, c, epilogue);
  };
}

// The call includes rounding the rows of a to 8 bits and converting the sums to floats.
inline Call our_int8_call(const Shape& s, Data& data, const Kernels& kernels, CpuContext& context) {
  const int64_t size = low_precision_size(Precision::int8, s.k, s.n);
  const auto weights = std::make_shared<Floats>(floats(s.copies() * size / 4)),
             scales = std::make_shared<Floats>(floats(s.n));
  std::vector<LowPrecisionMatrix> copies;
  for (int64_t copy = 0; copy < s.copies(); ++copy) {
    auto* to = reinterpret_cast<unsigned char*>(weights->get()) + copy * size;
    copies.push_back(
        to_low_precision(context, Precision::int8, {data.b[0].get(), s.k, s.n, s.n, 1}, to, scales->get()));
  }
  const ConstMatrix a = {data.a.get(), s.m, s.k, s.k, 1};
  const Matrix c = {data.c.get(), s.m, s.n, s.n};
  return [=, &kernels, &context](int copy) {
    kernels.low_precision.int8(context, a, copies[static_cast<size_t>(copy)], c, {});
    (void)weights, (void)scales;
  };
}

#if defined(DRAGOMAN_WITH_ONEDNN)
inline Call onednn_sgemm_call(const Shape& s, Data& data) {
  return [&s, &data](int copy) {
    dnnl::sgemm(s.a_transposed() ? 'T' : 'N', s.b_transposed() ? 'T' : 'N', s.m, s.n, s.k, 1.0f, data.a.get(),
                s.a_transposed() ? s.m : s.k, data.b[static_cast<size_t>(copy)].get(),
                s.b_transposed() ? s.k : s.n, s.accumulate() ? 1.0f : 0.0f, data.c.get(), s.n);
  };
}

// The matmul primitive; weights that are packed once are in its preferred layout. In int8 and bf16 the operands are
// given in 8 or 16 bits (with arbitrary values): rounding is not part of the call.
inline Call onednn_matmul_call(const Shape& s, Data& data) {
  using namespace dnnl;
  using Tag = memory::format_tag;
  using Type = memory::data_type;
  auto engine = std::make_shared<dnnl::engine>(dnnl::engine::kind::cpu, 0);
  auto queue = std::make_shared<dnnl::stream>(*engine);
  const Type rounded = s.bf16() ? Type::bf16 : Type::f32;
  const Type a_type = s.int8() ? Type::u8 : rounded, b_type = s.int8() ? Type::s8 : rounded;
  const memory::desc a(memory::dims{s.m, s.k}, a_type, s.a_transposed() ? Tag::ba : Tag::ab);
  const memory::desc plain_b(memory::dims{s.k, s.n}, b_type, s.b_transposed() ? Tag::ba : Tag::ab);
  const memory::desc any_b(memory::dims{s.k, s.n}, b_type, Tag::any);
  const memory::desc c(memory::dims{s.m, s.n}, Type::f32, Tag::ab);
  primitive_attr attributes;
  post_ops sum;
  if (s.accumulate()) sum.append_sum(1.0f);
  attributes.set_post_ops(sum);
  const matmul::primitive_desc description(matmul::desc(a, s.packed_once() ? any_b : plain_b, c), attributes,
                                           *engine);
  auto primitive = std::make_shared<matmul>(description);
  auto weights = std::make_shared<std::vector<memory>>();
  for (size_t copy = 0; copy < static_cast<size_t>(s.copies()); ++copy) {
    memory given(plain_b, *engine, data.b[s.int8() ? 0 : copy].get());
    if (s.packed_once()) {
      memory best(description.weights_desc(), *engine);
      reorder(given, best).execute(*queue, given, best);
      queue->wait();
      given = best;
    }
    weights->push_back(given);
  }
  const memory a_memory(a, *engine, data.a.get()), c_memory(c, *engine, data.c.get());
  return [=](int copy) {
    primitive->execute(*queue, {{DNNL_ARG_SRC, a_memory},
                                {DNNL_ARG_WEIGHTS, (*weights)[static_cast<size_t>(copy)]},
                                {DNNL_ARG_DST, c_memory}});
    queue->wait();
  };
}
#endif

#if defined(DRAGOMAN_WITH_OPENBLAS)
inline Call openblas_call(const Shape& s, Data& data) {
  return [&s, &data](int copy) {
    const auto size = [](int64_t n) { return static_cast<blasint>(n); };
    const float* b = data.b[static_cast<size_t>(copy)].get();
    cblas_sgemm(CblasRowMajor, s.a_transposed() ? CblasTrans : CblasNoTrans,
                s.b_transposed() ? CblasTrans : CblasNoTrans, size(s.m), size(s.n), size(s.k), 1.0f,
                data.a.get(), size(s.a_transposed() ? s.m : s.k), b, size(s.b_transposed() ? s.k : s.n),
                s.accumulate() ? 1.0f : 0.0f, data.c.get(), size(s.n));
  };
}

// For a single row BLAS has a separate function, the matrix-vector product.
inline Call openblas_row_call(const Shape& s, Data& data) {
  return [&s, &data](int copy) {
    const blasint k = static_cast<blasint>(s.k), n = static_cast<blasint>(s.n);
    cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1.0f, data.b[static_cast<size_t>(copy)].get(), n,
                data.a.get(), 1, 0.0f, data.c.get(), 1);
  };
}
#endif

}  // namespace dragoman::internal::bench
