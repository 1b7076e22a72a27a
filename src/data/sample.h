// The sample of its training text that a model's folder keeps (data.sample), so that the model can be adapted later
// without forgetting what it knows: sample.tsv, source, tab, target.
#pragma once

#include <cstdint>
#include <string>

#include "data/prepare_corpus.h"

namespace dragoman::internal {

std::string sample_path(const std::string& model_folder);

// About so many pairs, evenly from the whole corpus, decoded from its subwords; without those that have unknown ones.
// 0: removes the file. The same corpus gives the same bytes.
void write_sample(const PreparedCorpus& corpus, int64_t pairs, const std::string& model_folder);

}  // namespace dragoman::internal
