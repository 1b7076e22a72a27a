// The targets of convert/, which reads other systems' models: each a function of a file's bytes, and its seeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

std::string read_torch_file(std::string_view bytes);
std::vector<std::string> torch_seeds();

std::string read_safetensors_of_others(std::string_view bytes);
std::vector<std::string> safetensors_of_others();

std::string read_marian(std::string_view bytes);
std::vector<std::string> marian_seeds();

std::string read_shortlist_of_marian(std::string_view bytes);
std::vector<std::string> shortlists_of_marian();

std::string read_yaml(std::string_view bytes);
std::vector<std::string> yaml_seeds();

std::string read_ctranslate2(std::string_view bytes);
std::vector<std::string> ctranslate2_seeds();

}  // namespace dragoman::internal
