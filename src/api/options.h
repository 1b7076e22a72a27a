// Options by name: of opening a model, of a request, and the public ones over the engine's declarations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "dragoman/options.h"
#include "dragoman/translator.h"
#include "model/decoding_weights.h"
#include "search/options.h"
#include "tensor/device_option.h"

namespace dragoman::internal {

// Of everything that opens a model to translate with it: the commands and the server.
void declare_machine(Section& own, std::string& device, int64_t& threads, Devices devices = Devices::one);
void declare_batch(Section& own, int64_t& batch);
void declare_workers(Section& own, int64_t& workers);

void declare_precision(Section& own, dragoman::Precision& precision);
// The engine's name for it.
RequestedPrecision requested(dragoman::Precision precision);

void declare_prefix_bias(Section& own, SearchOptions& options);

// What a request may set besides the options of every search (search/options.h).
void declare_request(Section& own, SearchOptions& options);

// The given options, with the model's defaults for the others. A UsageError where a name is unknown, a value out of
// range, or two do not fit together.
SearchOptions search_options(const dragoman::Options& given, const SearchOptions& of_model);

std::vector<OptionInfo> request_options();
std::vector<OptionInfo> generation_options();  // those of a language model, with its defaults

// Sets the variables that the given options name. A UsageError where a name is unknown or a value not allowed.
void set_options(Options& declared, const dragoman::Options& given);

// Those that a recipe or a flag has set, as one would hand them to the library.
dragoman::Options given_options(const Options& declared);

std::vector<OptionInfo> describe_options(const Options& declared);

}  // namespace dragoman::internal
