// The GPU's kernels. This file is compiled twice: by nvcc for the plug-in (cmake/cuda.cmake), whose memory and contexts
// gpu/ adds; and by the host's compiler for tests (cmake/cuda_on_host.cmake).
#include "kernels/cuda/table.h"

#include "kernels/cuda/activations.inl.h"
#include "kernels/cuda/alignment.inl.h"
#include "kernels/cuda/attention.inl.h"
#include "kernels/cuda/attention_backward.inl.h"
#include "kernels/cuda/attention_distances.inl.h"
#include "kernels/cuda/embedding.inl.h"
#include "kernels/cuda/embedding_backward.inl.h"
#include "kernels/cuda/flat.inl.h"
#include "kernels/cuda/head_norm.inl.h"
#include "kernels/cuda/loss.inl.h"
#include "kernels/cuda/low_precision.inl.h"
#include "kernels/cuda/nearest.inl.h"
#include "kernels/cuda/norm.inl.h"
#include "kernels/cuda/norm_backward.inl.h"
#include "kernels/cuda/products.inl.h"
#include "kernels/cuda/rotary.inl.h"
#include "kernels/cuda/ssru.inl.h"

namespace dragoman::internal {

constexpr Kernels cuda_kernels = {
    .name = "cuda",
    .new_context = nullptr,
    .memory = nullptr,
    .logits_per_chunk = int64_t{128} << 20,
    .products = products_in_floats<Arithmetic::fp32>,
    .low_precision = {.int8 = low_precision_product,
                      .bf16 = low_precision_product,
                      .rounded = rounded_products,
                      .round = round_operand,
                      .attends_in_bf16 = attends_in_bf16,
                      .rounded_is_fast = true},
    .widen_columns = widen_columns,
    .gather_columns = nullptr,
    .activation_backward = activation_backward,
    .embed = embed,
    .embed_backward = embed_backward,
    .drop = drop,
    .add_dropout_norm = add_dropout_norm,
    .add_dropout_norm_backward = add_dropout_norm_backward,
    .attention = attention,
    .attention_weights = attention_weights,
    .attention_backward = attention_backward,
    .alignment_loss = alignment_loss,
    .scores_backward = scores_backward,
    .rotate = rotate,
    .normalise_heads = normalise_heads,
    .normalise_heads_backward = normalise_heads_backward,
    .ssru = ssru,
    .ssru_backward = ssru_backward,
    .cross_entropy = cross_entropy,
    .log_softmax = log_softmax,
    .mix_log_probabilities = mix_log_probabilities,
    .mix_nearest = mix_nearest,
    .top = top,
    .top_log_probabilities = top_log_probabilities,
    .adam = adam,
    .move_toward = move_toward,
    .sum_of_squares = sum_of_squares,
    .add = add,
    .multiply_elements = multiply_elements,
    .polynomial = polynomial,
    .scatter_rows = scatter_rows,
    .gather_rows = gather_rows,
    .pick_columns = pick_columns,
};

Kernels cuda_kernels_on(const char* name, Context* (*new_context)(int threads), DeviceMemory& (*memory)()) {
  Kernels table = cuda_kernels;
  table.name = name;
  table.new_context = new_context;
  table.memory = memory;
  return table;
}

void use_tf32(Kernels& table) { table.products = products_in_floats<Arithmetic::tf32>; }

}  // namespace dragoman::internal
