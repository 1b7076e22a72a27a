#include "search/searches.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/threads.h"

namespace dragoman::internal {

int worker_count(int64_t workers, int64_t batch, int threads) {
  if (workers > 0) return static_cast<int>(workers);
  return batch == 1 ? 1 : std::min(threads, 8);
}

// The first one uses the models themselves, the others have models on a device of their own that borrow the weights.
struct Searches::Worker {
  std::unique_ptr<Device> own_device = {};
  std::vector<std::unique_ptr<Transformer>> own_models = {};
  Models models = {};
  Fusion fusion = {};
  std::optional<Search> search = {};
  Puller puller = {};
  std::thread thread = {};

  void borrow(const Models& lenders, const Fusion& lent, int threads) {
    own_device = std::make_unique<Device>(lenders[0]->device, threads);
    for (const Transformer* lender : lenders) models.push_back(borrowed(*lender));
    fusion = lent;
    if (lent.language_model != nullptr) fusion.language_model = borrowed(*lent.language_model);
  }
  Transformer* borrowed(const Transformer& lender) {
    own_models.push_back(std::make_unique<Transformer>(lender.config, *own_device, Buffers::none_yet));
    own_models.back()->parameters.borrow(lender.parameters);
    return own_models.back().get();
  }
};

Searches::Searches(Scheduler& scheduler, const Models& models, const SearchSettings& settings, int most,
                   const Fusion& fusion)
    : scheduler_(scheduler),
      models_(models),
      settings_(settings),
      fusion_(fusion),
      most_(static_cast<size_t>(most)),
      first_(&add_worker()) {
  scheduler_.set_searches(most);
}

Searches::~Searches() {
  stop();
  Context& context = models_[0]->device.context;
  context.limit_threads(context.threads());
}

// Worker i seldom works while fewer than i + 1 workers do, and then never uses more than its share of the threads.
Searches::Worker& Searches::add_worker() {
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
  const bool first = workers_.size() == 1;
  const int share = models_[0]->device.context.threads() / static_cast<int>(workers_.size());
  if (first) {
    worker.models = models_;
    worker.fusion = fusion_;
  } else {
    worker.borrow(models_, fusion_, std::max(share, 1));
  }
  worker.search.emplace(worker.models, settings_, worker.fusion);
  worker.puller.search = &*worker.search;
  worker.puller.runs_tasks = first;
  scheduler_.add_puller(worker.puller);
  return worker;
}

void Searches::start(std::shared_ptr<const void> owner) {
  first_->thread = start_thread([this, owner = std::move(owner)] { work(*first_, owner); });
}

bool Searches::step() {
  if (!scheduler_.pull(first_->puller, /*wait=*/false)) return false;
  search(*first_);
  return true;
}

// What a step throws leaves the search in an unknown state.
void Searches::search(Worker& worker) {
  Context& context = worker.models[0]->device.context;
  context.limit_threads(std::max(models_[0]->device.context.threads() / worker.puller.at_work, 1));
  try {
    scheduler_.take(worker.puller, worker.search->step());
  } catch (...) {
    scheduler_.fail(worker.puller, std::current_exception());
    worker.search.emplace(worker.models, settings_, worker.fusion);
  }
}

// The first step comes before there is another search: the packed weights that it keeps are there for all to borrow.
void Searches::work(Worker& worker, const std::shared_ptr<const void>& owner) {
  const bool first = &worker == first_;
  while (scheduler_.pull(worker.puller)) {
    search(worker);
    if (first && workers_.size() < most_ && scheduler_.is_crowded()) start_another(owner);
  }
  if (first) scheduler_.end_all();
}

void Searches::start_another(const std::shared_ptr<const void>& owner) {
  Worker& worker = add_worker();
  worker.thread = try_to_start_thread([this, &worker, owner] { work(worker, owner); });
  if (worker.thread.joinable()) return;
  scheduler_.remove_puller(worker.puller);
  workers_.pop_back();
  most_ = workers_.size();
  scheduler_.set_searches(static_cast<int>(most_));
}

// The first thread is the only one that starts others, so it ends before these are looked at.
void Searches::stop() {
  scheduler_.stop();
  leave(*first_);
  for (size_t i = 1; i < workers_.size(); ++i) leave(*workers_[i]);
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
