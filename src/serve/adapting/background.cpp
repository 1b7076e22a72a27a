#include "serve/adapting/background.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr size_t most_output = 64 << 10;
constexpr int poll_milliseconds = 50;

// Its reading end does not block.
class OutputPipe {
 public:
  OutputPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot open a pipe: {}", std::strerror(errno));
    read_ = ends[0];
    write_ = ends[1];
    fcntl(read_, F_SETFL, O_NONBLOCK);
  }
  ~OutputPipe() {
    close(read_);
    close_writing();
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  int polled() const { return at_end_ ? -1 : read_; }  // -1: poll leaves it out
  int writing() const { return write_; }
  void close_writing() {
    if (write_ >= 0) close(write_);
    write_ = -1;
  }

  // What there is now.
  std::string take() {
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t count = read(read_, buffer.data(), buffer.size());
      if (count > 0) {
        text.append(buffer.data(), static_cast<size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        at_end_ = at_end_ || count == 0;
        return text;
      }
    }
  }

 private:
  int read_ = -1, write_ = -1;
  bool at_end_ = false;
};

// In the new process, a copy of one thread of many: only what the system does itself. Its signals are as usual again,
// and it gets none of the server's files and connections.
[[noreturn]] void become(char* const* words, int output, int log, pid_t server) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != server) _exit(127);  // it has ended before
  setpriority(PRIO_PROCESS, 0, 19);
  constexpr int this_process = 1, idle_class = 3 << 13;
  syscall(SYS_ioprio_set, this_process, 0, idle_class);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  constexpr unsigned first = 3, all = ~0u;
  if (syscall(SYS_close_range, first, all, 0) != 0)  // before Linux 5.9
    for (int file = 3; file < 1 << 16; ++file) close(file);
  execv(words[0], words);
  _exit(127);
}

// One that is left alone is killed.
class Program {
 public:
  Program(std::vector<std::string> words, int output, int log) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t server = getpid();
    id_ = fork();
    if (id_ == 0) become(arguments.data(), output, log, server);
    if (id_ < 0) throw Error("cannot start {}: {}", words.front(), std::strerror(errno));
  }
  ~Program() {
    if (!running_) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool is_running() {
    running_ = running_ && waitpid(id_, &status_, WNOHANG) == 0;
    return running_;
  }
  int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_); }

  // To be repeated until it has ended.
  void ask_to_end(std::chrono::milliseconds grace) {
    const auto now = std::chrono::steady_clock::now();
    if (!until_) {
      kill(id_, SIGTERM);
      until_ = now + grace;
    } else if (now >= *until_) {
      kill(id_, SIGKILL);
    }
  }

 private:
  pid_t id_ = -1;
  int status_ = 0;
  bool running_ = true;
  std::optional<std::chrono::steady_clock::time_point> until_;
};

// Cuts what comes into lines.
class LogLines {
 public:
  explicit LogLines(const std::function<void(std::string_view line)>& on_line) : on_line_(on_line) {}

  void add(const std::string& text) {
    text_ += text;
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != text_.npos; begin = end + 1)
      on_line_(std::string_view(text_).substr(begin, end - begin));
    text_.erase(0, begin);
    if (text_.size() > most_output) finish();
  }
  void finish() {
    if (!text_.empty()) on_line_(text_);
    text_.clear();
  }

 private:
  const std::function<void(std::string_view line)>& on_line_;
  std::string text_;
};

}  // namespace

ProgramEnd run_in_background(std::vector<std::string> words, const std::stop_token& stop,
                             const std::function<void(std::string_view line)>& on_line,
                             std::chrono::milliseconds grace) {
  OutputPipe output, log;
  Program program(std::move(words), output.writing(), log.writing());
  output.close_writing();
  log.close_writing();
  ProgramEnd end;
  LogLines lines(on_line);
  for (bool running = true; running;) {
    std::array<pollfd, 2> files = {{{output.polled(), POLLIN, 0}, {log.polled(), POLLIN, 0}}};
    poll(files.data(), files.size(), poll_milliseconds);
    if (stop.stop_requested()) program.ask_to_end(grace);
    running = program.is_running();
    end.output.append(output.take(), 0, most_output - std::min(most_output, end.output.size()));
    lines.add(log.take());
  }
  lines.finish();
  end.code = program.exit_code();
  return end;
}

}  // namespace dragoman::internal
