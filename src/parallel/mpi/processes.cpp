#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <exception>

#include "base/log.h"
#include "parallel/heartbeat.h"
#include "parallel/mpi/join.h"
#include "parallel/mpi/sum_mover.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

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

  int count() const override { return communicators_.count; }
  int number() const override { return communicators_.number; }
  int on_this_machine() const override { return on_this_machine_; }
  int share_of_threads() const override { return share_of_threads_; }
  void start_sum(std::span<float> values, Wire wire) override { sums_->start(values, wire); }
  void finish_sums() override;
  void abandon_sums() override { sums_->stop(); }
  std::string from_first(const std::string& text) override;
  double seconds_waited() const override { return seconds_waited_; }
  void set_heartbeat_timeout(double seconds) override;
  void leave() override;

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override;

 private:
  void look_at_machine();
  void wait(MPI_Request request);
  std::string who(int number) const;
  void name_the_lost(Lost lost) const;
  void throw_if_lost();
  void await_news();
  void check(int code, const char* what);

  Communicators communicators_ = {};
  int on_this_machine_ = 1, share_of_threads_ = 1;
  std::vector<Name> names_;
  std::unique_ptr<Heartbeat> heartbeat_;
  double seconds_waited_ = 0;
  bool left_ = false;
  std::unique_ptr<SumMover> sums_;
};

MpiProcesses::MpiProcesses() {
  int level = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "begin");
  if (level < MPI_THREAD_SERIALIZED) throw Error("this MPI cannot be used by one thread after another");
  MPI_Comm_rank(MPI_COMM_WORLD, &communicators_.number);
  MPI_Comm_size(MPI_COMM_WORLD, &communicators_.count);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicators_.collect);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicators_.broadcast);
  for (const MPI_Comm road : {MPI_COMM_WORLD, communicators_.collect, communicators_.broadcast})
    MPI_Comm_set_errhandler(road, MPI_ERRORS_RETURN);

  Name name = {.host = {}, .pid = getpid()};
  gethostname(name.host, sizeof name.host - 1);
  names_ = gather(name);
  look_at_machine();
  heartbeat_ = std::make_unique<Heartbeat>(number(), count(), [this](Lost lost) { name_the_lost(lost); });
  heartbeat_->start(gather(first() ? heartbeat_->endpoint() : Heartbeat::Endpoint())[0]);
  sums_ = std::make_unique<SumMover>(communicators_);
}

// MPI is finished by all together, or not at all: who leaves alone would wait in it.
MpiProcesses::~MpiProcesses() {
  sums_.reset();
  heartbeat_.reset();
  if (left_) MPI_Finalize();
}

void MpiProcesses::leave() {
  gather('\0');
  heartbeat_->leave();
  gather('\0');  // nobody's connection closes before everyone knows
  left_ = true;
}

void MpiProcesses::set_heartbeat_timeout(double seconds) { heartbeat_->set_heartbeat_timeout(seconds); }

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
  cpu_set_t used;
  CPU_ZERO(&used);
  for (const Place& other : gather(own)) {
    if (std::string_view(own.host) != other.host) continue;
    ++on_this_machine_;
    CPU_OR(&used, &used, &other.processors);
    cpu_set_t both;
    CPU_AND(&both, &own.processors, &other.processors);
    sharing += CPU_COUNT(&both) > 0;
  }
  share_of_threads_ = std::max(1, CPU_COUNT(&own.processors) / std::max(1, sharing));
  cpu_set_t launchers;
  if (!first() || sched_getaffinity(getppid(), sizeof launchers, &launchers) != 0) return;
  if (CPU_COUNT(&used) < CPU_COUNT(&launchers)) {
    log_warning(
        "mpirun lets its processes have {} of this machine's {} processors: --bind-to none lets them have "
        "all",
        CPU_COUNT(&used), CPU_COUNT(&launchers));
  }
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

void MpiProcesses::finish_sums() {
  const auto begin = Clock::now();
  while (!sums_->finished()) {
    throw_if_lost();
    if (const std::exception_ptr failure = sums_->failure()) {
      await_news();
      std::rethrow_exception(failure);
    }
  }
  seconds_waited_ += seconds_since(begin);
}

}  // namespace

std::unique_ptr<Processes> join_mpi() { return std::make_unique<MpiProcesses>(); }

}  // namespace dragoman
