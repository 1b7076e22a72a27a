// The readers that targets.cpp lists, each with its seeds; grouped by the file that defines them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// training_targets.cpp: what a training run reads: recipes, flags, its own files

std::string read_recipe(std::string_view bytes);
std::vector<std::string> recipe_seeds();
std::string read_flags(std::string_view bytes);
std::vector<std::string> flag_seeds();
std::string read_metrics_history(std::string_view bytes);
std::vector<std::string> metrics_seeds();
std::string read_checkpoint(std::string_view bytes);
std::vector<std::string> checkpoint_seeds();
std::string read_run_state(std::string_view bytes);
std::vector<std::string> run_state_seeds();

// student_target.cpp

std::string read_student_recipe(std::string_view bytes);
std::vector<std::string> student_recipe_seeds();

// memory_targets.cpp: a part and the log of a translation memory, and what memories are built from

std::string read_memory_part(std::string_view bytes);
std::vector<std::string> memory_part_seeds();
std::string read_memory_log(std::string_view bytes);
std::vector<std::string> memory_log_seeds();
std::string read_segment_file(std::string_view bytes);
std::vector<std::string> segment_file_seeds();

// document_target.cpp: documents; the first byte chooses the format

std::string read_document(std::string_view bytes);
std::vector<std::string> document_seeds();

// pdf_target.cpp: words at any places of a page

std::string read_pdf_words(std::string_view bytes);
std::vector<std::string> pdf_word_seeds();

// glossary_target.cpp

std::string read_glossary_file(std::string_view bytes);
std::vector<std::string> glossary_seeds();

// foreign_targets.cpp: files of other systems' models

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

// import_target.cpp: the importers as a whole: folders of other systems' models, packed into one text, and Argos's
// archives

std::string read_importable(std::string_view bytes);
std::vector<std::string> importable_seeds();
std::string read_argos_package(std::string_view bytes);
std::vector<std::string> argos_package_seeds();

// hub_targets.cpp: what comes from the network: the indexes of published models

std::string read_argos_index(std::string_view bytes);
std::vector<std::string> argos_indexes();
std::string read_firefox_index(std::string_view bytes);
std::vector<std::string> firefox_indexes();

// http_target.cpp: what clients of the server send

// The first two bytes say how the others are cut into reads. Accepted requests must not depend on that, and must be
// the same to a second parser.
std::string read_http_requests(std::string_view bytes);
std::vector<std::string> http_request_seeds();

// routes_target.cpp: whole requests, as the routes of all APIs answer them

std::string read_requests_to_routes(std::string_view bytes);
std::vector<std::string> seeds_of_requests_to_routes();

// serve_targets.cpp: what clients send in bodies: forms, with files and without, and glossaries

std::string read_multipart(std::string_view bytes);
std::vector<std::string> multipart_seeds();
std::string read_urlencoded(std::string_view bytes);
std::vector<std::string> urlencoded_seeds();
std::string read_client_glossary(std::string_view bytes);
std::vector<std::string> client_glossary_seeds();

}  // namespace dragoman::internal
