// Time and memory for preparing and reading a large corpus.
//
//   bench_corpus [PAIRS] [FOLDER]      [5,000,000] pairs of synthetic text, in FOLDER [a temporary one]
//
// Each stage runs in its own process, so that peak memory is measured per stage. The corpus repeats a million distinct
// pairs: memory that a stage keeps for each pair shows in comparison with a corpus a tenth of the size.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "base/status_line.h"
#include "base/threads.h"
#include "data/batches.h"

namespace dragoman::internal {
namespace {

// Words of a synthetic language, the frequent ones short, and their translations into another.
void write_corpus(const std::string& source_path, const std::string& target_path, int64_t pairs) {
  const char* syllables[] = {"ka", "lo", "mi", "ter", "sun", "é", "var", "do", "pri", "ne", "sta", "ou"};
  std::ofstream source(source_path), target(target_path);
  for (int64_t i = 0; i < pairs; ++i) {
    Random random(static_cast<uint64_t>(i % 1'000'000));
    for (uint64_t words = 3 + random.below(20); words > 0; --words) {
      for (uint64_t parts = 1 + random.below(3); parts > 0; --parts) {
        const uint64_t syllable = random.below(12);
        source << syllables[syllable];
        target << syllables[11 - syllable];
      }
      source << (words > 1 ? " " : "\n");
      target << (words > 1 ? " " : "\n");
    }
  }
  if (!source.flush() || !target.flush()) throw Error("cannot write {}", source_path);
}

// Runs it in its own process and prints time and peak memory.
void measure(const std::string& what, const std::function<void()>& work) {
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (status != 0) throw Error("{} failed", what);
  fmt::print("{:<34}{:>8.1f} s{:>8} MB peak\n", what, seconds.count(), usage.ru_maxrss >> 10);
}

void walk(const PreparedCorpus& corpus) {
  ShardedBatches batches(corpus, {});
  int64_t pairs = 0;
  while (const auto batch = batches.next()) pairs += static_cast<int64_t>(batch->pairs.size());
  CHECK(pairs == corpus.counts.kept, "{} of {}", pairs, corpus.counts.kept);
}

void seek_to_nine_tenths(const PreparedCorpus& corpus) {
  ShardedBatches batches(corpus, {});
  batches.seek({.index = batches.batches_in_epoch() * 9 / 10});
}

void run(int64_t pairs, const std::string& folder) {
  DataConfig data;
  data.source = {folder + "/source"};
  data.target = {folder + "/target"};
  VocabularyConfig vocabulary;
  vocabulary.size = 2000;
  fmt::print("{} pairs, {} threads\n", with_commas(pairs), available_threads());
  measure("write the text", [&] { write_corpus(data.source[0], data.target[0], pairs); });
  const auto corpus = [&] { return prepare_corpus(data, vocabulary, folder + "/data", available_threads()); };
  measure("learn vocabularies, encode", [&] { corpus(); });
  measure("recognise it as unchanged", [&] { corpus(); });
  measure("recognise it, an epoch of batches", [&] { walk(corpus()); });
  measure("recognise it, seek to nine tenths", [&] { seek_to_nine_tenths(corpus()); });
}

}  // namespace
}  // namespace dragoman::internal

int main(int argc, char** argv) {
  using namespace dragoman::internal;
  std::string folder = (std::filesystem::temp_directory_path() / "dragoman-corpus-XXXXXX").string();
  bool is_temporary = false;
  int status = 0;
  try {
    const int64_t pairs = argc > 1 ? std::stoll(argv[1]) : 5'000'000;
    if (argc > 2) folder = argv[2];
    if (argc <= 2 && !(is_temporary = mkdtemp(folder.data())))
      throw Error("cannot create a temporary folder");
    std::filesystem::create_directories(folder);
    run(pairs / 10, folder);
    run(pairs, folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_corpus: {}\n", error.what());
    status = 1;
  }
  if (is_temporary) std::filesystem::remove_all(folder);
  return status;
}
