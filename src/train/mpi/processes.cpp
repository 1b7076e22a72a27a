#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "train/heartbeat.h"
#include "train/mpi/exchange.h"
#include "train/mpi/join.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t exchanges_at_once = 4;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Between two looks at what has arrived: at first none, for what is short; then some time for those who compute.
class Pause {
 public:
  void take() {
    if (++looks_ < 200) {
      sched_yield();
    } else {
      usleep(50);
    }
  }

 private:
  int looks_ = 0;
};

// Who a process is, for messages.
struct Name {
  char host[64];
  int32_t pid;
};

// Of those that are left, one tells the user; nobody does if the lost one says why itself.
bool speaks(int number, Lost lost) {
  return number == (lost.number == 0 ? 1 : 0) && lost.how != Lost::How::ended;
}

class MpiProcesses : public Processes {
 public:
  MpiProcesses();
  ~MpiProcesses() override;

  int count() const override { return roads_.count; }
  int number() const override { return roads_.number; }
  int on_this_machine() const override { return on_this_machine_; }
  int share_of_threads() const override { return share_of_threads_; }
  void start_sum(std::span<float> values, Wire wire) override;
  void finish_sums() override;
  void abandon_sums() override;
  std::string from_first(const std::string& text) override;
  double seconds_waited() const override { return seconds_waited_; }
  void set_longest_silence(double seconds) override;
  void leave() override;

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override;

 private:
  struct Sum {
    std::span<float> values;
    Wire wire;
  };

  void look_at_machine();
  void wait(MPI_Request request);
  std::string who(int number) const;
  void name_the_lost(Lost lost) const;
  void throw_if_lost();
  void await_news();
  void check(int code, const char* what);
  void move_sums();
  bool advance(std::list<Exchange>& under_way);

  Roads roads_ = {};
  int on_this_machine_ = 1, share_of_threads_ = 1;
  std::vector<Name> names_;
  std::unique_ptr<Heartbeat> heartbeat_;
  double seconds_waited_ = 0;
  bool left_ = false;

  // The thread that moves sums. MPI is its own while there are any, and everyone else's when there are none.
  std::thread mover_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sum> waiting_;
  size_t unfinished_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
};

MpiProcesses::MpiProcesses() {
  int level = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "begin");
  if (level < MPI_THREAD_SERIALIZED) throw Error("this MPI cannot be used by one thread after another");
  MPI_Comm_rank(MPI_COMM_WORLD, &roads_.number);
  MPI_Comm_size(MPI_COMM_WORLD, &roads_.count);
  MPI_Comm_dup(MPI_COMM_WORLD, &roads_.collect);
  MPI_Comm_dup(MPI_COMM_WORLD, &roads_.spread);
  for (const MPI_Comm road : {MPI_COMM_WORLD, roads_.collect, roads_.spread})
    MPI_Comm_set_errhandler(road, MPI_ERRORS_RETURN);

  Name name = {.host = {}, .pid = getpid()};
  gethostname(name.host, sizeof name.host - 1);
  names_ = gather(name);
  look_at_machine();
  heartbeat_ = std::make_unique<Heartbeat>(number(), count(), [this](Lost lost) { name_the_lost(lost); });
  heartbeat_->start(gather(first() ? heartbeat_->door() : Heartbeat::Door())[0]);
  mover_ = std::thread([this] { move_sums(); });
}

// MPI is finished by all together, or not at all: who leaves alone would wait in it.
MpiProcesses::~MpiProcesses() {
  abandon_sums();
  heartbeat_.reset();
  if (left_) MPI_Finalize();
}

void MpiProcesses::leave() {
  gather('\0');
  heartbeat_->leave();
  gather('\0');  // nobody's connection closes before everyone knows
  left_ = true;
}

void MpiProcesses::set_longest_silence(double seconds) { heartbeat_->set_longest_silence(seconds); }

// Processors that several processes of this machine may use are shared equally.
void MpiProcesses::look_at_machine() {
  struct Place {
    char host[64];
    cpu_set_t processors;
  } own = {};
  gethostname(own.host, sizeof own.host - 1);
  sched_getaffinity(0, sizeof own.processors, &own.processors);
  int sharing = 0;
  on_this_machine_ = 0;
  for (const Place& other : gather(own)) {
    if (std::string_view(own.host) != other.host) continue;
    ++on_this_machine_;
    cpu_set_t both;
    CPU_AND(&both, &own.processors, &other.processors);
    sharing += CPU_COUNT(&both) > 0;
  }
  share_of_threads_ = std::max(1, CPU_COUNT(&own.processors) / std::max(1, sharing));
}

// --- small things ----------------------------------------------------------------------------------

std::string MpiProcesses::who(int number) const {
  const Name& name = names_[static_cast<size_t>(number)];
  return fmt::format("process {} of {} ({} on {})", number, count(), name.pid, name.host);
}

void MpiProcesses::name_the_lost(Lost lost) const {
  if (!speaks(number(), lost)) return;
  log_line(LogLevel::warning,
           who(lost.number) + (lost.how == Lost::How::died ? " has died" : " gives no sign of life"));
}

void MpiProcesses::throw_if_lost() {
  Lost lost;
  if (!heartbeat_ || !heartbeat_->has_lost(lost)) return;
  if (!speaks(number(), lost)) throw Error("");
  throw Error("stopped, for {} is lost: what is saved is whole, and the same command goes on from there",
              who(lost.number));
}

// Where MPI sees first that a process is gone, the heartbeat is about to say which.
void MpiProcesses::await_news() {
  for (int i = 0; i < 20; ++i) {
    throw_if_lost();
    usleep(100'000);
  }
}

void MpiProcesses::check(int code, const char* what) {
  if (code != MPI_SUCCESS) await_news();
  check_mpi(code, what);
}

void MpiProcesses::wait(MPI_Request request) {
  const auto begin = Clock::now();
  Pause pause;
  for (int arrived = 0;;) {
    check(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE), "hear from other processes");
    if (arrived) break;
    throw_if_lost();
    pause.take();
  }
  seconds_waited_ += seconds_since(begin);
}

void MpiProcesses::gather_bytes(const void* own, size_t bytes, void* all) {
  MPI_Request request;
  const int size = static_cast<int>(bytes);
  check(MPI_Iallgather(own, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD, &request),
        "speak to other processes");
  wait(request);
}

std::string MpiProcesses::from_first(const std::string& text) {
  std::string result = text;
  result.resize(gather(text.size())[0]);
  MPI_Request request;
  check(MPI_Ibcast(result.data(), static_cast<int>(result.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
        "speak to other processes");
  wait(request);
  return result;
}

// --- sums ------------------------------------------------------------------------------------------

void MpiProcesses::start_sum(std::span<float> values, Wire wire) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({values, wire});
    ++unfinished_;
  }
  changed_.notify_all();
}

void MpiProcesses::finish_sums() {
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  while (unfinished_ > 0 && !failure_) {
    changed_.wait_for(lock, std::chrono::milliseconds(100));
    throw_if_lost();
  }
  if (failure_) {
    await_news();
    std::rethrow_exception(failure_);
  }
  seconds_waited_ += seconds_since(begin);
}

void MpiProcesses::abandon_sums() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (mover_.joinable()) mover_.join();
}

void MpiProcesses::move_sums() try {
  std::list<Exchange> under_way;
  std::unique_lock lock(mutex_);
  Pause pause;
  while (!stop_) {
    if (waiting_.empty() && under_way.empty()) {
      changed_.wait(lock);
      pause = {};
      continue;
    }
    std::vector<Sum> starting;
    for (; !waiting_.empty() && under_way.size() + starting.size() < exchanges_at_once; waiting_.pop_front())
      starting.push_back(waiting_.front());
    lock.unlock();
    for (const Sum& sum : starting) under_way.emplace_back(roads_, sum.values, sum.wire);
    const bool moved = advance(under_way);
    if (!moved) pause.take();
    lock.lock();
  }
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  changed_.notify_all();
}

// True if one was finished.
bool MpiProcesses::advance(std::list<Exchange>& under_way) {
  bool may_spread = true;
  for (Exchange& exchange : under_way) {
    exchange.advance(may_spread);
    may_spread = may_spread && exchange.is_spreading();
  }
  const auto finished = under_way.remove_if([](const Exchange& exchange) { return exchange.is_done(); });
  if (finished == 0) return false;
  const std::lock_guard lock(mutex_);
  unfinished_ -= finished;
  changed_.notify_all();
  return true;
}

}  // namespace

std::unique_ptr<Processes> join_mpi() { return std::make_unique<MpiProcesses>(); }

}  // namespace dragoman
