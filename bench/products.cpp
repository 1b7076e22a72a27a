// Compares the matrix products of training and decoding with oneDNN and OpenBLAS: bench_products --help.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "kernels/machine_peaks.h"
#include "products_contestants.h"
#include "timing.h"

namespace dragoman::internal::bench {
namespace {

constexpr const char* help =
    "bench_products: GFLOP/s of the packed product, oneDNN and OpenBLAS, medians of interleaved runs.\n"
    "\n"
    "  --isa NAME      only this one, for all three libraries: %s [all of these]\n"
    "  --threads N     only this number of threads [1 and 2]\n"
    "  --filter TEXT   only shapes whose names contain this text, such as 512/ or decode\n"
    "  --runs N        runs per shape [5]\n"
    "  --ours          without the other libraries\n"
    "\n"
    "Training packs the right operand in every call; decoding packs it once and reads it from memory.\n"
    "limit: the measured peak of this instruction set, or the weights' bytes divided by the measured "
    "bandwidth.\n";

// What keeps the other libraries to an instruction set; empty where nothing does.
struct InstructionSet {
  const char *name, *onednn, *openblas;
  bool has_own_products;  // of floats; the others have those of the set that they add to
};

constexpr InstructionSet instruction_sets[] = {
    {"baseline", "SSE41", "Nehalem", true},
    {"avx2", "AVX2", "Haswell", true},
    {"avx512", "AVX512_CORE", "", true},
    {"avx512vnni", "AVX512_CORE_VNNI", "", false},
    {"avx512bf16", "AVX512_CORE_BF16", "", false},
    {"amx", "", "", false},
    {"dotprod", "", "", false},
};

const InstructionSet& instruction_set(const std::string& name) {
  for (const InstructionSet& set : instruction_sets)
    if (name == set.name) return set;
  throw Error("instruction_sets lacks {}", name);
}

// d, d_ff and the vocabulary of the two sizes; 4096 tokens; decoding with 1, 4 and 32 rows. The generator's weight
// has one row per word, and its gradient is summed over chunks of tokens.
constexpr Shape shapes[] = {
    {"256/forward attention", Use::plain, 4096, 256, 256},
    {"256/forward ffn in", Use::plain, 4096, 256, 1024},
    {"256/forward ffn out", Use::plain, 4096, 1024, 256},
    {"256/forward generator", Use::transposed, 4096, 256, 8000},
    {"256/dX attention", Use::transposed, 4096, 256, 256},
    {"256/dX ffn in", Use::transposed, 4096, 1024, 256},
    {"256/dX ffn out", Use::transposed, 4096, 256, 1024},
    {"256/dX generator", Use::plain, 4096, 8000, 256},
    {"256/dW attention", Use::weight_gradient, 256, 4096, 256},
    {"256/dW ffn in", Use::weight_gradient, 256, 4096, 1024},
    {"256/dW ffn out", Use::weight_gradient, 1024, 4096, 256},
    {"256/dW generator", Use::weight_gradient, 8000, 2048, 256},
    {"512/forward attention", Use::plain, 4096, 512, 512},
    {"512/forward ffn in", Use::plain, 4096, 512, 2048},
    {"512/forward ffn out", Use::plain, 4096, 2048, 512},
    {"512/forward generator", Use::transposed, 4096, 512, 16000},
    {"512/dX attention", Use::transposed, 4096, 512, 512},
    {"512/dX ffn in", Use::transposed, 4096, 2048, 512},
    {"512/dX ffn out", Use::transposed, 4096, 512, 2048},
    {"512/dX generator", Use::plain, 4096, 16000, 512},
    {"512/dW attention", Use::weight_gradient, 512, 4096, 512},
    {"512/dW ffn in", Use::weight_gradient, 512, 4096, 2048},
    {"512/dW ffn out", Use::weight_gradient, 2048, 4096, 512},
    {"512/dW generator", Use::weight_gradient, 16000, 1024, 512},
    {"decode 1 attention", Use::decoding, 1, 512, 512},
    {"decode 1 ffn in", Use::decoding, 1, 512, 2048},
    {"decode 1 ffn out", Use::decoding, 1, 2048, 512},
    {"decode 1 generator", Use::decoding, 1, 512, 32000},
    {"decode 4 attention", Use::decoding, 4, 512, 512},
    {"decode 4 ffn in", Use::decoding, 4, 512, 2048},
    {"decode 4 ffn out", Use::decoding, 4, 2048, 512},
    {"decode 4 generator", Use::decoding, 4, 512, 32000},
    {"decode 32 attention", Use::decoding, 32, 512, 512},
    {"decode 32 ffn in", Use::decoding, 32, 512, 2048},
    {"decode 32 ffn out", Use::decoding, 32, 2048, 512},
    {"decode 32 generator", Use::decoding, 32, 512, 32000},
    {"int8 1 attention", Use::decoding_int8, 1, 512, 512},
    {"int8 1 ffn out", Use::decoding_int8, 1, 2048, 512},
    {"int8 1 generator", Use::decoding_int8, 1, 512, 32000},
    {"int8 4 ffn in", Use::decoding_int8, 4, 512, 2048},
    {"int8 4 generator", Use::decoding_int8, 4, 512, 32000},
    {"int8 32 attention", Use::decoding_int8, 32, 512, 512},
    {"int8 32 ffn in", Use::decoding_int8, 32, 512, 2048},
    {"int8 32 ffn out", Use::decoding_int8, 32, 2048, 512},
    {"int8 32 generator", Use::decoding_int8, 32, 512, 32000},
    {"int8 128 ffn in", Use::decoding_int8, 128, 512, 2048},
    {"int8 128 generator", Use::decoding_int8, 128, 512, 32000},
    {"int8 800 attention", Use::decoding_int8, 800, 512, 512},
    {"int8 800 ffn in", Use::decoding_int8, 800, 512, 2048},
    {"int8 800 ffn out", Use::decoding_int8, 800, 2048, 512},
    {"bf16 256/forward ffn in", Use::plain, 4096, 256, 1024, Rounding::bf16},
    {"bf16 256/forward ffn out", Use::plain, 4096, 1024, 256, Rounding::bf16},
    {"bf16 256/dX attention", Use::transposed, 4096, 256, 256, Rounding::bf16},
    {"bf16 256/dW attention", Use::weight_gradient, 256, 4096, 256, Rounding::bf16},
    {"bf16 256/dW ffn in", Use::weight_gradient, 256, 4096, 1024, Rounding::bf16},
    {"bf16 512/forward attention", Use::plain, 4096, 512, 512, Rounding::bf16},
    {"bf16 512/forward ffn in", Use::plain, 4096, 512, 2048, Rounding::bf16},
    {"bf16 512/dX ffn in", Use::transposed, 4096, 2048, 512, Rounding::bf16},
    {"bf16 512/dX generator", Use::plain, 4096, 16000, 512, Rounding::bf16},
    {"bf16 512/dW attention", Use::weight_gradient, 512, 4096, 512, Rounding::bf16},
    {"bf16 512/dW ffn in", Use::weight_gradient, 512, 4096, 2048, Rounding::bf16},
    {"bf16 512/dW generator", Use::weight_gradient, 16000, 1024, 512, Rounding::bf16},
};

struct Options {
  std::string isa, filter;
  int threads = 0, runs = 5;
  bool ours_alone = false;
};

// Seconds per call. Waits until the threads of the previous contestant are asleep (OpenBLAS keeps them awake for some
// 30 ms), then wakes the threads of this one.
double time_of(const Call& call, int threads, int copies, double estimate) {
  if (threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  int copy = 0;
  const auto calls_in = [&](double time) {
    return static_cast<int>(std::clamp(time / estimate, 2.0, 4000.0));
  };
  for (int i = calls_in(0.01); i > 0; --i) call(copy++ % copies);
  const int calls = calls_in(0.05);
  const double start = seconds(threads);
  for (int i = 0; i < calls; ++i) call(copy++ % copies);
  return (seconds(threads) - start) / calls;
}

struct Contestant {
  const char* name;
  Call call;
  double estimate = 0;
  std::vector<double> times = {};
};

std::vector<Contestant> contestants(const Shape& shape, Data& data, const Kernels& kernels,
                                    CpuContext& context, const Options& options) {
  if (shape.int8()) {
    std::vector<Contestant> all = {{"ours", our_int8_call(shape, data, kernels, context)}};
#if defined(DRAGOMAN_WITH_ONEDNN)
    if (!options.ours_alone) all.push_back({"oneDNN", onednn_matmul_call(shape, data)});
#endif
    return all;
  }
  std::vector<Contestant> all = {{"ours", our_call(shape, data, kernels, context)}};
  if (options.ours_alone) return all;
#if defined(DRAGOMAN_WITH_ONEDNN)
  all.push_back({"oneDNN", onednn_matmul_call(shape, data)});
  if (shape.bf16()) return all;
  all.push_back({"oneDNN", onednn_sgemm_call(shape, data)});
#endif
#if defined(DRAGOMAN_WITH_OPENBLAS)
  all.push_back({"OpenBLAS", openblas_call(shape, data)});
  if (shape.m == 1) all.push_back({"OpenBLAS", openblas_row_call(shape, data)});
#endif
  return all;
}

void run_shape(const Shape& shape, const Kernels& kernels, CpuContext& context, double peak, double bandwidth,
               const Options& options) {
  Data data(shape);
  std::vector<Contestant> all = contestants(shape, data, kernels, context, options);
  for (Contestant& one : all) {
    one.call(0);
    const double start = seconds(options.threads);
    one.call(0);
    one.estimate = seconds(options.threads) - start;
  }
  for (int run = 0; run < options.runs; ++run) {
    for (Contestant& one : all)
      one.times.push_back(time_of(one.call, options.threads, shape.copies(), one.estimate));
  }
  const double operations = shape.operations();
  double ours = 0, best_rival = 0;
  std::printf("%-26s %5ld x %5ld x %5ld", shape.name, static_cast<long>(shape.m), static_cast<long>(shape.k),
              static_cast<long>(shape.n));
  for (const char* name : {"ours", "oneDNN", "OpenBLAS"}) {
    double best = 0;  // of this library's functions
    for (const Contestant& one : all) {
      if (std::strcmp(one.name, name) == 0) best = std::max(best, operations / median(one.times));
    }
    (std::strcmp(name, "ours") == 0 ? ours : best_rival) =
        std::max(best, std::strcmp(name, "ours") == 0 ? 0 : best_rival);
    std::printf(" %9.1f", best * 1e-9);
  }
  const double limit =
      shape.packed_once() ? std::min(peak, operations * bandwidth / shape.weight_bytes()) : peak;
  std::printf("  %6.2f  %4.0f %%\n", best_rival > 0 ? ours / best_rival : 0.0, 100 * ours / limit);
  std::fflush(stdout);
}

int run_all(const Options& options) {
  const Kernels& kernels = kernels_for(options.isa.c_str());
  CpuContext context(options.threads);
  const double peak = measured_peak(context.threads(), options.isa),
               bandwidth = measured_bandwidth(context.threads());
  const double int8_peak = measured_peak(context.threads(), options.isa, Precision::int8);
  const double bf16_peak = measured_peak(context.threads(), options.isa, Precision::bf16);
  const bool has_own_products = instruction_set(options.isa).has_own_products;
  std::printf("\n%s, %d thread%s: peak %.1f GFLOP/s, bf16 %.1f, int8 %.1f, memory %.1f GB/s\n",
              options.isa.c_str(), options.threads, options.threads == 1 ? "" : "s", peak * 1e-9,
              bf16_peak * 1e-9, int8_peak * 1e-9, bandwidth * 1e-9);
  std::printf("%-26s %21s %9s %9s %9s  %6s  %6s\n", "", "m       k       n", "ours", "oneDNN", "OpenBLAS",
              "ratio", "limit");
  for (const Shape& shape : shapes) {
    if (std::strstr(shape.name, options.filter.c_str()) == nullptr) continue;
    if (shape.bf16() ? !kernels.low_precision.rounded_is_fast : !shape.int8() && !has_own_products) continue;
    const double limit = shape.bf16() ? bf16_peak : shape.int8() ? int8_peak : peak;
    run_shape(shape, kernels, context, limit, bandwidth, options);
  }
  return 0;
}

// The libraries read their settings at start: each instruction set and number of threads needs a process of its own.
int run_child(const Options& options, const std::string& isa, int threads) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const std::string count = std::to_string(threads), runs = std::to_string(options.runs);
    const InstructionSet& set = instruction_set(isa);
    if (*set.onednn != '\0') setenv("ONEDNN_MAX_CPU_ISA", set.onednn, 1);
    if (*set.openblas != '\0') setenv("OPENBLAS_CORETYPE", set.openblas, 1);
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    setenv("OMP_NUM_THREADS", count.c_str(), 1);
    setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
    std::vector<const char*> arguments = {"bench_products", "--child",     "--isa",    isa.c_str(),
                                          "--threads",      count.c_str(), "--filter", options.filter.c_str(),
                                          "--runs",         runs.c_str()};
    if (options.ours_alone) arguments.push_back("--ours");
    arguments.push_back(nullptr);
    execv("/proc/self/exe", const_cast<char**>(arguments.data()));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void print_help(std::FILE* to) {
  const KernelTables available = available_kernels();
  std::string names;
  for (int i = 0; i < available.count; ++i)
    names += std::string(i > 0 ? ", " : "") + available.tables[i]->name;
  std::fprintf(to, help, names.c_str());
}

int run(int argc, char** argv) {
  Options options;
  bool child = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--isa")
      options.isa = value, ++i;
    else if (name == "--threads")
      options.threads = std::atoi(value), ++i;
    else if (name == "--filter")
      options.filter = value, ++i;
    else if (name == "--runs")
      options.runs = std::max(1, std::atoi(value)), ++i;
    else if (name == "--ours")
      options.ours_alone = true;
    else if (name == "--child")
      child = true;
    else
      return print_help(name == "--help" ? stdout : stderr), name == "--help" ? 0 : 2;
  }
  if (child) return run_all(options);
  const KernelTables available = available_kernels();
  bool any = false;
  for (int i = 0; i < available.count; ++i) {
    if (!options.isa.empty() && options.isa != available.tables[i]->name) continue;
    any = true;
    for (int threads : {1, 2}) {
      if (options.threads != 0 ? threads != std::min(options.threads, 2) : threads > available_threads())
        continue;
      if (run_child(options, available.tables[i]->name, options.threads != 0 ? options.threads : threads) !=
          0)
        return 1;
    }
  }
  if (!any) std::fprintf(stderr, "bench_products: this machine has no --isa %s\n", options.isa.c_str());
  return any ? 0 : 1;
}

}  // namespace
}  // namespace dragoman::internal::bench

int main(int argc, char** argv) { return dragoman::internal::bench::run(argc, argv); }
