// A SentencePiece model from elsewhere is untrusted: SentencePiece itself reads beyond the end of a damaged one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman::internal {

inline constexpr size_t max_sentencepieces = size_t{1} << 24;

// Throws an Error, which begins with `name`, unless the bytes of a .spm file are a model that SentencePiece can use
// safely: a whole protobuf; pieces of valid UTF-8 with finite scores and known types, exactly one of them unknown; and
// normalisation tables whose transitions and replacements lie within them.
void check_sentencepiece(std::string_view model, const std::string& name);

}  // namespace dragoman::internal
