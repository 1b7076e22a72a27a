#include "api/options.h"

#include <variant>

namespace dragoman::internal {
namespace {

dragoman::OptionValue to_public(const OptionValue& value) {
  return std::visit([](const auto& v) { return dragoman::OptionValue(v); }, value);
}

const char* type_name(const OptionValue& value) {
  constexpr const char* names[] = {"boolean", "integer", "number", "string", "strings", "numbers"};
  return names[value.index()];
}

void declare_all(Options& declared, SearchOptions& options) {
  auto own = declared.section("", "How to translate");
  declare_request(own, options);
  declare(own, options);
}

// A beam turns off the samples that a model draws by default, and samples turn off its beam; the defaults of the one
// that is off are dropped.
void choose_between_beam_and_samples(const Options& declared, SearchOptions& options) {
  const SearchOptions none;
  if (declared.is_given("beam") && !declared.is_given("sample")) options.sample = false;
  if (options.sample && !declared.is_given("beam")) options.beam = none.beam;
  if (options.sample) return;
  if (!declared.is_given("temperature")) options.temperature = none.temperature;
  if (!declared.is_given("top-k")) options.top_k = none.top_k;
  if (!declared.is_given("top-p")) options.top_p = none.top_p;
  if (!declared.is_given("seed")) options.seed = none.seed;
}

}  // namespace

void declare_machine(Section& own, std::string& device, int64_t& threads, Devices devices) {
  declare_device(own, device, devices);
  own.add("threads", threads, "threads to use; 0: all processors", at_least(0).at_most(1024));
}

void declare_precision(Section& own, dragoman::Precision& precision) {
  own.add("precision", precision, "precision of the weights; auto: as in the model folder",
          {{"auto", dragoman::Precision::as_saved},
           {"fp32", dragoman::Precision::fp32},
           {"bf16", dragoman::Precision::bf16},
           {"int8", dragoman::Precision::int8}});
}

RequestedPrecision requested(dragoman::Precision precision) {
  static_assert(int(dragoman::Precision::as_saved) == int(RequestedPrecision::as_saved) &&
                int(dragoman::Precision::fp32) == int(RequestedPrecision::fp32) &&
                int(dragoman::Precision::bf16) == int(RequestedPrecision::bf16) &&
                int(dragoman::Precision::int8) == int(RequestedPrecision::int8));
  return static_cast<RequestedPrecision>(precision);
}

void declare_batch(Section& own, int64_t& batch) {
  own.add("batch", batch,
          "sentences per batch; 0: 32 on a processor, on a GPU as many as its memory holds well, up to 1024",
          at_least(0).at_most(10'000));
}

void declare_workers(Section& own, int64_t& workers) {
  own.add("workers", workers,
          "batches to translate in parallel on each device, sharing the threads; 0: one per thread, up to 8",
          at_least(0).at_most(1024));
}

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
  choose_between_beam_and_samples(declared, options);
  validate(options);
  return options;
}

std::vector<OptionInfo> generation_options() {
  SearchOptions options = language_model_search();
  Options declared;
  auto own = declared.section("", "");
  declare_output(own, options);
  return describe_options(declared);
}

std::vector<OptionInfo> request_options() {
  SearchOptions options;
  Options declared;
  declare_all(declared, options);
  return describe_options(declared);
}

void set_options(Options& declared, const dragoman::Options& given) {
  for (const auto& [name, value] : given)
    declared.set(name, std::visit([](const auto& v) { return OptionValue(v); }, value));
}

dragoman::Options given_options(const Options& declared) {
  dragoman::Options given;
  for (const Option& option : declared.all()) {
    if (!option.origin.empty()) given.emplace_back(option.key(), to_public(option.get()));
  }
  return given;
}

std::vector<OptionInfo> describe_options(const Options& declared) {
  std::vector<OptionInfo> all;
  for (const Option& option : declared.all()) {
    all.push_back({.name = option.key(),
                   .help = option.help,
                   .type = type_name(option.default_value),
                   .limits = option.limits.empty() ? option.kind : option.limits,
                   .default_value = to_public(option.default_value)});
  }
  return all;
}

}  // namespace dragoman::internal
