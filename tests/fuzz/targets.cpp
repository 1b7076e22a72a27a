#include "fuzz/targets.h"

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "base/error.h"
#include "base/lines.h"
#include "base/log.h"
#include "data/corpus.h"
#include "data/links.h"
#include "data/pair_loader.h"
#include "data/shards.h"
#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"
#include "kernels/kernels.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "search/saved_model.h"
#include "search/segments.h"
#include "search/shortlist.h"
#include "temporary_folder.h"
#include "text/noise.h"
#include "text/sentences.h"
#include "text/spans.h"
#include "text/spm_fields.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "text/word_tokenizer.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

// --- base ---

std::string read_lines(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] {
    LineReader lines(file.path());
    for (std::string_view line; lines.next(line);) is_text(line);
  });
}

std::string gzip(std::string_view text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream = {};
  CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  CHECK(!ZSTD_isError(size));
  out.resize(size);
  return out;
}

Seeds line_seeds() {
  const std::string text = "\xEF\xBB\xBFone line\r\nanother\n\nÅse møtte ørnen\nno line feed";
  return {text, gzip(text), zstandard(text), gzip(text) + gzip("a second member\n"),
          zstandard(text) + zstandard(text)};
}

// --- text and metrics ---

std::string read_text(std::string_view bytes) {
  const std::string text = repaired(bytes);
  CHECK(is_text(text));
  size_t size = 0;
  for (const SentencePart& part : split_sentences(text)) size += part.sentence.size() + part.space.size();
  CHECK(size <= text.size());
  lower_case(code_points(bytes));
  WordSpacing spacing;
  for (const auto& [begin, end] : tokenize_words(bytes)) {
    CHECK(begin < end && end <= bytes.size());
    spacing.space_before(bytes.substr(begin, end - begin));
  }
  for (const TextSpan& word : word_spans(text)) CHECK(word.begin < word.end);
  for (uint64_t pair = 0; pair < 3; ++pair) {
    std::string source = text, target = text;
    add_noise({.upper = 0.3, .title = 0.3, .typos = 1, .punctuation = 0.5, .tags = 1}, pair, "en", "de",
              source, target);
    CHECK(is_text(source) && is_text(target));
  }
  return {};
}

Seeds text_seeds() {
  return {"Dr. Smith arrived at 3.30 p.m. He left at once!  \"Why?\" she asked.", "ΟΔΟΣ und Straße İstanbul",
          "日本語の文。 もう一つ。", "e\u0301\u200d\U0001F469\u200d\U0001F52C \u00a0\u2028 \u0085"};
}

std::string read_scored(std::string_view bytes) {
  const size_t middle = std::min(bytes.find('\n'), bytes.size());
  const std::string hypothesis = repaired(bytes.substr(0, middle)),
                    reference = repaired(bytes.substr(middle));
  for (const Tokenizer tokenizer : {Tokenizer::thirteen_a, Tokenizer::international}) {
    const double score = bleu_score(bleu_statistics(hypothesis, reference, {tokenizer, true})).score;
    CHECK(score >= 0 && score < 100.001);
  }
  chrf_statistics(hypothesis, reference, {.word_order = 2, .lowercase = true});
  return {};
}

Seeds scored_seeds() {
  return {"The cat sat on the mat, 1,000 times.\nA cat sat on the mat: 1.000 times!",
          "&quot;1-2&quot; a&amp;b\n\"1 - 2\" a & b"};
}

std::string read_vocabulary(std::string_view bytes) {
  return refusal([&] {
    const Vocabulary vocabulary(std::string(bytes), "fuzz.spm");
    const std::vector<int32_t> ids = vocabulary.encode("The café is open.\tNow  \u3042 \U0001F600");
    vocabulary.decode(ids);
    vocabulary.encode_with_spans("ﬁne  Ａ words");
    vocabulary.decode_with_spans(ids);
  });
}

Seeds vocabulary_seeds() {
  const std::string plain = contents(fixture / "run/shared.spm");
  const TokenTable table = {.tokens = {"</s>", "<unk>", "▁the", "é", "<pad>"},
                            .unknown = 1,
                            .start = 4,
                            .end = 0,
                            .suppressed = {4}};
  return {plain, with_token_table(plain, table)};
}

// --- data ---

std::string read_corpus(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] {
    DroppedPairs left_out;
    read_pairs({{.source = file.path(), .target = {}}}, false, left_out);
  });
}

Seeds corpus_seeds() {
  return {"a dog\tun chien\na cat\tun chat\tcomment\n", "\tempty\nno tab\n \t \nlast\tline"};
}

// A line says which format the rest has.
std::string read_sentences(std::string_view bytes) {
  const size_t first = std::min(bytes.find('\n'), bytes.size());
  const TextFormat format = bytes.starts_with("iwslt") ? TextFormat::iwslt : TextFormat::sgm;
  const MemoryFile file(bytes.substr(first));
  return refusal([&] {
    DroppedPairs left_out;
    read_pairs({{.source = file.path(), .target = file.path(), .format = format}}, false, left_out);
  });
}

Seeds sentence_seeds() {
  return {"iwslt\n<url>http://a.b/c</url>\n<title>A talk</title>\nA sentence & <another>.\n</doc>\nEnd",
          "sgm\n<doc docid=\"1\">\n<seg id=\"1\"> a &amp; b &#8217; </seg>\n<hl><seg "
          "id=2>c</seg></hl>\n</doc>\n"};
}

// The checksum of the 56 bytes before it is put right: a fuzzer would never hit it.
constexpr size_t shard_checksum_at = 56, shard_header_size = 64;

std::string with_checksum(std::string_view bytes) {
  std::string shard(bytes);
  if (shard.size() >= shard_header_size) {
    const uint64_t checksum = XXH3_64bits(shard.data(), shard_checksum_at);
    std::memcpy(shard.data() + shard_checksum_at, &checksum, sizeof checksum);
  }
  return shard;
}

std::string read_shard(std::string_view bytes) {
  const MemoryFile file(with_checksum(bytes));
  return refusal([&] {
    const Shard read(file.path(), 7, {.source = 5, .target = 5});
    std::vector<int32_t> source, target;
    for (const PairRecord& pair : read.pairs()) read.read(pair, source, target);
    read.verify();
  });
}

Seeds shard_seeds() {
  const TemporaryFolder folder;
  Seeds seeds;
  for (const int id_bytes : {2, 4}) {
    ShardWriter writer(folder.path("shard"), id_bytes, 7);
    for (int32_t i = 0; i < 5; ++i) {
      const std::vector<int32_t> ids(static_cast<size_t>(i + 1), i);
      writer.add(static_cast<uint64_t>(i), ids, ids);
    }
    writer.finish();
    seeds.push_back(contents(folder.path("shard")));
  }
  return seeds;
}

const LinkSettings link_settings = {.fingerprint = 7};

// A prepared corpus, but for its links.
struct CorpusOfLinks {
  TemporaryFolder folder;
  Vocabularies vocabularies = read_vocabularies(fixture / "run");
  VocabularySizes sizes = {vocabularies.source->size(), vocabularies.target->size()};

  CorpusOfLinks() {
    ShardWriter writer(shard_path(folder.path(""), 0), 2, link_settings.fingerprint);
    for (uint64_t pair = 0; pair < 5; ++pair)
      writer.add(pair, vocabularies.source->encode("a small dog"),
                 vocabularies.target->encode("un petit chien"));
    writer.finish();
  }
};

std::string read_links(std::string_view bytes) {
  static const CorpusOfLinks& corpus = *new CorpusOfLinks;
  corpus.folder.write("links-000", with_checksum(bytes));
  return refusal([&] {
    PreparedCorpus read = {.vocabularies = corpus.vocabularies, .source_begins = {0, 5}};
    read.shards.emplace_back(shard_path(corpus.folder.path(""), 0), link_settings.fingerprint, corpus.sizes);
    read.links = open_links(read.shards, corpus.folder.path(""), link_settings);
    PairLoader loader(read, {.sampling = 0.5, .tags = 0.5});
    for (uint32_t record = 0; record < read.shards[0].pairs().size(); ++record) loader.load({0, record}, 1);
  });
}

Seeds link_seeds() {
  const CorpusOfLinks corpus;
  Preparation work;
  write_links(1, corpus.sizes, corpus.folder.path(""), link_settings, work);
  return {contents(corpus.folder.path("links-000"))};
}

// --- models ---

std::string read_safetensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] {
    const SafetensorsFile read = SafetensorsFile::open(file.path());
    for (const TensorEntry& entry : read.entries()) {
      CHECK(&read.find(entry.name) == &entry);
      XXH3_64bits(entry.bytes.data(), entry.bytes.size());  // touches all of them
    }
  });
}

std::string read_model(std::string_view bytes) {
  static const TemporaryFolder& folder = copy_of(fixture / "int8");
  folder.write("model.safetensors", std::string(bytes));
  return refusal([&] { SavedModel(folder.path(""), kernels_for(nullptr), 1); });
}

Seeds model_seeds() {
  return {contents(fixture / "int8/model.safetensors"), contents(fixture / "run/model.safetensors")};
}

std::string read_model_configuration(std::string_view bytes) {
  static const TemporaryFolder& folder = copy_of(fixture / "run");
  folder.write("config.json", std::string(bytes));
  return refusal([&] {
    read_model_config(folder.path(""));
    Recipe recipe;
    Options options;
    declare(options, recipe);
    const nlohmann::json config = read_config(folder.path(""));
    if (config.contains("recipe")) options.from_json(config["recipe"], "config.json", UnknownKeys::ignore);
    options.check([&] { validate(recipe); });
  });
}

Seeds configuration_seeds() {
  return {contents(fixture / "run/config.json"), contents(fixture / "int8/config.json")};
}

std::string read_shortlist(std::string_view bytes) {
  static const TemporaryFolder& folder = copy_of(fixture / "run");
  static const Vocabularies vocabularies = read_vocabularies(folder.path(""));
  folder.write("shortlist.safetensors", std::string(bytes));
  return refusal([&] {
    const Shortlist list = Shortlist::read(folder.path(""), vocabularies);
    list.words_for(vocabularies.source->encode("a small dog"), {});
  });
}

Seeds shortlist_seeds() {
  const TemporaryFolder folder;
  const Vocabularies vocabularies = read_vocabularies(fixture / "run");
  Lexicon lexicon = {.frequent = {3, 4, 5}, .translations = {}};
  for (int32_t id = 0; id < vocabularies.source->size(); ++id) lexicon.translations.push_back({id});
  write_shortlist(folder.path(""), lexicon, vocabularies);
  return {contents(folder.path("shortlist.safetensors"))};
}

constexpr FuzzTarget targets[] = {
    {"lines", read_lines, line_seeds},
    {"text", read_text, text_seeds},
    {"metrics", read_scored, scored_seeds},
    {"vocabulary", read_vocabulary, vocabulary_seeds},
    {"corpus", read_corpus, corpus_seeds},
    {"sentences", read_sentences, sentence_seeds},
    {"glossary", read_glossary_file, glossary_seeds},
    {"multipart", read_multipart, multipart_seeds},
    {"urlencoded", read_urlencoded, urlencoded_seeds},
    {"client_glossary", read_client_glossary, client_glossary_seeds},
    {"shard", read_shard, shard_seeds},
    {"links", read_links, link_seeds},
    {"safetensors", read_safetensors, model_seeds},
    {"model", read_model, model_seeds},
    {"configuration", read_model_configuration, configuration_seeds},
    {"shortlist", read_shortlist, shortlist_seeds},
    {"torch", read_torch_file, torch_seeds},
    {"foreign_safetensors", read_safetensors_of_others, safetensors_of_others},
    {"marian", read_marian, marian_seeds},
    {"marian_shortlist", read_shortlist_of_marian, shortlists_of_marian},
    {"yaml", read_yaml, yaml_seeds},
    {"ctranslate2", read_ctranslate2, ctranslate2_seeds},
    {"import", read_importable, importable_seeds},
    {"argos", read_argos_package, argos_package_seeds},
    {"argos_index", read_argos_index, argos_indexes},
    {"firefox_index", read_firefox_index, firefox_indexes},
    {"recipe", read_recipe, recipe_seeds},
    {"student_recipe", read_student_recipe, student_recipe_seeds},
    {"flags", read_flags, flag_seeds},
    {"history", read_metrics_history, metrics_seeds},
    {"checkpoint", read_checkpoint, checkpoint_seeds},
    {"run_state", read_run_state, run_state_seeds},
    {"memory_part", read_memory_part, memory_part_seeds},
    {"memory_log", read_memory_log, memory_log_seeds},
    {"segment_file", read_segment_file, segment_file_seeds},
    {"document", read_document, document_seeds},
    {"pdf_words", read_pdf_words, pdf_word_seeds},
#ifdef DRAGOMAN_SERVES
    {"http_requests", read_http_requests, http_request_seeds},
    {"routes", read_requests_to_routes, seeds_of_requests_to_routes},
#endif
};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return targets; }

}  // namespace dragoman::internal
