#include "search/queue/scheduler.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t no_search = UINT64_MAX;

const WaitingTurn* first_of(const TurnQueue& queue) {
  return queue.next([](uint64_t) { return true; });
}

}  // namespace

uint64_t Scheduler::add(std::unique_ptr<SearchJob> job, const Claim& claim) {
  const Lock lock(mutex_);
  const uint64_t id = next_job_++;
  const WaitingTurn turn = {turns_.next(claim.client, claim.cost), id, claim.client};
  Entry entry = {.claim = claim, .turn = turn, .added = Clock::now(), .is_task = job->is_task()};
  if (entry.is_task) {
    tasks_.add(turn);
    entry.sentences = 0;
  } else {
    queue_.add(turn);
    unread_.insert(id);
    ++to_begin_;
    ++pending_;
  }
  entry.job = std::move(job);
  if (claim.deadline) deadlines_.emplace(*claim.deadline, id);
  jobs_.emplace(id, std::move(entry));
  wake_idle();
  return id;
}

void Scheduler::cancel(uint64_t id) {
  const Lock lock(mutex_);
  cancelled_.push_back(id);
  wake_idle();
}

size_t Scheduler::pending() const {
  const Lock lock(mutex_);
  return pending_;
}

SchedulerCounts Scheduler::counts() const {
  const Lock lock(mutex_);
  SchedulerCounts now = counts_;
  now.waiting = unread_.size();
  if (!unread_.empty()) {
    const auto waited = Clock::now() - jobs_.at(*unread_.begin()).added;
    now.oldest_seconds = std::chrono::duration<double>(waited).count();
  }
  now.sentences = rows_ - free_rows();
  now.cache_bytes = cache_.bytes();
  return now;
}

void Scheduler::stop() {
  const Lock lock(mutex_);
  stop_ = true;
  wake_idle();
}

void Scheduler::end_all() {
  Lock lock(mutex_);
  const auto may_end = [](const auto& job) { return !job.second.being_read; };
  do {
    for (auto job = jobs_.begin(); job != jobs_.end();) end(job++, {SearchStatus::cancelled});
    deliver(lock);
  } while (std::ranges::any_of(jobs_, may_end));
}

bool Scheduler::has_work(const Puller& puller) const {
  return stop_ || !cancelled_.empty() || !puller.gone.empty() || (has_news() && !delivering_) ||
         task_is_due(puller) || next_for(puller) != nullptr;
}

void Scheduler::wake_idle() {
  for (Puller* puller : pullers_)
    if (puller->idle && has_work(*puller)) puller->wake.notify_one();
}

bool Scheduler::pull(Puller& puller, bool wait) {
  Lock lock(mutex_);
  for (;;) {
    end_unwanted();
    run_task(puller, lock);
    fill(puller, lock);
    deliver(lock);
    if (stop_) return false;
    wake_idle();
    if (puller.search->busy() || !wait) break;
    wait_for_work(puller, lock);
  }
  puller.at_work = static_cast<int>(std::ranges::count(pullers_, false, &Puller::idle));
  return puller.search->busy();
}

void Scheduler::wait_for_work(Puller& puller, Lock& lock) {
  puller.idle = true;
  const auto ready = [&] { return has_work(puller); };
  if (puller.runs_tasks && first_of(tasks_) && Clock::now() < no_task_before_) {
    puller.wake.wait_until(lock, no_task_before_, ready);
  } else {
    puller.wake.wait(lock, ready);
  }
  puller.idle = false;
}

void Scheduler::end_unwanted() {
  for (const uint64_t id : std::exchange(cancelled_, {}))
    if (const auto job = jobs_.find(id); job != jobs_.end()) end(job, {SearchStatus::cancelled});
  if (deadlines_.empty()) return;
  const auto now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const uint64_t id = deadlines_.extract(deadlines_.begin()).value().second;
    end(jobs_.find(id), {SearchStatus::expired});
  }
}

bool Scheduler::task_is_due(const Puller& puller) const {
  const WaitingTurn *task = first_of(tasks_), *next = first_of(queue_);
  if (!puller.runs_tasks || task == nullptr) return false;
  if (to_begin_ == 0 && free_rows() == rows_) return true;
  return Clock::now() >= no_task_before_ && (next == nullptr || task->start <= next->start);
}

// The steps that follow get as much time as the task had before there is another one.
void Scheduler::run_task(Puller& puller, Lock& lock) {
  if (!task_is_due(puller)) return;
  const WaitingTurn task = *first_of(tasks_);
  turns_.reach(task.start);
  const auto began = Clock::now();
  read(jobs_.find(task.id), lock);
  no_task_before_ = Clock::now() + (Clock::now() - began);
}

// Reads and begins no more jobs than fit into all batches: those whose translation is known do not keep the others from
// their next step. A few free rows are left until there are more, unless only reserved ones are free: for these nobody
// waits.
void Scheduler::fill(Puller& puller, Lock& lock) {
  for (const uint64_t id : std::exchange(puller.gone, {})) puller.search->remove(id);
  puller.used = rows_of_search_ - puller.search->free_rows();
  if (!puller.search->wants_more() && free_rows() > reserved_) return;
  for (int64_t left = 2 * rows_; left > 0 && puller.search->free_rows() > 0; --left) {
    const WaitingTurn* next = next_for(puller);
    if (next == nullptr) return;
    const auto job = jobs_.find(next->id);
    if (!job->second.read) {
      read(job, lock);
    } else if (!begin(job, puller)) {
      return;
    }
  }
}

// Without the lock: a long text takes a while.
void Scheduler::read(Jobs::iterator job, Lock& lock) {
  auto& [id, entry] = *job;
  (entry.is_task ? tasks_ : queue_).remove(entry.turn);
  unread_.erase(id);
  entry.being_read = true;
  size_t sentences = 0;
  JobEnd failure = {SearchStatus::failed};
  lock.unlock();
  try {
    sentences = entry.job->read();
  } catch (...) {
    failure.error = std::current_exception();
  }
  lock.lock();
  entry.being_read = false;
  entry.read = true;
  to_begin_ += static_cast<int64_t>(sentences) - static_cast<int64_t>(entry.sentences);
  entry.sentences = entry.unfinished = sentences;
  if (entry.end && !entry.is_task) return end(job, *entry.end);
  if (failure.error) return end(job, std::move(failure));
  if (sentences == 0) return end(job, {});
  entry.claim.cost /= static_cast<double>(sentences);
  queue_.add(entry.turn);
}

// A job's next sentence. False: the batch has no room for it now.
bool Scheduler::begin(Jobs::iterator job, Puller& puller) {
  auto& [id, entry] = *job;
  const size_t number = entry.searches.size();
  SearchRequest request = entry.job->sentence(number);
  if (!puller.search->fits(request)) return false;
  queue_.remove(entry.turn);
  turns_.reach(entry.turn.start);
  entry.turn.start += entry.claim.cost;
  entry.searches.push_back(no_search);
  --to_begin_;
  if (entry.searches.size() < entry.sentences) queue_.add(entry.turn);
  std::string key = sentence_key(request);
  if (const FoundSentence* found = cache_.find(key)) {
    ++counts_.cache_hits;
    take_found(job, number, *found);
    return true;
  }
  key += request.progress ? 'p' : '-';
  if (const auto equal = by_key_.find(key); equal != by_key_.end()) {
    ++counts_.merged;
    entry.searches.back() = equal->second;
    under_way_.at(equal->second).places.emplace(id, number);
    return true;
  }
  ++counts_.cache_misses;
  const size_t source_tokens = request.source.size();
  try {
    puller.search->add(next_search_, std::move(request));
  } catch (...) {
    end(job, {SearchStatus::failed, std::current_exception()});
    return true;
  }
  ++puller.used;
  ++rows_of_[entry.claim.client];
  entry.searches.back() = next_search_;
  by_key_.emplace(key, next_search_);
  under_way_.emplace(next_search_++, SharedSearch{.key = std::move(key),
                                                  .puller = &puller,
                                                  .client = entry.claim.client,
                                                  .source_tokens = source_tokens,
                                                  .places = {{id, number}}});
  return true;
}

void Scheduler::take(Puller& puller, const std::vector<SearchResult>& results) {
  Lock lock(mutex_);
  ++counts_.steps;
  for (const SearchResult& result : results) receive(result);
  for (const SearchProgress& progress : puller.search->progress()) {
    const auto search = under_way_.find(progress.id);
    if (search == under_way_.end()) continue;
    for (const auto& [id, number] : search->second.places) {
      jobs_.at(id).job->moved(number, progress);
      moved_.insert(id);
    }
  }
  puller.used = rows_of_search_ - puller.search->free_rows();
  deliver(lock);
}

// The result may be of a search for which nobody waits any more.
void Scheduler::receive(const SearchResult& result) {
  const auto under_way = under_way_.find(result.id);
  if (under_way == under_way_.end()) return;
  const SharedSearch search = remove(under_way);
  for (const auto& [id, number] : search.places) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) continue;  // another of its places has ended it
    if (result.failed) {
      end(job, {SearchStatus::failed});
    } else {
      take_found(job, number, result.found);
    }
  }
  if (result.failed) return;
  counts_.source_tokens += search.source_tokens;
  counts_.target_tokens += result.found.hypotheses[0].hypothesis.tokens.size();
  cache_.add(search.key.substr(0, search.key.size() - 1), result.found);
}

void Scheduler::take_found(Jobs::iterator job, size_t sentence, const FoundSentence& found) {
  job->second.job->found(sentence, found);
  if (--job->second.unfinished == 0) return end(job, {});
  moved_.insert(job->first);
}

Scheduler::SharedSearch Scheduler::remove(Searches::iterator search) {
  SharedSearch removed = std::move(search->second);
  under_way_.erase(search);
  by_key_.erase(removed.key);
  const auto rows = rows_of_.find(removed.client);
  if (--rows->second == 0) rows_of_.erase(rows);
  return removed;
}

// A sentence's search goes on if others wait for it, too.
void Scheduler::end(Jobs::iterator job, JobEnd end) {
  auto& [id, entry] = *job;
  if (entry.being_read) {
    entry.end = std::move(end);
    return;
  }
  for (size_t number = 0; number < entry.searches.size(); ++number) {
    const auto search = under_way_.find(entry.searches[number]);
    if (search == under_way_.end()) continue;
    search->second.places.erase({id, number});
    if (!search->second.places.empty()) continue;
    search->second.puller->gone.push_back(search->first);
    remove(search);
  }
  to_begin_ -= static_cast<int64_t>(entry.sentences - entry.searches.size());
  (entry.is_task ? tasks_ : queue_).remove(entry.turn);
  unread_.erase(id);
  moved_.erase(id);
  if (entry.claim.deadline) deadlines_.erase({*entry.claim.deadline, id});
  ended_.emplace_back(std::move(entry.job), std::move(end));
  jobs_.erase(job);
}

void Scheduler::fail(Puller& puller, const std::exception_ptr& error) {
  Lock lock(mutex_);
  std::set<uint64_t> failed;
  for (const auto& [id, search] : under_way_) {
    if (search.puller != &puller) continue;
    for (const auto& [job, number] : search.places) failed.insert(job);
  }
  for (const uint64_t id : failed) end(jobs_.find(id), {SearchStatus::failed, error});
  puller.gone.clear();
  puller.used = 0;
  deliver(lock);
}

// Without the lock, by one thread at a time: whoever finds that another does it leaves it to that one. No more than is
// there at first: with what comes meanwhile, its own search might never have another step.
void Scheduler::deliver(Lock& lock) {
  if (std::exchange(delivering_, true)) return;
  for (size_t left = moved_.size() + ended_.size(); has_news() && (left > 0 || stop_); left -= left > 0) {
    if (!moved_.empty()) {
      const uint64_t id = moved_.extract(moved_.begin()).value();
      SearchJob& job = *jobs_.at(id).job;  // stays, as only this thread takes it from ended_
      std::exception_ptr error;
      try {
        if (!job.has_news()) continue;
        lock.unlock();
        job.report();
      } catch (...) {
        error = std::current_exception();
      }
      if (!lock) lock.lock();
      if (const auto entry = jobs_.find(id); error && entry != jobs_.end())
        end(entry, {SearchStatus::failed, std::move(error)});
    } else {
      auto [job, end] = std::move(ended_.front());
      ended_.pop_front();
      if (!job->is_task()) ++counts_.jobs, --pending_;
      lock.unlock();
      job->end(std::move(end));
      job.reset();
      lock.lock();
    }
  }
  delivering_ = false;
}

}  // namespace dragoman::internal
