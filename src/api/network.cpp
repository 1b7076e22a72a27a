#include "dragoman/network.h"

#include <unistd.h>

#include <mutex>

#include <nlohmann/json.hpp>

#include "api/guard.h"
#include "api/network_inputs.h"
#include "api/network_pieces.h"
#include "api/options.h"
#include "base/files.h"
#include "base/json.h"
#include "base/threads.h"
#include "kernels/devices.h"
#include "model/folder.h"
#include "model/weights.h"
#include "search/text_ids.h"

namespace dragoman {
namespace {

using internal::Buffers;
using internal::ModelConfig;
using internal::Pass;
using internal::Transformer;
using internal::UsageError;

static_assert(int(Stack::encoder) == int(internal::Stack::encoder) &&
              int(Stack::decoder) == int(internal::Stack::decoder));
internal::Stack of_engine(Stack stack) { return static_cast<internal::Stack>(stack); }

Ids ids_of(const std::vector<int32_t>& ids) { return {ids.begin(), ids.end()}; }

ModelConfig config_of(const NewNetwork& network) {
  ModelConfig config;
  internal::Options declared;
  declare(declared, config);
  internal::set_options(declared, network.options);
  config.target_vocabulary = network.target_vocabulary;
  config.source_vocabulary = has_encoder(config) ? network.source_vocabulary : network.target_vocabulary;
  for (const int64_t words : {config.source_vocabulary, config.target_vocabulary}) {
    if (words < 1 || words > INT32_MAX)
      throw UsageError("a vocabulary of {} words is impossible: give a new network at least 1", words);
  }
  declared.check([&] { validate(config); });
  return config;
}

int threads_of(const NetworkSettings& settings) {
  if (settings.threads < 0 || settings.threads > 1024)
    throw UsageError("a network cannot have {} threads: use at most 1024, or 0 for all processors",
                     settings.threads);
  return settings.threads > 0 ? settings.threads : internal::available_threads();
}

}  // namespace

struct Network::State {
  State(const ModelConfig& config_, const NetworkSettings& settings, Buffers buffers)
      : config(config_),
        device(internal::kernels_of_device(settings.device), threads_of(settings)),
        model(without_dropout(config), device, buffers) {}

  State(const std::string& folder_, const NetworkSettings& settings)
      : State(internal::read_model_config(folder_), settings, Buffers::none_yet) {
    folder = folder_;
    read_weights(internal::existing_weights(folder), model.parameters, Buffers::weights_and_gradients);
  }

  State(const NewNetwork& network, const NetworkSettings& settings)
      : State(config_of(network), settings, Buffers::weights_and_gradients) {
    model.parameters.initialise(network.seed);
  }

  // function(pass, model), alone with the device.
  template <class Function>
  auto run(const Function& function) {
    return internal::guarded([&] {
      if (is_forked())
        throw internal::Error(
            "this network was opened before fork(), which copies no threads: open one in this process");
      const std::lock_guard lock(mutex);
      Pass pass{.device = device};
      return function(pass, model);
    });
  }

  // The folder as a translator has it, for its vocabularies.
  const internal::SavedModel& words() {
    if (folder.empty()) throw UsageError("a new network has no vocabularies for texts: give it ids");
    if (!saved) {
      saved = std::make_unique<internal::SavedModel>(folder, internal::chosen_kernels(), /*threads=*/1,
                                                     internal::RequestedPrecision::as_saved,
                                                     /*verify=*/false);
    }
    return *saved;
  }

  bool is_forked() const { return getpid() != process; }

  void save(const std::string& to) const {
    internal::check_new_model_folder(to);
    if (folder.empty()) {
      internal::make_folder(to);
      const nlohmann::json json = {{"format", 1}, {"model", to_json(config)}};
      internal::write_file(to + "/config.json", {internal::json_text(json, 1)});
    } else {
      internal::copy_all_but_weights(folder, to);
    }
    const internal::HostView<const float> weights(device.memory, model.parameters.weights());
    write_weights(internal::weights_path(to), model.parameters, weights.span());
  }

  const ModelConfig config;
  std::string folder;  // that it was opened from; empty: it is new
  internal::Device device;
  Transformer model;                            // without dropout
  std::unique_ptr<internal::SavedModel> saved;  // null until a text needs it
  std::mutex mutex;
  const pid_t process = getpid();
};

Network::Network(const std::string& folder, const NetworkSettings& settings)
    : state_(internal::guarded([&] { return std::make_unique<State>(folder, settings); })) {}

Network::Network(const NewNetwork& model, const NetworkSettings& settings)
    : state_(internal::guarded([&] { return std::make_unique<State>(model, settings); })) {}

// In a forked process it would wait for threads that are not there.
Network::~Network() {
  if (state_ && state_->is_forked()) static_cast<void>(state_.release());
}

Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&& other) noexcept {
  std::swap(state_, other.state_);  // whose destructor knows about forks
  return *this;
}

Matrix Network::encode(const Ids& source) {
  return state_->run([&](Pass& pass, Transformer& model) { return internal::encode(pass, model, source); });
}

Matrix Network::decode(const Ids& target, const Matrix& memory) {
  return state_->run(
      [&](Pass& pass, Transformer& model) { return internal::decode(pass, model, target, memory); });
}

Matrix Network::logits(const Matrix& states) {
  return state_->run([&](Pass& pass, Transformer& model) { return internal::logits(pass, model, states); });
}

Matrix Network::embed(Stack stack, const Ids& ids) {
  return state_->run(
      [&](Pass& pass, Transformer& model) { return internal::embed(pass, model, of_engine(stack), ids); });
}

Matrix Network::positions(Stack stack, int64_t count) {
  return state_->run(
      [&](Pass&, Transformer& model) { return internal::positions(model, of_engine(stack), count); });
}

Matrix Network::self_attention(Stack stack, int64_t layer, const Matrix& x) {
  return state_->run([&](Pass& pass, Transformer& model) {
    return internal::self_attention(pass, model, of_engine(stack), layer, x);
  });
}

Matrix Network::cross_attention(int64_t layer, const Matrix& x, const Matrix& memory) {
  return state_->run([&](Pass& pass, Transformer& model) {
    return internal::cross_attention(pass, model, layer, x, memory);
  });
}

Matrix Network::feed_forward(Stack stack, int64_t layer, const Matrix& x) {
  return state_->run([&](Pass& pass, Transformer& model) {
    return internal::feed_forward(pass, model, of_engine(stack), layer, x);
  });
}

double Network::loss(const std::vector<IdPair>& pairs, double label_smoothing) {
  return state_->run(
      [&](Pass& pass, Transformer& model) { return internal::loss(pass, model, pairs, label_smoothing); });
}

Gradients Network::gradients(const std::vector<IdPair>& pairs, double label_smoothing) {
  return state_->run([&](Pass& pass, Transformer& model) {
    return internal::gradients(pass, model, pairs, label_smoothing);
  });
}

Ids Network::source_ids(const std::string& text, const std::string& from, const std::string& to) {
  return state_->run([&](Pass&, Transformer& model) {
    check_stack(model, internal::Stack::encoder);
    return ids_of(internal::source_ids(state_->words(), text, {.from = from, .to = to}));
  });
}

Ids Network::target_ids(const std::string& text, const std::string& from, const std::string& to) {
  return state_->run([&](Pass&, Transformer&) {
    return ids_of(internal::target_ids(state_->words(), text, {.from = from, .to = to}));
  });
}

std::string Network::target_text(const Ids& ids) {
  return state_->run([&](Pass&, Transformer& model) {
    const internal::Vocabulary& vocabulary = *state_->words().vocabularies.target;
    std::vector<int32_t> words;
    for (const int64_t id : ids) {
      check_id(model.config, internal::Stack::decoder, id);
      const bool is_mark = id == vocabulary.special().start || id == vocabulary.special().end;
      if (!is_mark) words.push_back(static_cast<int32_t>(id));
    }
    return vocabulary.decode(words);
  });
}

std::vector<NamedMatrix> Network::parameters() {
  return state_->run([](Pass&, Transformer& model) { return internal::parameters(model); });
}

void Network::set_parameters(const std::vector<NamedMatrix>& values) {
  state_->run([&](Pass&, Transformer& model) { internal::set_parameters(model, values); });
}

std::string Network::config() const { return internal::json_text(to_json(state_->config)); }

void Network::save(const std::string& folder) {
  state_->run([&](Pass&, Transformer&) { state_->save(folder); });
}

}  // namespace dragoman
