// Python's pickles of protocols 2 to 5, read as data: nothing is imported, called or run, whatever the pickle asks for.
// What Python would make by a call becomes a PickleObject that records the call.
//
// Untrusted pickles may be read. Memory is limited, and any nesting is safe: values do not own each other.
#pragma once

#include "convert/files/byte_reader.h"
#include "convert/torch/pickle_value.h"

namespace dragoman::internal {

// Whether a file begins as a pickle of these protocols does.
bool is_pickle(std::span<const std::byte> file);

// Reads one pickle, up to its end, into `pickle`, and makes it the root. Texts are not copied: they are valid as long
// as the bytes are.
void unpickle(ByteReader& bytes, Pickle& pickle);

}  // namespace dragoman::internal
