// Storage: the memory behind tensors, values and gradient. Parameters point into flat buffers with another owner.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace dragoman::internal {

class Pool;

// A piece of a pool's memory.
struct Block {
  void* data = nullptr;
  int node = -1;  // the pool's number for it
};

class Storage {
 public:
  float* data = nullptr;
  float* gradient = nullptr;  // null until it is first written; a parameter's is there from the start
  uint16_t* rounded_gradient = nullptr;  // what there is instead of it, if it is in bf16
  int64_t size = 0;                      // elements
  bool parameter = false;
  int pending = 0;  // closures on the tape that will still add to this parameter's gradient
  int index = -1;   // a parameter's number

  // The values in bf16, at the same places, for the products that read them: instead of the floats, or as well, once
  // they are asked for.
  uint16_t* rounded = nullptr;
  Block rounded_block;

  // The matrix packed for products, kept while a parameter does not change; see ops/products.h.
  const float* packed = nullptr;
  bool packed_transposed = false;
  Block packed_block;  // its memory, unless it is borrowed

  // What decoding may have instead of a parameter's floats, data then being null. It has another owner.
  LowPrecisionMatrix low_precision = {};

 private:
  friend class StorageRef;
  friend class Tensor;
  bool values_in_bf16_ = false, gradient_in_bf16_ = false;  // and in nothing else
  int references_ = 0;
  Pool* pool_ = nullptr;
  Block data_block_, gradient_block_;
};

}  // namespace dragoman::internal
