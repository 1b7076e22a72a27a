// Translation memories, and the files that they are built from.
#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "memory/builder.h"
#include "memory/memory.h"
#include "memory/read_segments.h"

namespace dragoman::internal {
namespace {

const std::vector<MemorySegment> some_segments = {{"Open the file", "Ouvrir le fichier", "a.tmx", 86400},
                                                  {"Close 12 files", "Fermer 12 fichiers"},
                                                  {"a", "b"}};

std::string built_memory(const std::string& folder) {
  MemoryBuilder builder(folder, "en", "fr");
  for (const MemorySegment& segment : some_segments)
    builder.add({segment.source, segment.target, segment.origin, segment.changed});
  builder.finish();
  return folder;
}

void use(const TranslationMemory& memory) {
  memory.look_up("open the 7 files", {.at_least = 0, .match_case = false, .match_numbers = false});
  memory.for_each([](const MemorySegmentView&) {});
  memory.verify();
}

// A memory one of whose files has these bytes.
std::string memory_with(const std::string& file, std::string_view bytes) {
  static const TemporaryFolder folder;
  static const std::string memory = built_memory(folder.path("memory"));
  const std::string path = memory + "/" + file, whole = contents(path);
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string refused = refusal([&] { use(TranslationMemory(memory, MemoryAccess::read)); });
  std::ofstream(path, std::ios::binary) << whole;
  return refused;
}

std::string file_of_memory(const std::string& file) {
  const TemporaryFolder folder;
  return contents(built_memory(folder.path("memory")) + "/" + file);
}

// What each kind begins with tells it apart.
const char* kind_of(std::string_view bytes) {
  if (bytes.find("<tmx") != bytes.npos) return "a.tmx";
  if (bytes.find("<xliff") != bytes.npos) return "a.xlf";
  return bytes.starts_with("msgid") ? "a.po" : bytes.starts_with('{') ? "a.jsonl" : "a.tsv";
}

}  // namespace

std::string read_memory_part(std::string_view bytes) { return memory_with("segments-1", bytes); }
Seeds memory_part_seeds() { return {file_of_memory("segments-1")}; }

std::string read_memory_log(std::string_view bytes) { return memory_with("log-2", bytes); }
Seeds memory_log_seeds() {
  const TemporaryFolder folder;
  const std::string path = built_memory(folder.path("memory"));
  TranslationMemory(path, MemoryAccess::add).add(some_segments);
  return {contents(path + "/log-2")};
}

std::string read_segment_file(std::string_view bytes) {
  static const TemporaryFolder folder;
  const std::string path = folder.write(kind_of(bytes), std::string(bytes));
  return refusal([&] {
    read_segments({.files = {path}, .from = "en", .to = "fr"}, [](const MemorySegmentView& segment) {
      CHECK(!segment.source.empty() && !segment.target.empty());
    });
  });
}

Seeds segment_file_seeds() {
  return {
      R"(<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body><tu changedate="20260131T120000Z"><tuv
xml:lang="en"><seg>A <bpt i="1">b</bpt>c</seg></tuv><tuv xml:lang="fr"><seg>d &amp; e</seg></tuv></tu></body></tmx>)",
      R"(<xliff version="1.2"><file source-language="en" target-language="fr"><body><trans-unit id="1"><source>One <g
id="1">two</g></source><target>Un</target></trans-unit></body></file></xliff>)",
      "msgid \"a\\n\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\nmsgstr[1] \"d\"\n\n#, fuzzy\nmsgid \"e\"\nmsgstr "
      "\"f\"\n",
      "{\"q\":\"one\",\"s\":\"un\",\"source\":\"en\",\"target\":\"fr\"}\n", "one\tun\ntwo\tdeux\tmore\n"};
}

}  // namespace dragoman::internal
