// Downloads from a server that cuts connections, changes its files and redirects: the file is whole and right, or there
// is an error.
#include "hub/download.h"

#include <chrono>
#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "base/files.h"
#include "faulty_disk.h"
#include "http_server.h"
#include "hub/sha256.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::string contents_of(char first, size_t size = 300000) {
  std::string text(size, first);
  for (size_t i = 0; i < size; i += 7) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

class Download : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_download()) GTEST_SKIP() << "built without libcurl and OpenSSL";
  }
  DownloadResult get(const DownloadServer& server, FileToGet file = {}) {
    Downloader downloader(policy_);
    if (file.url.empty()) file.url = server.url("/model.bin");
    file.path = path_;
    return downloader.get(file);
  }
  std::string error(const DownloadServer& server, FileToGet file = {}) {
    try {
      get(server, std::move(file));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  bool has(const std::string& suffix) const { return fs::exists(path_ + suffix); }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("model.bin");
  const std::string file_ = contents_of('x');
  const std::string tag_ = "\"one\"";
  DownloadPolicy policy_ = {
      .times = {.connect = 5, .stall = 2}, .attempts = 3, .first_wait = 0.01, .max_wait = 3};
};

TEST_F(Download, FileArrivesAndIsNotDownloadedAgain) {
  DownloadServer server([&](const HttpQuery& query) { return file_reply(query, file_, tag_); });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
  EXPECT_FALSE(has(".part"));
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(server.queries().back().headers.at("if-none-match"), tag_);
  EXPECT_EQ(read_file(path_), file_);
}

TEST_F(Download, ChangedFileIsDownloadedAgain) {
  std::string now = file_, tag = tag_;
  DownloadServer server([&](const HttpQuery& query) { return file_reply(query, now, tag); });
  EXPECT_EQ(get(server), DownloadResult::file);
  now = contents_of('y', 1000), tag = "\"two\"";
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), now);
}

TEST_F(Download, CutConnectionGoesOnWhereItStopped) {
  int count = 0;
  DownloadServer server([&](const HttpQuery& query) {
    HttpReply reply = file_reply(query, file_, tag_);
    if (++count <= 4) reply.most_sent = 50000;  // more often than attempts without progress are allowed
    return reply;
  });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
  const auto queries = server.queries();
  ASSERT_EQ(queries.size(), 5u);
  EXPECT_FALSE(queries[0].has("range"));
  EXPECT_EQ(queries[1].headers.at("range"), "bytes=50000-");
  EXPECT_EQ(queries[1].headers.at("if-range"), tag_);
  EXPECT_EQ(queries[4].headers.at("range"), "bytes=200000-");
}

// Nothing can be resumed without a tag: an attempt that gets less far than an earlier one is no progress.
TEST_F(Download, CutAtChangingPlacesItEnds) {
  int count = 0;
  DownloadServer server([&](const HttpQuery&) {
    return HttpReply{.body = file_, .most_sent = ++count % 2 == 0 ? 50000u : 10000u};
  });
  EXPECT_NE(error(server).find("the connection was cut"), std::string::npos);
  EXPECT_EQ(server.queries().size(), 4u);
}

TEST_F(Download, AnotherCommandGoesOn) {
  {
    DownloadServer server([&](const HttpQuery& query) {
      HttpReply reply = file_reply(query, file_, tag_);
      if (query.has("range")) return HttpReply{.status = 503};
      reply.most_sent = 100000;
      return reply;
    });
    EXPECT_NE(error(server).find("HTTP 503; the partial download is kept"), std::string::npos);
    EXPECT_EQ(fs::file_size(path_ + ".part"), 100000u);
  }
  DownloadServer server([&](const HttpQuery& query) { return file_reply(query, file_, tag_); });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(server.queries().front().headers.at("range"), "bytes=100000-");
  EXPECT_EQ(read_file(path_), file_);
}

// As a run leaves it that was stopped after the last byte, before the end of its checks.
TEST_F(Download, PartThatLacksNothingIsCheckedAndTaken) {
  const std::string sum = sha256_of_file(folder_.write("whole", file_));
  std::string now = file_;
  DownloadServer server([&](const HttpQuery& query) {
    HttpReply reply = file_reply(query, now, tag_);
    if (reply.status == 416) reply.headers = {fmt::format("Content-Range: bytes */{}", now.size())};
    return reply;
  });
  const auto get_with_part = [&](const std::string& part, const std::string& wanted_sum) {
    fs::remove(path_);
    folder_.write("model.bin.part", part);
    folder_.write("model.bin.tag", tag_);
    const size_t before = server.queries().size();
    EXPECT_EQ(get(server, {.url = server.url("/model.bin"), .sha256 = wanted_sum}), DownloadResult::file);
    EXPECT_EQ(read_file(path_), now);
    EXPECT_FALSE(has(".part"));
    return server.queries().size() - before;
  };
  EXPECT_EQ(get_with_part(file_, sum), 1u);
  EXPECT_EQ(get_with_part(contents_of('y'), sum), 2u) << "its checksum is another one";
  now = contents_of('z', 1000);
  EXPECT_EQ(get_with_part(file_, ""), 2u) << "it is longer than the server's";
}

TEST_F(Download, ServerWithoutRangesStartsOver) {
  int count = 0;
  DownloadServer server([&](const HttpQuery&) {
    HttpReply reply = {.headers = {"ETag: " + tag_}, .body = file_};
    if (++count == 1) reply.most_sent = 70000;
    return reply;
  });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
}

TEST_F(Download, FileThatChangesBetweenAttemptsIsNotMixed) {
  const std::string changed = contents_of('y');
  const std::string sum = sha256_of_file(folder_.write("changed", changed));
  struct Server {
    bool checks_tag, has_tag;
  };
  for (const Server& kind : {Server{true, true}, {false, true}, {false, false}}) {
    int count = 0;
    DownloadServer server([&](HttpQuery query) {
      if (!kind.checks_tag) query.headers.erase("if-range");  // it sends the rest of another file
      HttpReply reply = ++count == 1 ? file_reply(query, file_, tag_) : file_reply(query, changed, "\"two\"");
      if (count == 1) reply.most_sent = 70000;
      if (count > 1 && !kind.has_tag) reply.headers.erase(reply.headers.begin());
      return reply;
    });
    EXPECT_EQ(get(server, {.url = server.url("/model.bin"), .sha256 = kind.has_tag ? "" : sum}),
              DownloadResult::file);
    EXPECT_EQ(read_file(path_), changed);
    fs::remove(path_ + ".tag");
  }
}

TEST_F(Download, ShortRangeIsNotTheWholeRest) {
  constexpr size_t most = 50000;
  DownloadServer server([&](const HttpQuery& query) {
    HttpReply reply = file_reply(query, file_, tag_);
    if (!query.has("range")) {
      reply.most_sent = most;
      return reply;
    }
    reply.body = reply.body.substr(0, most);
    const size_t from = std::stoul(query.headers.at("range").substr(6)), end = from + reply.body.size();
    reply.headers.back() = fmt::format("Content-Range: bytes {}-{}/{}", from, end - 1, file_.size());
    return reply;
  });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
  EXPECT_EQ(server.queries().size(), file_.size() / most);
}

TEST_F(Download, WithoutATagItIsNotResumed) {
  DownloadServer server([&](const HttpQuery&) { return HttpReply{.body = file_, .most_sent = 70000}; });
  const std::string said = error(server);
  EXPECT_NE(said.find("the connection was cut"), std::string::npos) << said;
  EXPECT_EQ(said.find("is kept"), std::string::npos) << said;
  EXPECT_GT(server.queries().size(), 1u);
  for (const HttpQuery& query : server.queries()) EXPECT_FALSE(query.has("range") || query.has("if-range"));
}

TEST_F(Download, NotModifiedIsAnErrorWhereThereIsNoFile) {
  DownloadServer server([&](const HttpQuery&) { return HttpReply{.status = 304, .says_length = false}; });
  EXPECT_NE(error(server).find("HTTP 304"), std::string::npos) << error(server);
  EXPECT_FALSE(has(""));
}

TEST_F(Download, PartThatWasNotAskedForIsDiscarded) {
  int count = 0;
  DownloadServer server([&](const HttpQuery& query) {
    HttpReply reply = file_reply(query, file_, tag_);
    if (++count == 1) reply.most_sent = 70000;
    if (count == 2) reply.headers.back() = "Content-Range: bytes 0-299999/300000";
    return reply;
  });
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
}

TEST_F(Download, PassingFaultsAreWaitedFor) {
  int count = 0;
  DownloadServer server([&](const HttpQuery& query) {
    ++count;
    if (count == 1) return HttpReply{.status = 500, .body = "an error page"};
    if (count == 2) return HttpReply{.status = 429, .headers = {"Retry-After: 1"}};
    return file_reply(query, file_, tag_);
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(get(server), DownloadResult::file);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(read_file(path_), file_);
}

TEST_F(Download, FaultsThatStayAreErrors) {
  DownloadServer busy(
      [&](const HttpQuery&) { return HttpReply{.status = 429, .headers = {"Retry-After: 4000"}}; });
  EXPECT_NE(error(busy).find("HTTP 429, and asks to wait 4000 seconds"), std::string::npos) << error(busy);
  DownloadServer broken([&](const HttpQuery&) { return HttpReply{.status = 500}; });
  EXPECT_NE(error(broken).find("HTTP 500"), std::string::npos);
  EXPECT_EQ(broken.queries().size(), 3u);
  DownloadServer odd([&](const HttpQuery&) { return HttpReply{.status = 418}; });
  EXPECT_NE(error(odd).find("HTTP 418"), std::string::npos);
  EXPECT_EQ(odd.queries().size(), 1u);
}

TEST_F(Download, SilentServerIsGivenUp) {
  policy_.times.stall = 1;
  policy_.attempts = 1;
  std::promise<void> given_up;
  DownloadServer silent([known = given_up.get_future().share()](const HttpQuery&) {
    known.wait_for(std::chrono::seconds(20));
    return HttpReply{.status = 200};
  });
  const std::string said = error(silent);
  given_up.set_value();
  EXPECT_NE(said.find("the server does not answer"), std::string::npos) << said;
}

TEST_F(Download, MissingAndRefused) {
  folder_.write("model.bin", "of an earlier version");
  folder_.write("model.bin.tag", tag_);
  DownloadServer server(
      [&](const HttpQuery& query) { return HttpReply{.status = query.path == "/403" ? 403 : 404}; });
  EXPECT_EQ(get(server, {.url = server.url("/403")}), DownloadResult::denied);
  EXPECT_EQ(get(server), DownloadResult::missing);
  EXPECT_FALSE(has(""));
}

TEST_F(Download, WrongChecksumsAndSizesAreErrors) {
  std::vector<std::string> headers = {"X-Linked-ETag: \"" + std::string(64, 'a') + "\""};
  DownloadServer server([&](const HttpQuery& query) {
    if (query.path == "/linked")
      return HttpReply{.status = 302, .headers = {headers[0], "Location: /model.bin"}};
    return file_reply(query, file_, tag_);
  });
  folder_.write("file", file_);
  const std::string sum = sha256_of_file(folder_.path("file"));
  EXPECT_EQ(sum.size(), 64u);
  EXPECT_EQ(get(server, {.url = server.url("/model.bin"), .sha256 = sum, .size = file_.size()}),
            DownloadResult::file);
  for (const FileToGet& wrong : {FileToGet{.url = server.url("/1"), .sha256 = std::string(64, '0')},
                                 FileToGet{.url = server.url("/linked")}}) {
    fs::remove(path_);
    const std::string said = error(server, wrong);
    EXPECT_NE(said.find("its SHA-256 is " + sum), std::string::npos) << said;
    EXPECT_FALSE(has("") || has(".part"));
  }
  headers[0] = "X-Linked-ETag: \"" + sum + "\"";
  EXPECT_EQ(get(server, {.url = server.url("/linked")}), DownloadResult::file);
  fs::remove(path_);
  EXPECT_NE(error(server, {.url = server.url("/2"), .size = file_.size() + 1}).find("should have 300001"),
            std::string::npos);
  EXPECT_NE(error(server, {.url = server.url("/3"), .size = 10}).find("were expected"), std::string::npos);
}

TEST_F(Download, FilesHaveALimit) {
  bool says_length = true;
  DownloadServer server([&](const HttpQuery& query) {
    HttpReply reply = file_reply(query, file_, tag_);
    reply.says_length = says_length;
    return reply;
  });
  EXPECT_NE(error(server, {.url = server.url("/1"), .max_bytes = 1000}).find("0.3 MB"), std::string::npos);
  says_length = false;
  EXPECT_NE(error(server, {.url = server.url("/1"), .max_bytes = 1000}).find("more than"), std::string::npos);
  EXPECT_LE(fs::exists(path_ + ".part") ? fs::file_size(path_ + ".part") : 0, 1000u);
}

TEST_F(Download, RedirectsAreFollowedButNotForEver) {
  DownloadServer server([&](const HttpQuery& query) {
    if (query.path == "/a") return HttpReply{.status = 302, .headers = {"Location: /b"}, .body = "moved"};
    if (query.path == "/b") return HttpReply{.status = 307, .headers = {"Location: /model.bin"}};
    if (query.path == "/loop") return HttpReply{.status = 302, .headers = {"Location: /loop"}};
    if (query.path == "/file") return HttpReply{.status = 302, .headers = {"Location: file:///etc/passwd"}};
    return file_reply(query, file_, tag_);
  });
  EXPECT_EQ(get(server, {.url = server.url("/a")}), DownloadResult::file);
  EXPECT_EQ(read_file(path_), file_);
  EXPECT_NE(error(server, {.url = server.url("/loop")}).find("more than 10 times"), std::string::npos);
  EXPECT_NE(error(server, {.url = server.url("/file")}).find("is not https or http"), std::string::npos);
  EXPECT_NE(error(server, {.url = "file:///etc/passwd"}).find("is not https or http"), std::string::npos);
}

TEST_F(Download, TokenStaysWithItsHost) {
  DownloadServer other([&](const HttpQuery& query) { return file_reply(query, file_, tag_); });
  DownloadServer server([&](const HttpQuery& query) {
    if (query.path == "/here") return HttpReply{.status = 302, .headers = {"Location: /b"}};
    return HttpReply{.status = 302, .headers = {"Location: " + other.url("/model.bin")}};
  });
  EXPECT_EQ(get(server, {.url = server.url("/here"), .token = "secret"}), DownloadResult::file);
  for (const HttpQuery& query : server.queries())
    EXPECT_EQ(query.headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(server.queries().size(), 2u);
  ASSERT_EQ(other.queries().size(), 1u);
  EXPECT_FALSE(other.queries()[0].has("authorization"));
}

TEST_F(Download, DiskThatIsFullIsAnError) {
  DownloadServer server([&](const HttpQuery& query) { return file_reply(query, file_, tag_); });
  faulty_disk = {.fault = Fault::full_from_here, .at = 4};
  const std::string said = error(server);
  faulty_disk = {};
  EXPECT_NE(said.find("model.bin.part: No space left on device"), std::string::npos) << said;
  EXPECT_EQ(get(server), DownloadResult::file);  // there is room again
  EXPECT_EQ(read_file(path_), file_);
}

}  // namespace
}  // namespace dragoman::internal
