// Matrix products for ops: packing of the right operand, and caching it.
#pragma once

#include <span>

#include "tensor/array.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

namespace dragoman::internal {

// Whether products in this precision read operands that have been rounded before: once, by the kernel that writes them
// or by operand(), for all products that read them.
bool rounds_once(const Device&, Precision);

// Whether decoding multiplies by this weight in bf16: what only such products and attention read may be in bf16 alone.
bool is_kept_in_bf16(const Device&, const Tensor& weight);

// x, and where it helps its values in bf16: rounded now, if the kernel that made them has not done it.
ConstMatrix operand(Device&, Precision, const Tensor& x);

// c = a·b (or c + a·b), then the epilogue; b is packed for this call. Here and below, bf16 rounds both operands as they
// are packed.
void multiply(Device&, Precision, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& = {});

// Many small ones, which do not depend on each other.
void multiply_each(Device&, Precision, std::span<const SmallProduct>);

// c = a·weight, or a·weightᵀ. `keep` caches the packed weight with the parameter until it changes
// (Parameters::changed), for decoding; a parameter is cached in one orientation only, and in fp32. A low-precision
// weight is multiplied as it is; in bf16, where products read rounded operands, in rows that are cached likewise.
struct WeightUse {
  bool transposed = false;
  bool keep = false;
  Precision precision = Precision::fp32;
};
void multiply_by_weight(Device&, ConstMatrix a, const Tensor& weight, WeightUse, Matrix c,
                        const Epilogue& = {});

// A right operand packed once, for several products; one that comes rounded is used as it is, and must outlive this.
class Packed {
 public:
  Packed() = default;
  Packed(Device&, Precision, ConstMatrix b);
  // c = a·b, then the epilogue.
  void multiply(Device&, ConstMatrix a, Matrix c, const Epilogue& = {}) const;

 private:
  Tensor memory_;
  ConstMatrix whole_ = {};  // if it is not packed
  Precision precision_ = Precision::fp32;
  int64_t rows_ = 0, columns_ = 0;
};

// Some rows of a weight in its own precision, packed once for several products with their transpose. An element has the
// same bits as in the product with all rows: where that cannot be, rows are not packed.
class PackedRows {
 public:
  static bool possible(const Device& device) { return device.kernels.gather_columns != nullptr; }
  PackedRows(Device&, const Tensor& weight, std::span<const int32_t> rows);
  // c = a·rowsᵀ, then the epilogue.
  void multiply(Device&, ConstMatrix a, Matrix c, const Epilogue& = {}) const;

 private:
  Packed floats_;
  LowPrecisionMatrix low_precision_ = {};  // if the weight is
  Array<unsigned char> low_precision_data_;
  Array<float> low_precision_scales_;
};

}  // namespace dragoman::internal
