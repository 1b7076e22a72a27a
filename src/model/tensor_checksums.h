// Checksums of a safetensors file's tensors, among its metadata: "xxh3:NAME" is that of the bytes of tensor NAME. They
// are kept by name, so that a file whose tensors another tool has put into another order stays valid.
#pragma once

#include <span>
#include <string>

#include "model/safetensors_header.h"

namespace dragoman::internal {

void add_checksum(Metadata& metadata, const std::string& tensor, std::string checksum);

// Earlier versions wrote none, nor do other systems.
bool has_checksums(const Metadata& metadata);

// One text for all of them; empty without any. It tells one model's file from another without reading the tensors.
std::string fingerprint(const Metadata& metadata);

// Throws an Error that names the first tensor whose bytes are not those that were written; nothing of a file without
// checksums. As fast as the file is read.
void verify_checksums(const std::string& path, const Metadata& metadata, std::span<const TensorEntry> entries,
                      int threads);

}  // namespace dragoman::internal
