// The steps, each from what a forward pass computed.
#pragma once

#include "report/explain/traced_pair.h"

namespace dragoman::internal {

Step explain_tokens(const TracedPair& traced, const ExplainOptions& options);
Step explain_embedding(const TracedPair& traced, const ExplainOptions& options);
Step explain_positions(const TracedPair& traced, const ExplainOptions& options);
Step explain_attention(const TracedPair& traced, const ExplainOptions& options);
Step explain_norm(const TracedPair& traced, const ExplainOptions& options);
Step explain_feed_forward(const TracedPair& traced, const ExplainOptions& options);
Step explain_output(const TracedPair& traced, const ExplainOptions& options);
Step explain_loss(const TracedPair& traced, const ExplainOptions& options);
Step explain_gradient(const TracedPair& traced, const ExplainOptions& options);

}  // namespace dragoman::internal
