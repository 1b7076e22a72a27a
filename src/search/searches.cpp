#include "search/searches.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "model/decoding_weights.h"

namespace dragoman::internal {

int worker_count(int64_t workers, int64_t batch, int threads) {
  if (workers > 0) return static_cast<int>(workers);
  return batch == 1 ? 1 : std::min(threads, 8);
}

// The very first one uses the models themselves. The others have models on a device of their own: the first on another
// GPU has copies, and those beside it on its GPU borrow the weights.
struct Searches::Worker {
  std::unique_ptr<Device> own_device = {};
  std::vector<std::unique_ptr<Transformer>> own_models = {};
  Models models = {};
  Fusion fusion = {};
  std::optional<Search> search = {};
  Puller puller = {};
  bool lost = false;
  std::thread thread = {};

  void make_models(std::unique_ptr<Device> device, const Models& originals, const Fusion& fused) {
    own_device = std::move(device);
    for (const Transformer* original : originals) models.push_back(made(*original));
    fusion = fused;
    if (fused.language_model != nullptr) fusion.language_model = made(*fused.language_model);
  }
  Transformer* made(const Transformer& original) {
    Transformer& own = *own_models.emplace_back(
        std::make_unique<Transformer>(original.config, *own_device, Buffers::none_yet));
    if (&own_device->memory == &original.device.memory) {
      own.parameters.borrow(original.parameters);
    } else {
      copy_weights(original.parameters, *own_device, own.parameters);
    }
    return &own;
  }
};

// The first one's thread adds the others; while it runs, it alone looks at all of them.
struct Searches::OnDevice {
  Worker* first = nullptr;
  std::vector<std::unique_ptr<Worker>> workers = {};
  size_t most = 1;  // fewer once the system refuses a thread
};

namespace {

// Whether it still computes, after a step on it has failed. The host does, or nobody would ask.
bool answers(Device& device) try {
  if (device.memory.is_host_memory()) return true;
  const Tensor probe(device.pool, 1, 1);
  device.memory.fill(probe.matrix(), 0);
  return probe.values()[0] == 0;
} catch (...) {
  return false;
}

}  // namespace

Searches::Searches(Scheduler& scheduler, const Models& models, const SearchSettings& settings, int most,
                   const Fusion& fusion, std::span<const Kernels* const> further_devices)
    : scheduler_(scheduler), settings_(settings), devices_(1 + further_devices.size()) {
  for (OnDevice& device : devices_) device.most = static_cast<size_t>(most);
  auto first = std::make_unique<Worker>();
  first->models = models;
  first->fusion = fusion;
  first->puller.runs_tasks = true;
  first_ = &add(devices_[0], std::move(first));
  const int threads = models[0]->device.context.threads();
  for (size_t i = 0; i < further_devices.size(); ++i) {
    auto worker = std::make_unique<Worker>();
    worker->make_models(std::make_unique<Device>(*further_devices[i], threads), models, fusion);
    add(devices_[i + 1], std::move(worker));
  }
  for (size_t i = 0; i < devices_.size(); ++i) scheduler_.set_searches(static_cast<int>(i), most);
  scheduler_.add_puller(first_->puller);
}

Searches::~Searches() {
  stop();
  Context& context = first_->models[0]->device.context;
  context.limit_threads(context.threads());
}

Searches::Worker& Searches::add(OnDevice& device, std::unique_ptr<Worker> worker) {
  worker->search.emplace(worker->models, settings_, worker->fusion);
  worker->puller.search = &*worker->search;
  worker->puller.device = static_cast<int>(&device - devices_.data());
  if (device.first == nullptr) device.first = worker.get();
  return *device.workers.emplace_back(std::move(worker));
}

// Before one of them pulls, the scheduler knows all: else it would take what is another's share.
void Searches::start(std::shared_ptr<const void> owner) {
  for (size_t i = 1; i < devices_.size(); ++i) scheduler_.add_puller(devices_[i].first->puller);
  try {
    for (OnDevice& device : devices_) {
      Worker& first = *device.first;
      first.thread = start_thread([this, &device, &first, owner] { work(device, first, owner); });
    }
  } catch (...) {
    stop();  // those that have started share the owner
    throw;
  }
}

bool Searches::step() {
  if (!scheduler_.pull(first_->puller, /*wait=*/false)) return false;
  search(*first_);
  return true;
}

// What a step throws leaves the search in an unknown state. Its memory goes back before the device is asked for some.
void Searches::search(Worker& worker) {
  Device& device = worker.models[0]->device;
  device.context.limit_threads(
      std::max(first_->models[0]->device.context.threads() / worker.puller.at_work, 1));
  try {
    scheduler_.take(worker.puller, worker.search->step());
  } catch (...) {
    worker.search.emplace(worker.models, settings_, worker.fusion);
    worker.lost = !answers(device);
    scheduler_.fail(worker.puller, std::current_exception());
  }
}

// The first step comes before there is another search: the packed weights that it keeps are there for all to borrow.
// Where the device is lost, and no other is left, it goes on: so each job ends with the reason.
void Searches::work(OnDevice& device, Worker& worker, const std::shared_ptr<const void>& owner) {
  const bool first = &worker == device.first;
  while (scheduler_.pull(worker.puller)) {
    search(worker);
    if (worker.lost) {
      scheduler_.retire(worker.puller.device);
    } else if (first && device.workers.size() < device.most && scheduler_.is_crowded()) {
      start_another(device, owner);
    }
  }
  scheduler_.end_all();
}

// Worker i seldom works while fewer than i + 1 workers do, and then never uses more than its share of the threads.
void Searches::start_another(OnDevice& device, const std::shared_ptr<const void>& owner) {
  const Worker& first = *device.first;
  Device& shared = first.models[0]->device;
  const int share = shared.context.threads() / static_cast<int>(device.workers.size() + 1);
  try {
    auto another = std::make_unique<Worker>();
    another->make_models(std::make_unique<Device>(shared, std::max(share, 1)), first.models, first.fusion);
    add(device, std::move(another));
  } catch (const std::exception& error) {
    log_warning("no further search at the same time: {}", error.what());
    return keep_to_these(device);
  }
  Worker& worker = *device.workers.back();
  scheduler_.add_puller(worker.puller);
  worker.thread = try_to_start_thread([this, &device, &worker, owner] { work(device, worker, owner); });
  if (worker.thread.joinable()) return;
  scheduler_.remove_puller(worker.puller);
  device.workers.pop_back();
  keep_to_these(device);
}

void Searches::keep_to_these(OnDevice& device) {
  device.most = device.workers.size();
  scheduler_.set_searches(device.first->puller.device, static_cast<int>(device.most));
}

// Those that start others end before these are looked at.
void Searches::stop() {
  scheduler_.stop();
  for (const OnDevice& device : devices_) leave(*device.first);
  for (const OnDevice& device : devices_)
    for (size_t i = 1; i < device.workers.size(); ++i) leave(*device.workers[i]);
}

void Searches::leave(Worker& worker) {
  if (!worker.thread.joinable()) return;
  if (worker.thread.get_id() == std::this_thread::get_id()) {
    worker.thread.detach();
  } else {
    worker.thread.join();
  }
}

}  // namespace dragoman::internal
