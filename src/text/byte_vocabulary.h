// A vocabulary of the 256 bytes of UTF-8, as ByT5 has it.
#pragma once

#include <string>

namespace dragoman::internal {

// A SentencePiece model: <pad>, </s> and <unk>, then each byte, so that byte b is token b + 3. White space is text as
// any other.
std::string byte_model();

}  // namespace dragoman::internal
