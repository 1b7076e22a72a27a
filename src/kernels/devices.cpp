#include "kernels/devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/build.h"
#include "base/error.h"
#include "kernels/cuda_plugin.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// Ampere's: the first with bf16 and tf32.
constexpr int oldest_major = 8;

[[noreturn]] void fail(const char* message) { throw Error("{}", message); }

// The folder of the program; of libdragoman.so, where this code is part of it; and those that an installation uses.
std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  if (!program.empty()) {
    for (const char* place : {".", "../lib/dragoman", ".."})  // the last: of a build's tests and benchmarks
      folders.push_back((program / place).lexically_normal());
  }
  Dl_info self;
  // A relative name would be of the folder that the program was started in.
  if (dladdr(reinterpret_cast<void*>(&fail), &self) != 0 && fs::path(self.dli_fname).is_absolute()) {
    const fs::path library = fs::weakly_canonical(self.dli_fname, ignored).parent_path();
    for (const char* place : {".", "dragoman", "../dragoman"})
      if (!library.empty() && library != program) folders.push_back((library / place).lexically_normal());
  }
  return folders;
}

const char* named_plugin() {
  const char* const named = std::getenv("DRAGOMAN_CUDA_PLUGIN");
  return named != nullptr && *named != '\0' ? named : nullptr;
}

fs::path plugin_path() {
  if (const char* named = named_plugin()) return named;
  std::string looked;
  for (const fs::path& folder : plugin_folders()) {
    std::error_code ignored;
    const fs::path path = folder / cuda_plugin_file;
    if (fs::exists(path, ignored)) return path;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw Error("there is no {} in {}: install the package dragoman-cuda, or build with DRAGOMAN_CUDA",
              cuda_plugin_file, looked);
}

// Opened for the rest of the program's life: opening it again is the same library.
const CudaPlugin& open_plugin() {
  const fs::path path = plugin_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error("the GPU's plug-in cannot be opened: {}", dlerror());
  const auto function = reinterpret_cast<CudaPluginFunction>(dlsym(library, cuda_plugin_function));
  if (function == nullptr) throw Error("{} is no plug-in of Dragoman's", path.string());
  const CudaPlugin& plugin = *function();
  if (plugin.version != version())
    throw Error("{} is of Dragoman {}, but this is Dragoman {}: install both of one version", path.string(),
                plugin.version, version());
  if (plugin.tables_size != cuda_plugin_tables_size)
    throw Error("{} is of another build of Dragoman {} than this: build both together", path.string(),
                version());
  plugin.start(fail);
  return plugin;
}

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// A plug-in with a driver and at least one GPU.
const CudaPlugin& plugin_with_gpus() {
  const CudaPlugin& plugin = open_plugin();
  const CudaDriver driver = plugin.driver();
  if (driver.version == 0) throw Error("there is no NVIDIA driver here: install one to use a GPU");
  if (driver.version / 1000 < driver.runtime_version / 1000)
    throw Error("NVIDIA's driver here is for CUDA {}, but this build of Dragoman needs {}: update the driver",
                cuda_version(driver.version), cuda_version(driver.runtime_version));
  if (driver.problem != nullptr)
    throw Error("NVIDIA's driver cannot be used: {}; see if nvidia-smi works", driver.problem);
  if (driver.gpus == 0)
    throw Error("there is no GPU of NVIDIA's here, or CUDA_VISIBLE_DEVICES hides it: use --device cpu");
  return plugin;
}

CudaGpu describe(const CudaPlugin& plugin, int number) {
  CudaGpu gpu = {};
  plugin.describe(number, &gpu);
  return gpu;
}

// Empty, or why a GPU cannot be used.
std::string problem_of(const CudaGpu& gpu, int number) {
  if (gpu.major >= oldest_major) return "";
  return fmt::format(
      "cuda:{} is a {} with compute capability {}.{}, but {}.0 is needed: use a newer GPU or --device cpu",
      number, gpu.name, gpu.major, gpu.minor, oldest_major);
}

// A table that has been handed out.
struct Chosen {
  const Kernels* table;
  const CudaPlugin* plugin;
  int gpu;
};

std::mutex chosen_mutex;
std::deque<Chosen>& all_chosen() {
  static auto* const chosen = new std::deque<Chosen>;  // never destroyed: threads may outlive statics
  return *chosen;
}

std::optional<Chosen> find_chosen(const Kernels& kernels) {
  const std::lock_guard lock(chosen_mutex);
  for (const Chosen& chosen : all_chosen())
    if (chosen.table == &kernels) return chosen;
  return std::nullopt;
}

const Kernels& choose(const CudaPlugin& plugin, int gpu, bool tf32) {
  const Kernels* const table = plugin.table(gpu, tf32);
  if (!find_chosen(*table)) {
    const std::lock_guard lock(chosen_mutex);
    all_chosen().push_back({table, &plugin, gpu});
  }
  return *table;
}

std::atomic<int> local_process = 0;

// The first GPU that can be used; of several processes each takes the next one, and after the last GPU the first again.
const Kernels& first_gpu() {
  const CudaPlugin& plugin = plugin_with_gpus();
  std::vector<int> usable;
  std::string first_problem;
  for (int number = 0; number < plugin.driver().gpus; ++number) {
    const std::string problem = problem_of(describe(plugin, number), number);
    if (problem.empty()) usable.push_back(number);
    if (first_problem.empty()) first_problem = problem;
  }
  if (usable.empty()) throw Error("{}", first_problem);
  return choose(plugin, usable[static_cast<size_t>(local_process) % usable.size()], false);
}

const Kernels& numbered_gpu(int number) {
  const CudaPlugin& plugin = plugin_with_gpus();
  const int count = plugin.driver().gpus;
  if (number >= count)
    throw Error("there is no GPU cuda:{}: this machine has {}", number,
                count == 1 ? "cuda:0 alone" : fmt::format("cuda:0 to cuda:{}", count - 1));
  const std::string problem = problem_of(describe(plugin, number), number);
  if (!problem.empty()) throw Error("{}", problem);
  return choose(plugin, number, false);
}

// Of "cuda:N".
std::optional<int> gpu_number(std::string_view device) {
  if (!device.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = device.substr(5);
  unsigned short number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return std::nullopt;
  return number;
}

std::vector<const Kernels*> all_gpus() {
  const CudaPlugin& plugin = plugin_with_gpus();
  std::vector<const Kernels*> found;
  for (int number = 0; number < plugin.driver().gpus; ++number)
    if (problem_of(describe(plugin, number), number).empty()) found.push_back(&choose(plugin, number, false));
  if (found.empty()) first_gpu();  // says why there is none
  return found;
}

// Separated by commas.
std::vector<const Kernels*> named_devices(std::string_view devices) {
  std::vector<const Kernels*> found;
  for (size_t begin = 0; begin <= devices.size();) {
    const size_t end = std::min(devices.find(',', begin), devices.size());
    const std::string_view name = devices.substr(begin, end - begin);
    const Kernels* const device = &kernels_of_device(name);
    if (std::ranges::count(found, device) > 0)
      throw Error("\"{}\" names {} twice: name each device once", devices, name);
    found.push_back(device);
    begin = end + 1;
  }
  if (found.size() > 1 && !std::ranges::all_of(found, [](const Kernels* device) { return is_gpu(*device); }))
    throw Error("\"{}\" names a processor beside other devices: only GPUs can share translations", devices);
  return found;
}

// Of GPUs of two kinds, a translation's last bits would depend on which of them it came from.
void check_same_kind(const std::vector<const Kernels*>& devices) {
  for (const Kernels* device : devices) {
    const std::string first = device_name(*devices[0]), other = device_name(*device);
    if (first == other) continue;
    throw Error("{} and {} are GPUs of two kinds, which cannot share translations: name those of one kind",
                first, other);
  }
}

// Without a driver nobody who did not ask for a GPU should wait for the plug-in and its libraries: half a second, and
// 170 MB.
bool may_have_a_gpu() { return named_plugin() != nullptr || dlopen("libcuda.so.1", RTLD_LAZY) != nullptr; }

const Kernels& best_device() {
  const char* const instruction_set = std::getenv("DRAGOMAN_ISA");
  if ((instruction_set == nullptr || *instruction_set == '\0') && may_have_a_gpu()) {
    try {
      return first_gpu();
    } catch (const Error&) {
      // no GPU: the CPU
    }
  }
  return chosen_kernels();
}

}  // namespace

const Kernels& kernels_of_device(std::string_view device) {
  if (device == "auto") return best_device();
  if (device == "cpu") return chosen_kernels();
  if (device == "cuda") return first_gpu();
  if (const std::optional<int> number = gpu_number(device)) return numbered_gpu(*number);
  throw Error("there is no device \"{}\": use auto, cpu, cuda, or cuda:1 for the second GPU", device);
}

void set_local_process(int number) { local_process = number; }

std::vector<const Kernels*> kernels_of_devices(std::string_view devices) {
  std::vector<const Kernels*> found = devices == "cuda:all" ? all_gpus() : named_devices(devices);
  check_same_kind(found);
  return found;
}

std::string device_name(const Kernels& kernels) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  if (!chosen) return kernels.name;
  const CudaDriver driver = chosen->plugin->driver();
  return fmt::format("{}, driver {}, cuBLASLt {}.{}.{}", describe(*chosen->plugin, chosen->gpu).name,
                     cuda_version(driver.version), driver.products_version / 10000,
                     driver.products_version / 100 % 100, driver.products_version % 100);
}

bool is_gpu(const Kernels& kernels) { return find_chosen(kernels).has_value(); }

int64_t free_device_memory(const Kernels& kernels) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  return chosen ? chosen->plugin->free_memory(chosen->gpu) : 0;
}

const Kernels& with_tf32(const Kernels& kernels) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  return chosen ? choose(*chosen->plugin, chosen->gpu, true) : kernels;
}

SummingDevice summing_device(const Kernels& kernels) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  if (!chosen) return {};
  const NcclLibrary nccl = chosen->plugin->nccl();
  SummingDevice device = {.is_gpu = true, .nccl = nccl.version};
  if (nccl.problem != nullptr) device.problem = nccl.problem;
  std::ranges::copy(describe(*chosen->plugin, chosen->gpu).id, device.id.begin());
  return device;
}

DeviceSumsId new_device_sums_id(const Kernels& kernels) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  CHECK(chosen, "{} is no GPU", kernels.name);
  DeviceSumsId id = {};
  chosen->plugin->new_sums_id(&id);
  return id;
}

std::unique_ptr<DeviceSums> open_device_sums(const Kernels& kernels, const DeviceSumsGroup& group) {
  const std::optional<Chosen> chosen = find_chosen(kernels);
  CHECK(chosen, "{} is no GPU", kernels.name);
  return std::unique_ptr<DeviceSums>(chosen->plugin->open_sums(chosen->gpu, group));
}

std::vector<GpuDescription> gpus() try {
  const CudaPlugin& plugin = plugin_with_gpus();
  std::vector<GpuDescription> found;
  for (int number = 0; number < plugin.driver().gpus; ++number) {
    const CudaGpu gpu = describe(plugin, number);
    found.push_back({fmt::format("cuda:{}", number), gpu.name, problem_of(gpu, number), gpu.memory});
  }
  return found;
} catch (const Error&) {
  return {};
}

std::string why_no_gpu() try {
  first_gpu();
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace dragoman::internal
