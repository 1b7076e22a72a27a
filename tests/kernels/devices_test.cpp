// What a device's name chooses, with a plug-in that finds what a test wants (fake_plugin/), and a sentence for each
// reason why there is no GPU.
#include "kernels/devices.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cuda_plugin.h"

namespace dragoman::internal {
namespace {

class DevicesTest : public testing::Test {
 protected:
  DevicesTest() {
    unsetenv("DRAGOMAN_ISA");
    set("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_FAKE_PLUGIN);
  }
  ~DevicesTest() override {
    for (const char* variable :
         {"FAKE_DRIVER", "FAKE_GPUS", "FAKE_PROBLEM", "FAKE_OLD", "FAKE_KIND", "FAKE_LOST", "FAKE_VERSION",
          "FAKE_SIZE", "FAKE_NCCL", "DRAGOMAN_CUDA_PLUGIN", "DRAGOMAN_ISA"})
      unsetenv(variable);
    set_local_process(0);
    if (!instruction_set_.empty()) set("DRAGOMAN_ISA", instruction_set_);
  }

  static void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

 private:
  // What the whole suite runs with.
  const std::string instruction_set_ =
      std::getenv("DRAGOMAN_ISA") == nullptr ? "" : std::getenv("DRAGOMAN_ISA");
};

std::string failure(std::string_view device) {
  try {
    kernels_of_device(device);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(DevicesTest, TheCpuIsTheChosenTable) {
  const Kernels& cpu = kernels_of_device("cpu");
  EXPECT_EQ(&cpu, &chosen_kernels());
  EXPECT_EQ(device_name(cpu), cpu.name);
  EXPECT_FALSE(is_gpu(cpu));
  EXPECT_EQ(free_device_memory(cpu), 0);
  EXPECT_EQ(&with_tf32(cpu), &cpu);
}

TEST_F(DevicesTest, AGpuHasANameMemoryAndATableForEachPrecision) {
  const Kernels& gpu = kernels_of_device("cuda:1");
  EXPECT_TRUE(is_gpu(gpu));
  EXPECT_EQ(device_name(gpu), "Fake 1, driver 13.1, cuBLASLt 13.1.2");
  EXPECT_EQ(free_device_memory(gpu), int64_t{40} << 1);
  const Kernels& rounded = with_tf32(gpu);
  EXPECT_STREQ(rounded.name, "fake-tf32");
  EXPECT_EQ(device_name(rounded), device_name(gpu));
  EXPECT_EQ(free_device_memory(rounded), free_device_memory(gpu));
  EXPECT_EQ(&with_tf32(rounded), &rounded);
  EXPECT_EQ(&kernels_of_device("cuda:1"), &gpu);
  EXPECT_NE(&kernels_of_device("cuda:0"), &gpu);
}

TEST_F(DevicesTest, SeveralOfOneKindMayBeNamed) {
  set("FAKE_GPUS", "3");
  set("FAKE_KIND", "7");
  const Kernels *first = &kernels_of_device("cuda:0"), *second = &kernels_of_device("cuda:1"),
                *third = &kernels_of_device("cuda:2");
  using Tables = std::vector<const Kernels*>;
  EXPECT_EQ(kernels_of_devices("cuda:1,cuda:0"), (Tables{second, first}));
  EXPECT_EQ(kernels_of_devices("cuda:all"), (Tables{first, second, third}));
  EXPECT_EQ(kernels_of_devices("cuda:2"), Tables{third});
  EXPECT_EQ(kernels_of_devices("cuda"), Tables{first});
  EXPECT_EQ(kernels_of_devices("cpu"), Tables{&chosen_kernels()});
  set("FAKE_OLD", "1");
  EXPECT_EQ(kernels_of_devices("cuda:all"), (Tables{second, third})) << "all that can be used";
}

TEST_F(DevicesTest, SeveralThatCannotShareAreErrors) {
  const auto refusal = [](std::string_view devices) -> std::string {
    try {
      kernels_of_devices(devices);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("cuda:0,cuda:1"),
            "Fake 0, driver 13.1, cuBLASLt 13.1.2 and Fake 1, driver 13.1, cuBLASLt 13.1.2 are GPUs of two "
            "kinds, which cannot share "
            "translations: name those of one kind");
  EXPECT_EQ(refusal("cuda:all"), refusal("cuda:0,cuda:1"));
  set("FAKE_KIND", "7");
  EXPECT_EQ(refusal("cuda:0,cuda:0"), "\"cuda:0,cuda:0\" names cuda:0 twice: name each device once");
  EXPECT_EQ(refusal("cuda:0,cpu"),
            "\"cuda:0,cpu\" names a processor beside other devices: only GPUs can share translations");
  EXPECT_EQ(refusal("cuda:0,"), failure(""));
  EXPECT_EQ(refusal("cuda:0,cuda:5"), failure("cuda:5"));
  set("FAKE_GPUS", "0");
  EXPECT_EQ(refusal("cuda:all"), failure("cuda"));
}

TEST_F(DevicesTest, AutoIsTheFirstGpuThatCanBeUsed) {
  EXPECT_EQ(&kernels_of_device("auto"), &kernels_of_device("cuda:0"));
  EXPECT_EQ(&kernels_of_device("cuda"), &kernels_of_device("cuda:0"));
  set("FAKE_OLD", "1");
  EXPECT_EQ(&kernels_of_device("auto"), &kernels_of_device("cuda:1"));
  EXPECT_EQ(&kernels_of_device("cuda"), &kernels_of_device("cuda:1"));
  set("FAKE_OLD", "2");
  EXPECT_EQ(&kernels_of_device("auto"), &chosen_kernels());
}

TEST_F(DevicesTest, ProcessesOfOneMachineTakeTurns) {
  set("FAKE_GPUS", "3");
  for (const auto& [process, device] :
       {std::pair(0, "cuda:0"), std::pair(2, "cuda:2"), std::pair(4, "cuda:1")}) {
    set_local_process(process);
    EXPECT_EQ(&kernels_of_device("cuda"), &kernels_of_device(device));
    EXPECT_EQ(&kernels_of_device("auto"), &kernels_of_device(device));
  }
  set("FAKE_OLD", "1");
  set_local_process(1);
  EXPECT_EQ(&kernels_of_device("cuda"), &kernels_of_device("cuda:2"));
}

TEST_F(DevicesTest, WhatProcessesMustKnowBeforeTheySumOnGpus) {
  const SummingDevice cpu = summing_device(kernels_of_device("cpu")),
                      first = summing_device(kernels_of_device("cuda:0")),
                      second = summing_device(with_tf32(kernels_of_device("cuda:1")));
  EXPECT_FALSE(cpu.is_gpu);
  EXPECT_TRUE(first.is_gpu);
  EXPECT_EQ(first.nccl, 22907);
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(second.id, summing_device(kernels_of_device("cuda:1")).id);
  set("FAKE_NCCL", "0");
  EXPECT_EQ(summing_device(kernels_of_device("cuda")).problem, "it is not here");
}

TEST_F(DevicesTest, AutoIsTheCpuWhereAnInstructionSetIsNamed) {
  set("DRAGOMAN_ISA", "baseline");
  EXPECT_STREQ(kernels_of_device("auto").name, "baseline");
}

TEST_F(DevicesTest, AutoIsTheCpuWhereThereIsNoGpu) {
  for (const auto& [variable, value] :
       {std::pair("FAKE_GPUS", "0"), std::pair("FAKE_DRIVER", "0"), std::pair("FAKE_PROBLEM", "broken"),
        std::pair("DRAGOMAN_CUDA_PLUGIN", "/nonexistent.so")}) {
    set(variable, value);
    EXPECT_EQ(&kernels_of_device("auto"), &chosen_kernels()) << variable;
    EXPECT_TRUE(gpus().empty()) << variable;
    EXPECT_EQ(why_no_gpu(), failure("cuda")) << variable;
    EXPECT_NE(why_no_gpu(), "") << variable;
    unsetenv(variable);
    set("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_FAKE_PLUGIN);
  }
}

TEST_F(DevicesTest, UnknownNamesAreErrors) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999", "cuda1"})
    EXPECT_EQ(failure(name), "there is no device \"" + std::string(name) +
                                 "\": use auto, cpu, cuda, or cuda:1 for the second GPU");
}

TEST_F(DevicesTest, ANumberThatIsNotThereNamesThoseThatAre) {
  EXPECT_EQ(failure("cuda:2"), "there is no GPU cuda:2: this machine has cuda:0 to cuda:1");
  set("FAKE_GPUS", "1");
  EXPECT_EQ(failure("cuda:1"), "there is no GPU cuda:1: this machine has cuda:0 alone");
}

TEST_F(DevicesTest, ADriverIsMissingTooOldOrBroken) {
  set("FAKE_DRIVER", "0");
  EXPECT_EQ(failure("cuda"), "there is no NVIDIA driver here: install one to use a GPU");
  set("FAKE_DRIVER", "12080");
  EXPECT_EQ(
      failure("cuda:0"),
      "NVIDIA's driver here is for CUDA 12.8, but this build of Dragoman needs 13.0: update the driver");
  set("FAKE_DRIVER", "13000");
  set("FAKE_PROBLEM", "system not yet initialized");
  EXPECT_EQ(failure("cuda"),
            "NVIDIA's driver cannot be used: system not yet initialized; see if nvidia-smi works");
}

TEST_F(DevicesTest, NoGpuOrOneThatIsTooOld) {
  set("FAKE_GPUS", "0");
  EXPECT_EQ(failure("cuda"),
            "there is no GPU of NVIDIA's here, or CUDA_VISIBLE_DEVICES hides it: use --device cpu");
  set("FAKE_GPUS", "2");
  set("FAKE_OLD", "2");
  const std::string old =
      "cuda:0 is a Fake 0 with compute capability 7.5, but 8.0 is needed: use a newer GPU or --device cpu";
  EXPECT_EQ(failure("cuda"), old);
  EXPECT_EQ(failure("cuda:0"), old);
  EXPECT_NE(failure("cuda:1").find("cuda:1 is a Fake 1"), std::string::npos);
}

TEST_F(DevicesTest, GpusAreDescribedUsableOrNot) {
  set("FAKE_OLD", "1");
  const std::vector<GpuDescription> found = gpus();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].device, "cuda:0");
  EXPECT_NE(found[0].problem, "");
  EXPECT_EQ(found[1].name, "Fake 1");
  EXPECT_EQ(found[1].problem, "");
  EXPECT_EQ(found[1].memory, int64_t{80} << 30);
  EXPECT_EQ(why_no_gpu(), "");
}

TEST_F(DevicesTest, APluginOfAnotherVersionIsNotUsed) {
  set("FAKE_VERSION", "0.0.1");
  EXPECT_NE(failure("cuda").find("is of Dragoman 0.0.1, but this is Dragoman"), std::string::npos);
  unsetenv("FAKE_VERSION");
  set("FAKE_SIZE", "8");
  EXPECT_NE(failure("cuda").find("is of another build of Dragoman"), std::string::npos);
}

TEST_F(DevicesTest, WhatIsNoPluginIsNotUsed) {
  set("DRAGOMAN_CUDA_PLUGIN", "libm.so.6");
  EXPECT_EQ(failure("cuda"), "libm.so.6 is no plug-in of Dragoman's");
  set("DRAGOMAN_CUDA_PLUGIN", "/nonexistent.so");
  EXPECT_NE(failure("cuda").find("the GPU's plug-in cannot be opened: /nonexistent.so"), std::string::npos);
}

TEST_F(DevicesTest, AFailureInsideThePluginIsAnError) {
  const Kernels& gpu = kernels_of_device("cuda");
  set("FAKE_LOST", "1");
  EXPECT_THROW(free_device_memory(gpu), Error);
}

// The plug-in of this build can be opened on a machine without a driver, and is of this program.
TEST_F(DevicesTest, ThePluginOfThisBuildOpensAnywhere) {
#if defined(DRAGOMAN_REAL_PLUGIN)
  set("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_REAL_PLUGIN);
  const std::string problem = why_no_gpu();
  EXPECT_TRUE(problem.empty() || problem.find("driver") != std::string::npos ||
              problem.find("GPU of NVIDIA's") != std::string::npos ||
              problem.find("compute capability") != std::string::npos)
      << problem;
#else
  GTEST_SKIP() << "this build has no plug-in";
#endif
}

// A copy of this program, in a folder of its own, runs this test again.
TEST_F(DevicesTest, ThePluginIsFoundBesideTheProgramAndInItsLibraryFolder) {
  constexpr const char* is_copy = "DRAGOMAN_DEVICES_TEST_COPY";
  if (std::getenv(is_copy) != nullptr) {
    unsetenv("DRAGOMAN_CUDA_PLUGIN");
    EXPECT_EQ(device_name(kernels_of_device("cuda")), "Fake 0, driver 13.1, cuBLASLt 13.1.2");
    return;
  }
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("devices" + std::to_string(getpid()));
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib/dragoman");
  fs::copy_file("/proc/self/exe", folder / "bin/program");
  set(is_copy, "1");
  const std::string run = (folder / "bin/program").string() + " --gtest_filter=*" +
                          testing::UnitTest::GetInstance()->current_test_info()->name() + " > " +
                          (folder / "log").string();
  EXPECT_NE(std::system(run.c_str()), 0);
  for (const char* place : {"bin", "lib/dragoman"}) {
    const fs::path plugin = folder / place / cuda_plugin_file;
    fs::copy_file(DRAGOMAN_FAKE_PLUGIN, plugin);
    EXPECT_EQ(std::system(run.c_str()), 0) << place;
    fs::remove(plugin);
  }
  unsetenv(is_copy);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace dragoman::internal
