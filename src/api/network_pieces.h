// What each function of a Network computes: the model's functions of the same names, on numbers of the host. Throw a
// UsageError where what is given does not fit the model.
#pragma once

#include "dragoman/network.h"
#include "model/transformer.h"

namespace dragoman::internal {

dragoman::Matrix encode(Pass&, Transformer&, const Ids& source);
dragoman::Matrix decode(Pass&, Transformer&, const Ids& target, const dragoman::Matrix& memory);
dragoman::Matrix logits(Pass&, Transformer&, const dragoman::Matrix& states);

dragoman::Matrix embed(Pass&, Transformer&, Stack, const Ids& ids);
dragoman::Matrix positions(Transformer&, Stack, int64_t count);
dragoman::Matrix self_attention(Pass&, Transformer&, Stack, int64_t layer, const dragoman::Matrix& x);
dragoman::Matrix cross_attention(Pass&, Transformer&, int64_t layer, const dragoman::Matrix& x,
                                 const dragoman::Matrix& memory);
dragoman::Matrix feed_forward(Pass&, Transformer&, Stack, int64_t layer, const dragoman::Matrix& x);

double loss(Pass&, Transformer&, const std::vector<IdPair>& pairs, double label_smoothing);
Gradients gradients(Pass&, Transformer&, const std::vector<IdPair>& pairs, double label_smoothing);

std::vector<NamedMatrix> parameters(const Transformer&);
void set_parameters(Transformer&, const std::vector<NamedMatrix>& values);

}  // namespace dragoman::internal
