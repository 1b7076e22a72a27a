// What a model's folder keeps of the text that it was trained with (data.sample), so that the model can be adapted
// later without forgetting what it knows: sample.tsv has pairs of the training text, unseen.tsv of the validation set,
// by which forgetting is measured. Each line is source, tab, target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/prepare_corpus.h"

namespace dragoman::internal {

// Evenly over the text, which may be sorted.
void keep_at_most(std::vector<TextPair>& pairs, int64_t count);

std::string sample_path(const std::string& model_folder);
std::string unseen_path(const std::string& model_folder);

// At most so many pairs, evenly from the whole corpus, decoded from its subwords; without those that have unknown ones.
// 0: removes the file. The same corpus gives the same bytes.
void write_sample(const PreparedCorpus& corpus, int64_t pairs, const std::string& model_folder);

// A thousand of these pairs, or all; of none: removes the file.
void write_unseen(std::vector<TextPair> validation, const std::string& model_folder);

}  // namespace dragoman::internal
