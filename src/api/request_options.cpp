#include "api/request_options.h"

#include "api/named_options.h"

namespace dragoman::internal {
namespace {

void declare_all(Options& declared, SearchOptions& options) {
  auto own = declared.section("", "How to translate");
  declare_request(own, options);
  declare(own, options);
}

}  // namespace

void declare_prefix_bias(Section& own, SearchOptions& options) {
  own.add("prefix-bias", options.prefix_bias,
          "weight B of the prefix: while the output follows it, p becomes (1 - B)*p, plus B for the prefix's "
          "next subword; 1: forced",
          above(0).at_most(1));
}

void declare_request(Section& own, SearchOptions& options) {
  own.add("alignment", options.alignment,
          "word alignments, and each output subword's attention to the source");
  declare_prefix_bias(own, options);
}

SearchOptions search_options(const dragoman::Options& given, const SearchOptions& of_model) {
  SearchOptions options = of_model;
  if (given.empty()) return options;
  Options declared;
  declare_all(declared, options);
  set_options(declared, given);
  if (options.sample && !declared.is_given("beam")) options.beam = SearchOptions().beam;
  validate(options);
  return options;
}

std::vector<OptionInfo> request_options() {
  SearchOptions options;
  Options declared;
  declare_all(declared, options);
  return describe_options(declared);
}

}  // namespace dragoman::internal
