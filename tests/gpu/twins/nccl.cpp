// A twin of NCCL's, for tests: the same functions, over memory that processes share, for GPUs that tests make up. As
// NCCL's do, they put what they are asked for on a stream and return; a process that is gone is waited for until the
// communicator is aborted. What NCCL forbids ends the program, or is its error.
//
// TWIN_NCCL_VERSION is the version that it has; TWIN_NCCL_VERSION_OF_1 that of process 1.
#include "kernels/cuda/gpu/nccl.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gpu/fake_stream.h"

namespace dragoman::internal {
namespace {

constexpr auto invalid_argument = NcclResult{4}, invalid_usage = NcclResult{5}, system_error = NcclResult{2};

[[noreturn]] void misused(const char* how) {
  std::fprintf(stderr, "NCCL's twin: %s\n", how);
  std::abort();
}

// Of one process for another: a message, a piece at a time.
struct Mailbox {
  std::atomic<bool> full;
  NcclType type;
  size_t message, piece;  // bytes
  char data[1 << 16];
};

struct Shared {
  std::atomic<int> joined;
  int count;
  Mailbox boxes[1];  // count × count
};

size_t shared_size(int count) {
  return sizeof(Shared) + static_cast<size_t>(count) * static_cast<size_t>(count) * sizeof(Mailbox);
}

// A message on its way.
struct Transfer {
  bool sends;
  Mailbox* box;
  char* data;
  size_t bytes;
  NcclType type;
  size_t done = 0;
};

size_t bytes_of(size_t count, NcclType type) { return count * (type == NcclType::bfloat16 ? 2 : 4); }

struct Group {
  int depth = 0;
  NcclCommunicator* communicator = nullptr;
  FakeStream* stream = nullptr;
  std::vector<Transfer> transfers;
} group;

}  // namespace

struct NcclCommunicator {
  std::string name;
  int number, count;
  Shared* shared;
  NcclResult state = NcclResult::in_progress;

  Mailbox* box(int from, int to) const { return &shared->boxes[from * count + to]; }

  bool has_joined() {
    if (shared->joined != count) return false;
    if (number == 0) unlink(name.c_str());
    return true;
  }

  // Whether the message has arrived or gone as a whole.
  bool advance(Transfer& transfer) {
    Mailbox& box = *transfer.box;
    while (transfer.done < transfer.bytes && box.full != transfer.sends) {
      char* const data = transfer.data + transfer.done;
      if (transfer.sends) {
        box.type = transfer.type;
        box.message = transfer.bytes;
        box.piece = std::min(transfer.bytes - transfer.done, sizeof(box.data));
        std::memcpy(box.data, data, box.piece);
      } else if (box.type != transfer.type || box.message != transfer.bytes) {
        state = invalid_usage;
        return false;
      } else {
        std::memcpy(data, box.data, box.piece);
      }
      transfer.done += box.piece;
      box.full = transfer.sends;
    }
    return transfer.done == transfer.bytes;
  }
};

namespace {

// Those that are open.
std::set<NcclCommunicator*>& communicators() {
  static auto* const open = new std::set<NcclCommunicator*>;
  return *open;
}

void must_be_open(NcclCommunicator* communicator) {
  if (!communicators().contains(communicator)) misused("a communicator is used after its end");
}

// All of a group at once: none of its messages waits for another.
void put_on(FakeStream& stream, NcclCommunicator* communicator, std::vector<Transfer> transfers) {
  const auto shared = std::make_shared<std::vector<Transfer>>(std::move(transfers));
  stream.queue.emplace_back([communicator, shared] {
    if (!communicators().contains(communicator)) return true;  // it was aborted
    bool done = true;
    for (Transfer& transfer : *shared) done = communicator->advance(transfer) && done;
    return done;
  });
}

NcclResult add(NcclCommunicator* communicator, cudaStream_t stream, Transfer transfer) {
  must_be_open(communicator);
  if (group.depth == 0) misused("a message outside of a group would wait for its answer");
  auto* const its = reinterpret_cast<FakeStream*>(stream);
  if (group.communicator != nullptr && (group.communicator != communicator || group.stream != its))
    misused("a group has two communicators, or two streams");
  if (transfer.box == nullptr || transfer.bytes == 0) return invalid_argument;
  group.communicator = communicator;
  group.stream = its;
  group.transfers.push_back(transfer);
  return communicator->state;
}

Shared* open_shared(const char* name, int count) {
  const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  const size_t size = shared_size(count);
  void* data = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(size)) == 0)
    data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return data == MAP_FAILED ? nullptr : static_cast<Shared*>(data);
}

const char* version_variable() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const std::string own = std::string("TWIN_NCCL_VERSION_OF_") + (rank == nullptr ? "" : rank);
  const char* const value = std::getenv(own.c_str());
  return value != nullptr ? value : std::getenv("TWIN_NCCL_VERSION");
}

}  // namespace
}  // namespace dragoman::internal

using namespace dragoman::internal;

#pragma GCC visibility push(default)
extern "C" {

NcclResult ncclGetVersion(int* version) {
  const char* const value = version_variable();
  *version = value == nullptr ? 22907 : std::atoi(value);
  return NcclResult::success;
}

NcclResult ncclGetUniqueId(NcclId* id) {
  std::random_device random;
  const std::string folder = std::filesystem::temp_directory_path();  // a test program removes its own
  const int length = std::snprintf(id->bytes, sizeof(id->bytes), "%s/nccl-twin-%08x%08x", folder.c_str(),
                                   random(), random());
  return length < static_cast<int>(sizeof(id->bytes)) ? NcclResult::success : system_error;
}

NcclResult ncclCommInitRankConfig(NcclCommunicator** communicator, int count, NcclId id, int number,
                                  NcclConfig* config) {
  if (config->magic != 0xcafebeef || config->size != sizeof(*config) || config->blocking != 0)
    return invalid_argument;
  if (number < 0 || number >= count) return invalid_argument;
  Shared* const shared = open_shared(id.bytes, count);
  if (shared == nullptr) return system_error;
  *communicator = new NcclCommunicator{id.bytes, number, count, shared};
  communicators().insert(*communicator);
  ++shared->joined;
  return NcclResult::in_progress;
}

NcclResult ncclCommGetAsyncError(NcclCommunicator* communicator, NcclResult* state) {
  must_be_open(communicator);
  if (communicator->state == NcclResult::in_progress && communicator->has_joined())
    communicator->state = NcclResult::success;
  *state = communicator->state;
  return NcclResult::success;
}

NcclResult ncclCommAbort(NcclCommunicator* communicator) {
  must_be_open(communicator);
  communicators().erase(communicator);
  if (communicator->number == 0) unlink(communicator->name.c_str());
  munmap(communicator->shared, shared_size(communicator->count));
  delete communicator;
  return NcclResult::success;
}

const char* ncclGetErrorString(NcclResult result) {
  return result == invalid_usage      ? "invalid usage"
         : result == invalid_argument ? "invalid argument"
                                      : "error";
}

NcclResult ncclGroupStart() {
  ++group.depth;
  return NcclResult::success;
}

NcclResult ncclGroupEnd() {
  if (group.depth == 0) misused("a group ends that has not begun");
  if (--group.depth > 0 || group.transfers.empty()) return NcclResult::success;
  put_on(*group.stream, group.communicator, std::move(group.transfers));
  const NcclResult state = group.communicator->state;
  group = {};
  return state;
}

NcclResult ncclSend(const void* data, size_t count, NcclType type, int to, NcclCommunicator* communicator,
                    cudaStream_t stream) {
  must_be_open(communicator);
  auto* const from = const_cast<char*>(static_cast<const char*>(data));
  return add(communicator, stream,
             {true, communicator->box(communicator->number, to), from, bytes_of(count, type), type});
}

NcclResult ncclRecv(void* data, size_t count, NcclType type, int from, NcclCommunicator* communicator,
                    cudaStream_t stream) {
  must_be_open(communicator);
  return add(communicator, stream,
             {false, communicator->box(from, communicator->number), static_cast<char*>(data),
              bytes_of(count, type), type});
}

NcclResult ncclAllGather(const void* own, void* all, size_t own_count, NcclType type,
                         NcclCommunicator* communicator, cudaStream_t stream) {
  must_be_open(communicator);
  const size_t bytes = bytes_of(own_count, type);
  const int number = communicator->number;
  if (own != static_cast<char*>(all) + static_cast<size_t>(number) * bytes)
    misused("the own part is gathered from elsewhere than where it belongs");
  std::vector<Transfer> transfers;
  for (int other = 0; other < communicator->count; ++other) {
    if (other == number) continue;
    auto* const from = static_cast<char*>(const_cast<void*>(own));
    char* const to = static_cast<char*>(all) + static_cast<size_t>(other) * bytes;
    transfers.push_back({true, communicator->box(number, other), from, bytes, type});
    transfers.push_back({false, communicator->box(other, number), to, bytes, type});
  }
  put_on(*reinterpret_cast<FakeStream*>(stream), communicator, std::move(transfers));
  return communicator->state;
}

}  // extern "C"
