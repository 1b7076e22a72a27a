// Searches on several devices: each has a copy of the model and a fair share of the sentences, which get what they get
// on one device; and one device that is lost leaves the others.
#include <array>
#include <latch>
#include <map>
#include <thread>

#include "base/error.h"
#include "search/model_folder.h"
#include "search/random_requests.h"
#include "search/saved_model.h"
#include "tensor/losable_memory.h"

namespace dragoman::internal {
namespace {

constexpr int most_devices = 3;

template <int number>
LosableMemory& memory_of() {
  static LosableMemory memory;
  return memory;
}
template <int number>
DeviceMemory& device_memory() {
  return memory_of<number>();
}

// Devices that have nothing in common but their kernels.
std::array<Kernels, most_devices> devices_like(const Kernels& kernels) {
  std::array<Kernels, most_devices> devices = {kernels, kernels, kernels};
  devices[0].memory = device_memory<0>;
  devices[1].memory = device_memory<1>;
  devices[2].memory = device_memory<2>;
  return devices;
}

struct DeviceCase {
  const Kernels* kernels;
  RequestedPrecision precision;
};
void PrintTo(const DeviceCase& c, std::ostream* out) { *out << c.kernels->name; }

class SeveralDevices : public testing::TestWithParam<DeviceCase> {
 protected:
  SeveralDevices() {
    for (LosableMemory* memory : memories_) memory->find(), memory->on_first_wait = {};
    saved_ = std::make_unique<SavedModel>(folder_.path, devices_[0], 2, GetParam().precision);
    RandomRequests random(1, saved_->vocabularies.target->size());
    for (size_t i = 0; i < (is_gpu_table(GetParam().kernels) ? 16 : 60); ++i)
      requests_.push_back(random.request(nullptr));
  }

  std::vector<const Kernels*> further(int count) const {
    std::vector<const Kernels*> tables;
    for (int i = 1; i < count; ++i) tables.push_back(&devices_[static_cast<size_t>(i)]);
    return tables;
  }
  std::map<uint64_t, RequestResult> on_one() {
    QueuedSearch alone(saved_->models(), {.sentences = 5});
    add_all(alone);
    return run(alone);
  }
  // The first step of each ends when all have begun one.
  void expect_that_all_work(int devices) {
    const auto begun = std::make_shared<std::latch>(devices);
    for (int i = 0; i < devices; ++i) {
      LosableMemory& memory = *memories_[static_cast<size_t>(i)];
      memory.waits = 0;
      memory.on_first_wait = [begun] {
        begun->count_down();
        const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!begun->try_wait() && std::chrono::steady_clock::now() < late)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_TRUE(begun->try_wait()) << "a device gets nothing";
      };
    }
  }
  void add_all(auto& search) const {
    for (size_t i = 0; i < requests_.size(); ++i) search.add(i, requests_[i]);
  }

  const ModelFolder folder_{"several-devices"};
  const std::array<Kernels, most_devices> devices_ = devices_like(*GetParam().kernels);
  const std::array<LosableMemory*, most_devices> memories_ = {&memory_of<0>(), &memory_of<1>(),
                                                              &memory_of<2>()};
  std::unique_ptr<SavedModel> saved_;
  std::vector<SearchRequest> requests_;
};

TEST_P(SeveralDevices, FindWhatOneFinds) {
  const auto wanted = on_one();
  const bool slow = is_gpu_table(GetParam().kernels);
  for (const int devices : {2, 3}) {
    for (const int searches : {1, 3}) {
      for (const int64_t sentences : {1, 4, 64}) {
        if (slow && devices + searches > 3 && sentences != 4) continue;
        SCOPED_TRACE(fmt::format("{} devices, {} searches, {} sentences", devices, searches, sentences));
        SteppedSearches search(saved_->models(), {.sentences = sentences}, searches, further(devices));
        add_all(search);
        expect_that_all_work(devices);
        const auto got = run(search);
        ASSERT_EQ(got.size(), wanted.size());
        for (const auto& [id, result] : wanted) expect_same_result(got.at(id), result);
        for (LosableMemory* memory : memories_) memory->on_first_wait = {};
      }
    }
  }
}

// Where a device fails, the jobs that have a sentence there end with its error, the others finish; and it is asked for
// nothing more.
TEST_P(SeveralDevices, OneThatIsLostLeavesTheOthers) {
  const auto wanted = on_one();
  for (const size_t lost : {0, 1}) {
    for (const int searches : {1, 3}) {
      SteppedSearches search(saved_->models(), {.sentences = 4}, searches, further(2));
      memories_[lost]->lose_after(10);
      add_all(search);
      size_t failed = 0;
      for (const auto& [id, result] : run(search)) {
        failed += result.status == SearchStatus::failed;
        if (result.status == SearchStatus::finished) expect_same_result(result, wanted.at(id));
      }
      EXPECT_GT(failed, 0U);
      EXPECT_LE(failed, static_cast<size_t>(4 * searches)) << "what was under way there";
      const int asked = memories_[lost]->refused;
      add_all(search);
      for (const auto& [id, result] : run(search)) expect_same_result(result, wanted.at(id));
      EXPECT_EQ(memories_[lost]->refused, asked);
      EXPECT_EQ(search.sentences_under_way(), 0);
      EXPECT_EQ(search.run([] {}), SearchStatus::finished) << "tasks run";
      memories_[lost]->find();
    }
  }
}

// Each job says why: nothing waits for ever.
TEST_P(SeveralDevices, WhereAllAreLostEveryJobFails) {
  SteppedSearches search(saved_->models(), {.sentences = 4}, 2, further(2));
  for (LosableMemory* memory : memories_) memory->lose_after(10);
  add_all(search);
  size_t failed = 0;
  for (const auto& [id, result] : run(search)) failed += result.status == SearchStatus::failed;
  EXPECT_GT(failed, requests_.size() / 2);
}

// Though each has room for all.
TEST_P(SeveralDevices, HaveEqualShares) {
  SteppedSearches search(saved_->models(), {.sentences = 64}, 1, further(2));
  add_all(search);
  for (LosableMemory* memory : memories_) memory->uploaded = 0;
  expect_that_all_work(2);
  run(search);
  const auto uploaded = [&](size_t device) { return static_cast<double>(memories_[device]->uploaded); };
  EXPECT_GT(uploaded(0), 0.5 * uploaded(1));
  EXPECT_GT(uploaded(1), 0.5 * uploaded(0));
}

std::vector<DeviceCase> device_cases() {
  std::vector<DeviceCase> cases;
  for (const Kernels* kernels : every_table()) {
    if (!is_gpu_table(kernels) && kernels != every_instruction_set().back()) continue;
    if (&kernels->memory() != &cpu_memory()) continue;  // whose kernels read the host's memory
    for (const auto precision : {RequestedPrecision::fp32, RequestedPrecision::int8})
      cases.push_back({kernels, precision});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(On, SeveralDevices, testing::ValuesIn(device_cases()), [](const auto& test) {
  return name_in_tests(*test.param.kernels) +
         (test.param.precision == RequestedPrecision::fp32 ? "_fp32" : "_int8");
});

}  // namespace
}  // namespace dragoman::internal
