// The kernels of one instruction set: this file is compiled once for each (see cmake/kernels.cmake), and its
// object file exports only the table at the end.
#include "kernels/cpu/activations.inl.h"
#include "kernels/cpu/alignment.inl.h"
#include "kernels/cpu/attention.inl.h"
#include "kernels/cpu/attention_backward.inl.h"
#include "kernels/cpu/embedding.inl.h"
#include "kernels/cpu/flat.inl.h"
#include "kernels/cpu/head_norm.inl.h"
#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/low_precision.inl.h"
#include "kernels/cpu/nearest.inl.h"
#include "kernels/cpu/norm.inl.h"
#include "kernels/cpu/product_kernels.inl.h"
#include "kernels/cpu/rotary.inl.h"
#include "kernels/cpu/ssru.inl.h"
#include "kernels/cpu/table_name.h"
#include "kernels/kernels.h"

#define DRAGOMAN_TEXT2(a) #a
#define DRAGOMAN_TEXT(a) DRAGOMAN_TEXT2(a)

namespace dragoman::internal {

DeviceMemory& cpu_memory();

extern const Kernels DRAGOMAN_TABLE_NAME;

const Kernels DRAGOMAN_TABLE_NAME = {
    .name = DRAGOMAN_TEXT(DRAGOMAN_INSTRUCTION_SET),
    .new_context = new_cpu_context,
    .memory = cpu_memory,
    .logits_per_chunk = int64_t{16} << 20,
    .products = product_kernels<Singles>,
    .low_precision = {.int8 = int8_product,
                      .bf16 = low_precision_product<Bf16>,
                      .rounded = product_kernels<RoundedFloats>,
                      .round = nullptr,
                      .attends_in_bf16 = nullptr,
                      .rounded_is_fast = has_bf16_instructions},
    .widen_columns = widen_columns,
    .gather_columns = gather_columns,
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

}  // namespace dragoman::internal
