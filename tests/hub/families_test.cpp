// Where models of each family are looked for, what is downloaded, and what an index must not contain.
#include "hub/families.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "http_server.h"
#include "hub/cache.h"
#include "hub/catalogue.h"
#include "hub/sha256.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Files = std::map<std::string, std::string>;

std::string gzipped(const std::string& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class Families : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_download()) GTEST_SKIP() << "built without libcurl and OpenSSL";
  }
  HttpReply answer(const HttpQuery& query) const {
    const auto found = files_.find(query.path);
    return found == files_.end() ? HttpReply{.status = missing_} : file_reply(query, found->second, "\"a\"");
  }
  HubOptions options() const {
    return {.mirror = server_.url() + "/", .policy = {.attempts = 2, .first_wait = 0.01}};
  }
  std::string download(const std::vector<std::string>& words) const {
    Hub hub(options());
    const PublishedModel model = published_model(words);
    return model.family->download(hub, model, folder_.path(""));
  }
  std::string error(const std::vector<std::string>& words) const {
    try {
      download(words);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string contents(const std::string& name) const { return read_file(folder_.path(name)); }

  Files files_;
  int missing_ = 404;
  const TemporaryFolder folder_;
  DownloadServer server_{[this](const HttpQuery& query) { return answer(query); }};
};

TEST_F(Families, NamesOfModels) {
  const PublishedModel opus = published_model({"opus-mt-en-fr"});
  EXPECT_EQ(opus.name, "Helsinki-NLP/opus-mt-en-fr");
  EXPECT_EQ(opus.folder(), "opus-mt-en-fr");
  EXPECT_EQ(published_model({"nllb-200-1.3B"}).name, "facebook/nllb-200-1.3B");
  EXPECT_EQ(published_model({"madlad400-3b"}).name, "google/madlad400-3b-mt");
  EXPECT_EQ(published_model({"madlad400-3b-mt"}).name, "google/madlad400-3b-mt");
  EXPECT_EQ(published_model({"t5-small"}).name, "google-t5/t5-small");
  EXPECT_EQ(published_model({"me/my_model.2"}).folder(), "my_model.2");
  EXPECT_EQ(published_model({"argos", "en", "zh-Hant"}).folder(), "argos-en-zh-Hant");
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"en-fr"},
                                                {""},
                                                {"a/b/c"},
                                                {"../x"},
                                                {"a/.."},
                                                {"/etc"},
                                                {"a/b?c"},
                                                {"a/b c"},
                                                {"argos", "en"},
                                                {"argos", "en", "../fr"},
                                                {"argoss", "en", "fr"},
                                                {std::string(1000, 'a') + "/b"}})
    EXPECT_THROW(published_model(wrong), UsageError) << wrong[0];
}

TEST_F(Families, PublicAddresses) {
  const Hub hub({});
  const Catalogue& c = catalogue();
  EXPECT_EQ(hub.address(c.huggingface.file, {{"model", "a/b"}, {"file", "c"}}),
            "https://huggingface.co/a/b/resolve/main/c");
  for (const std::string& address : {c.huggingface.file, c.argos.index, c.firefox.index, c.firefox.files})
    EXPECT_TRUE(address.starts_with("https://"));
  EXPECT_GT(c.huggingface.known.size(), 1000u);
  EXPECT_THROW(Hub({.mirror = "ftp://somewhere"}), UsageError);
}

TEST_F(Families, HuggingFaceTakesTheWeightsThatAreThere) {
  const std::string base = "/Helsinki-NLP/opus-mt-en-fr/resolve/main/";
  files_ = {{base + "config.json", "{}"},
            {base + "vocab.json", "{}"},
            {base + "source.spm", "spm"},
            {base + "vmap.txt", "shortlist"},
            {base + "pytorch_model.bin", "weights"},
            {base + "model.bin", "others"}};
  EXPECT_EQ(download({"opus-mt-en-fr"}), folder_.path(""));
  EXPECT_EQ(contents("pytorch_model.bin"), "weights");
  EXPECT_EQ(contents("vmap.txt"), "shortlist");
  EXPECT_FALSE(fs::exists(folder_.path("model.bin")));
  files_.erase(base + "pytorch_model.bin");
  files_.erase(base + "model.bin");
  EXPECT_NE(error({"opus-mt-en-fr"}).find("has no weights that can be imported"), std::string::npos);
  files_[base + "model.safetensors.index.json"] =
      R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})";
  files_[base + "1.safetensors"] = "one";
  files_[base + "2.safetensors"] = "two";
  download({"opus-mt-en-fr"});
  EXPECT_EQ(contents("2.safetensors"), "two");
  files_.erase(base + "2.safetensors");
  EXPECT_NE(error({"opus-mt-en-fr"}).find("has no 2.safetensors"), std::string::npos);
}

TEST_F(Families, IndexOfWeightsIsNotTrusted) {
  const std::string base = "/a/b/resolve/main/";
  for (const char* name : {"../x", "/etc/passwd", "..", "a/../../b", ".bashrc", "a\\b", "a b", ""}) {
    files_ = {{base + "config.json", "{}"},
              {base + "model.safetensors.index.json", json{{"weight_map", {{"a", name}}}}.dump() + " "}};
    fs::remove(folder_.path("model.safetensors.index.json"));
    EXPECT_NE(error({"a/b"}).find("contains an invalid file name"), std::string::npos) << error({"a/b"});
  }
  for (const char* text : {"[]", "{}", "{\"weight_map\": 3}", "{\"weight_map\": {\"a\": 3}}", "<html>"}) {
    files_[base + "model.safetensors.index.json"] = text;
    fs::remove(folder_.path("model.safetensors.index.json"));
    EXPECT_NE(error({"a/b"}).find("is not an index of weights"), std::string::npos) << error({"a/b"});
  }
}

TEST_F(Families, HuggingFaceSuggestsANameAndSaysWhatToDo) {
  EXPECT_NE(error({"opus-mt-en-frr"}).find("did you mean opus-mt-en-fr?"), std::string::npos);
  missing_ = 401;
  const std::string said = error({"me/mine"});
  EXPECT_NE(said.find("https://huggingface.co/me/mine: then set HF_TOKEN"), std::string::npos) << said;
}

TEST_F(Families, TokenGoesToTheHub) {
  Hub hub({.mirror = server_.url(), .token = "secret"});
  const PublishedModel model = published_model({"a/b"});
  EXPECT_THROW(model.family->download(hub, model, folder_.path("")), Error);
  EXPECT_EQ(server_.queries()[0].headers.at("authorization"), "Bearer secret");
}

// 127.1 is this machine, too, but not one of the names by which a token may be sent.
TEST_F(Families, TokenIsNotSentWithoutEncryption) {
  std::string mirror = server_.url();
  mirror.replace(mirror.find("127.0.0.1"), 9, "127.1");
  Hub hub({.mirror = mirror, .token = "secret"});
  const PublishedModel model = published_model({"a/b"});
  EXPECT_THROW(model.family->download(hub, model, folder_.path("")), Error);
  ASSERT_FALSE(server_.queries().empty());
  EXPECT_FALSE(server_.queries()[0].has("authorization"));
}

TEST_F(Families, WhatIsNotImportedIsNotDownloaded) {
  files_["/a/b/resolve/main/config.json"] = "{}";
  files_["/a/b/resolve/main/model.safetensors"] = "weights";
  HubOptions with_check = options();
  with_check.before_weights = [](const std::string&) { throw Error("cannot be imported"); };
  Hub hub(with_check);
  const PublishedModel model = published_model({"a/b"});
  EXPECT_THROW(model.family->download(hub, model, folder_.path("")), Error);
  EXPECT_FALSE(fs::exists(folder_.path("model.safetensors")));
}

constexpr const char* argos_index = "/argosopentech/argospm-index/main/index.json";

TEST_F(Families, ArgosFollowsItsIndex) {
  files_[argos_index] =
      R"([{"from_code": "en", "to_code": "de", "links": ["https://example.org/v1/en_de.argosmodel"]},
      {"from_code": "en", "to_code": "fr", "links": ["ipfs://Qm", "https://example.org/v1/en_fr.argosmodel"]},
      {"type": "sbd", "from_code": "en", "to_code": "es", "links": ["https://example.org/sbd"]}])";
  files_["/v1/en_fr.argosmodel"] = "package";
  EXPECT_EQ(download({"argos", "en", "fr"}), folder_.path("") + "/en_fr.argosmodel");
  EXPECT_EQ(contents("en_fr.argosmodel"), "package");
  EXPECT_NE(error({"argos", "en", "fs"}).find("no package from en to fs; did you mean argos en fr?"),
            std::string::npos);
  EXPECT_NE(error({"argos", "en", "de"}).find("the server does not have it"), std::string::npos);
  Hub hub(options());
  EXPECT_EQ(names_of_argos(hub, folder_.path("")), (std::vector<std::string>{"argos en de", "argos en fr"}));
}

TEST_F(Families, ArgosIndexIsNotTrusted) {
  const char* no_name = "contains an invalid file name";
  for (const auto& [link, what] : {std::pair("https://example.org/../../x", no_name),
                                   {"https://example.org/", no_name},
                                   {"https://example.org/.x", no_name},
                                   {"https://host", "the server does not have it"},
                                   {"file:///etc/passwd", "has no package"},
                                   {"http://example.org/a", "has no package"}}) {
    files_[argos_index] = json{{{"from_code", "en"}, {"to_code", "fr"}, {"links", {link}}}}.dump();
    fs::remove(folder_.path("index.json"));
    const std::string said = error({"argos", "en", "fr"});
    EXPECT_NE(said.find(what), said.npos) << said;
  }
  for (const char* text : {"", "{", "3", "[3]", R"([{"from_code": 3}])", R"([{"from_code": "en"}])"}) {
    files_[argos_index] = text;
    fs::remove(folder_.path("index.json"));
    const std::string said = error({"argos", "en", "fr"});
    EXPECT_TRUE(said.find("valid model index") != said.npos || said.find("has no package") != said.npos)
        << said;
  }
  files_[argos_index] = std::string(200000, '[');
  fs::remove(folder_.path("index.json"));
  EXPECT_NE(error({"argos", "en", "fr"}).find("nested too deeply"), std::string::npos);
}

class FirefoxFamily : public Families {
 protected:
  const std::string bucket_ = "/moz-fx-translations-data--303e-prod-translations-data/";
  const std::string weights_ = std::string(5000, 'w');

  json file(const std::string& name) const { return {{"path", "models/en-fr/x/exported/" + name}}; }
  void publish(const std::string& packed, const std::string& sum, size_t size) {
    json weights = file("model.enfr.intgemm.alphas.bin.gz");
    weights["uncompressedHash"] = sum;
    weights["uncompressedSize"] = size;
    const json released = {{"releaseStatus", "Release"},
                           {"files", {{"model", weights}, {"vocab", file("vocab.enfr.spm.gz")}}}};
    json other = file("other.bin.gz");
    other["uncompressedHash"] = other["uncompressedSize"] = nullptr;
    const json nightly = {{"releaseStatus", nullptr}, {"files", {{"model", other}}}};
    files_[bucket_ + "db/models.json"] = json{{"models", {{"en-fr", {nightly, released}}}}}.dump();
    files_[bucket_ + "models/en-fr/x/exported/model.enfr.intgemm.alphas.bin.gz"] = packed;
    files_[bucket_ + "models/en-fr/x/exported/vocab.enfr.spm.gz"] = gzipped("vocabulary");
    for (const char* old : {"index.json", "model.enfr.intgemm.alphas.bin.gz"}) fs::remove(folder_.path(old));
  }
  std::string sum_of(const std::string& text) const { return sha256_of_file(folder_.write("text", text)); }
};

TEST_F(FirefoxFamily, FilesAreUnpackedAndChecked) {
  publish(gzipped(weights_), sum_of(weights_), weights_.size());
  EXPECT_EQ(download({"firefox", "en", "fr"}), folder_.path("") + "/model");
  EXPECT_EQ(contents("model/model.enfr.intgemm.alphas.bin"), weights_);
  EXPECT_EQ(contents("model/vocab.enfr.spm"), "vocabulary");
  EXPECT_NE(error({"firefox", "en", "fe"}).find("did you mean firefox en fr?"), std::string::npos);
}

TEST_F(FirefoxFamily, DamageIsAnError) {
  const auto expect_error = [&](const std::string& expected) {
    const std::string said = error({"firefox", "en", "fr"}), name = "model.enfr.intgemm.alphas.bin";
    EXPECT_NE(said.find(name + ".gz " + expected), std::string::npos) << said;
    for (const std::string& left : {name + ".gz", "model/" + name, "model/" + name + ".part"})
      EXPECT_FALSE(fs::exists(folder_.path(left))) << left << " after: " << said;
  };
  publish(gzipped(weights_), std::string(64, '0'), weights_.size());
  expect_error("has contents whose SHA-256 is");
  publish(gzipped(std::string(1 << 20, '0')), "", 1000);  // more than it says
  expect_error("decompresses to more than the expected 1000 bytes");
  publish(gzipped(weights_).substr(0, 20), "", 5000);
  expect_error("cannot be decompressed (the gzip data end too early");
}

TEST_F(FirefoxFamily, IndexIsNotTrusted) {
  for (const char* text :
       {"[]", "{}", R"({"models": {"en-fr": []}})", R"({"models": {"en-fr": [{"files": {"model": 3}}]}})",
        R"({"models": {"en-fr": [{"files": {"model": {"path": "../../../x"}}}]}})",
        R"({"models": {"en-fr": [{"files": {"model": {"path": "x/../../y"}}}]}})",
        R"({"models": {"en-fr": [{"files": {"model": {"path": "a.gz", "uncompressedSize": 1e300}}}]}})"}) {
    files_[bucket_ + "db/models.json"] = text;
    fs::remove(folder_.path("index.json"));
    const std::string said = error({"firefox", "en", "fr"});
    const bool climbs = std::string(text).find("..") != std::string::npos;
    EXPECT_NE(said.find(climbs ? "contains an invalid file name" : "is not a valid model index"), said.npos)
        << said;
  }
  for (const HttpQuery& query : server_.queries()) EXPECT_EQ(query.path.find(".."), std::string::npos);
}

TEST(Cache, WhatIsKeptStays) {
  const TemporaryFolder temporary;
  const std::string path = temporary.path("kept");
  DownloadFolder(path).keep();
  DownloadFolder(path).remove_unless_kept();
  EXPECT_TRUE(fs::exists(path));
}

TEST(Cache, OneProcessAtATime) {
  const TemporaryFolder temporary;
  DownloadFolder folder(temporary.path("a/b"));
  EXPECT_THROW(DownloadFolder(temporary.path("a/b")), Error);
  EXPECT_TRUE(folder.remove_unless_kept());
  EXPECT_FALSE(fs::exists(temporary.path("a/b")));
  const DownloadFolder again(temporary.path("a/b"));
  EXPECT_THROW(DownloadFolder("/proc/dragoman"), Error);
}

}  // namespace
}  // namespace dragoman::internal
