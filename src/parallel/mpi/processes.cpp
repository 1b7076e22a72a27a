#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/elapsed.h"
#include "base/log.h"
#include "base/threads.h"
#include "kernels/devices.h"
#include "parallel/device_agreement.h"
#include "parallel/heartbeat.h"
#include "parallel/join.h"
#include "parallel/mpi/sum_mover.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

// What messages call a process.
struct Name {
  char host[64];
  int32_t pid;
};

// Of the remaining processes one reports the loss; none does if the lost one reports its own error.
bool reports(int number, LostProcess lost) {
  return number == (lost.number == 0 ? 1 : 0) && lost.reason != LostProcess::Reason::failed;
}

class MpiProcesses : public Processes {
 public:
  MpiProcesses();
  ~MpiProcesses() override;

  int count() const override { return communicators_.count; }
  int number() const override { return communicators_.number; }
  int local_count() const override { return local_count_; }
  int share_of_threads() const override { return share_of_threads_; }
  void use_device(const Kernels& kernels) override;
  bool sums_device_memory() const override { return device_sums_ != nullptr; }
  void start_sum(std::span<float> values, GradientFormat wire) override;
  void finish_sums() override;
  void cancel_sums() override;
  std::string broadcast(const std::string& text) override;
  double seconds_waited() const override { return seconds_waited_; }
  void set_heartbeat_timeout(double seconds) override;
  void shutdown() override;

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override;

 private:
  void inspect_machine();
  void wait(MPI_Request request);
  std::string describe(int number) const;
  void log_lost(LostProcess lost) const;
  void throw_if_lost();
  void wait_for_heartbeat();
  void check(int code, const char* action);
  template <class Call>
  void on_device(Call call);

  Communicators communicators_ = {};
  int local_count_ = 1, share_of_threads_ = 1;
  std::vector<Name> names_;
  std::unique_ptr<Heartbeat> heartbeat_;
  double seconds_waited_ = 0;
  bool left_ = false;
  std::unique_ptr<SumMover> sums_;
  std::unique_ptr<DeviceSums> device_sums_;  // instead, where all processes have a GPU
  Backoff device_backoff_;
};

MpiProcesses::MpiProcesses() {
  int level = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "start");
  if (level < MPI_THREAD_SERIALIZED)
    throw Error("this MPI library does not support MPI_THREAD_SERIALIZED: use another one");
  MPI_Comm_rank(MPI_COMM_WORLD, &communicators_.number);
  MPI_Comm_size(MPI_COMM_WORLD, &communicators_.count);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicators_.collect);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicators_.broadcast);
  for (const MPI_Comm communicator : {MPI_COMM_WORLD, communicators_.collect, communicators_.broadcast})
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);

  Name name = {.host = {}, .pid = getpid()};
  gethostname(name.host, sizeof name.host - 1);
  names_ = gather(name);
  inspect_machine();
  heartbeat_ = std::make_unique<Heartbeat>(number(), count(), [this](LostProcess lost) { log_lost(lost); });
  heartbeat_->start(gather(first() ? heartbeat_->endpoint() : Heartbeat::Endpoint())[0]);
  sums_ = std::make_unique<SumMover>(communicators_);
}

// Of a process that fails, the others must know before NCCL's sums end: that may wait until they end theirs. And
// MPI_Finalize waits for all processes: one that ends alone must not call it.
MpiProcesses::~MpiProcesses() {
  heartbeat_.reset();
  device_sums_.reset();
  sums_.reset();
  if (left_) MPI_Finalize();
}

void MpiProcesses::shutdown() {
  gather('\0');
  device_sums_.reset();
  heartbeat_->leave();
  gather('\0');  // no connection closes before all know
  left_ = true;
}

void MpiProcesses::set_heartbeat_timeout(double seconds) { heartbeat_->set_timeout(seconds); }

// Processors that several processes of this machine may use are divided among them.
void MpiProcesses::inspect_machine() {
  struct Affinity {
    char host[64];
    cpu_set_t processors;
  } own = {};
  gethostname(own.host, sizeof own.host - 1);
  if (sched_getaffinity(0, sizeof own.processors, &own.processors) !=
      0)  // a set does not hold as many as there are
    for (int i = 0; i < std::min(available_threads(), CPU_SETSIZE); ++i) CPU_SET(i, &own.processors);
  int sharing = 0;
  local_count_ = 0;
  cpu_set_t used;
  CPU_ZERO(&used);
  const std::vector<Affinity> all = gather(own);
  for (size_t i = 0; i < all.size(); ++i) {
    const Affinity& other = all[i];
    if (std::string_view(own.host) != other.host) continue;
    if (i == static_cast<size_t>(number())) set_local_process(local_count_);
    ++local_count_;
    CPU_OR(&used, &used, &other.processors);
    cpu_set_t both;
    CPU_AND(&both, &own.processors, &other.processors);
    sharing += CPU_COUNT(&both) > 0;
  }
  share_of_threads_ = std::max(1, CPU_COUNT(&own.processors) / std::max(1, sharing));
  cpu_set_t launcher;
  if (!first() || sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0) return;
  if (CPU_COUNT(&used) < CPU_COUNT(&launcher)) {
    log_warning(
        "mpirun binds its processes to {} of this machine's {} processors: add --bind-to none to use all",
        CPU_COUNT(&used), CPU_COUNT(&launcher));
  }
}

// --- lost processes --------------------------------------------------------------------------------

std::string MpiProcesses::describe(int number) const {
  const Name& name = names_[static_cast<size_t>(number)];
  return fmt::format("process {} of {} ({} on {})", number, count(), name.pid, name.host);
}

void MpiProcesses::log_lost(LostProcess lost) const {
  if (!reports(number(), lost)) return;
  const char* what = lost.reason == LostProcess::Reason::died ? " has died" : " does not respond";
  log_line(LogLevel::warning, describe(lost.number) + what);
}

void MpiProcesses::throw_if_lost() {
  const std::optional<LostProcess> lost = heartbeat_ ? heartbeat_->lost() : std::nullopt;
  if (!lost) return;
  if (!reports(number(), *lost)) throw Error("");
  throw Error("stopped because {} was lost: run the same command to resume from the last checkpoint",
              describe(lost->number));
}

// Where MPI is the first to notice that a process is gone, the heartbeat is about to tell which.
void MpiProcesses::wait_for_heartbeat() {
  for (int i = 0; i < 20; ++i) {
    throw_if_lost();
    usleep(100'000);
  }
}

void MpiProcesses::check(int code, const char* action) {
  if (code != MPI_SUCCESS) wait_for_heartbeat();
  check_mpi(code, action);
}

// --- calls -----------------------------------------------------------------------------------------

void MpiProcesses::wait(MPI_Request request) {
  const auto begin = Clock::now();
  Backoff backoff;
  for (int arrived = 0;;) {
    check(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE), "receive from other processes");
    if (arrived) break;
    throw_if_lost();
    backoff.pause();
  }
  seconds_waited_ += seconds_since(begin);
}

void MpiProcesses::gather_bytes(const void* own, size_t bytes, void* all) {
  MPI_Request request;
  const int size = static_cast<int>(bytes);
  check(MPI_Iallgather(own, size, MPI_BYTE, all, size, MPI_BYTE, MPI_COMM_WORLD, &request),
        "send to other processes");
  wait(request);
}

std::string MpiProcesses::broadcast(const std::string& text) {
  std::string result = text;
  result.resize(gather(text.size())[0]);
  MPI_Request request;
  check(MPI_Ibcast(result.data(), static_cast<int>(result.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
        "send to other processes");
  wait(request);
  return result;
}

// --- sums ------------------------------------------------------------------------------------------

// A call that may wait for other processes. Where NCCL is the first to notice that one is gone, the heartbeat is about
// to tell which.
template <class Call>
void MpiProcesses::on_device(Call call) {
  device_backoff_ = {};
  try {
    call();
  } catch (const Error&) {
    wait_for_heartbeat();
    throw;
  }
}

void MpiProcesses::use_device(const Kernels& kernels) {
  const std::optional<DeviceSumsId> id = agree_on_device_sums(*this, kernels);
  if (!id) return;
  const auto pause = [](void* self) {
    static_cast<MpiProcesses*>(self)->throw_if_lost();
    static_cast<MpiProcesses*>(self)->device_backoff_.pause();
  };
  on_device([&] { device_sums_ = open_device_sums(kernels, {*id, number(), count(), pause, this}); });
}

void MpiProcesses::start_sum(std::span<float> values, GradientFormat wire) {
  if (!device_sums_) return sums_->start(values, wire);
  on_device([&] {
    device_sums_->start(values.data(), static_cast<int64_t>(values.size()), wire == GradientFormat::bf16);
  });
}

void MpiProcesses::finish_sums() {
  if (device_sums_) return on_device([&] { seconds_waited_ += device_sums_->finish(); });
  const auto begin = Clock::now();
  while (!sums_->wait_for_all()) {
    throw_if_lost();
    if (const std::exception_ptr failure = sums_->failure()) {
      wait_for_heartbeat();
      std::rethrow_exception(failure);
    }
  }
  seconds_waited_ += seconds_since(begin);
}

void MpiProcesses::cancel_sums() {
  heartbeat_->fail();
  device_sums_.reset();
  sums_->stop();
}

}  // namespace

std::unique_ptr<Processes> join_mpi() { return std::make_unique<MpiProcesses>(); }

}  // namespace dragoman::internal
