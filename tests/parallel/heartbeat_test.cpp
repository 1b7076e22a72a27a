#include "parallel/heartbeat.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using Reason = LostProcess::Reason;

std::unique_ptr<Heartbeat> heartbeat(int number) {
  return std::make_unique<Heartbeat>(number, 2, [](LostProcess) {});
}

// A connection that another process could have made, after its first message: hello, its number, the key.
int connect(const Heartbeat::Endpoint& endpoint, int32_t key) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(endpoint.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::array<int32_t, 3> hello = {0, 1, key};
  EXPECT_EQ(send(connection, hello.data(), sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  return connection;
}

// Within five seconds.
std::optional<LostProcess> wait_for_loss(const Heartbeat& heartbeat) {
  for (int i = 0; i < 500 && !heartbeat.lost(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return heartbeat.lost();
}

class TwoProcesses : public testing::Test {
 protected:
  TwoProcesses() {
    std::jthread other([this] { second_->start(first_->endpoint()); });
    first_->start({});
  }

  std::unique_ptr<Heartbeat> first_ = heartbeat(0), second_ = heartbeat(1);
};

TEST_F(TwoProcesses, NoticeThatTheOtherHasFailed) {
  second_.reset();
  const auto lost = wait_for_loss(*first_);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->number, 1);
  EXPECT_EQ(lost->reason, Reason::failed);
}

TEST_F(TwoProcesses, AreToldOfAFailureBeforeItsProcessEnds) {
  second_->fail();
  const auto lost = wait_for_loss(*first_);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->reason, Reason::failed);
}

TEST_F(TwoProcesses, MayLeaveInOrder) {
  first_->leave();
  second_->leave();
  second_.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(first_->lost());
}

class OneProcess : public testing::Test {
 protected:
  ~OneProcess() override { close(connection_); }

  void start(int32_t wrong_by = 0) {
    const auto endpoint = first_->endpoint();
    connection_ = connect(endpoint, endpoint.key + wrong_by);
    if (wrong_by != 0) {
      close(connection_);
      connection_ = connect(endpoint, endpoint.key);
    }
    first_->start({});
  }

  std::unique_ptr<Heartbeat> first_ = heartbeat(0);
  int connection_ = -1;
};

TEST_F(OneProcess, NoticesThatTheOtherHasDied) {
  start();
  shutdown(connection_, SHUT_RDWR);
  const auto lost = wait_for_loss(*first_);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->number, 1);
  EXPECT_EQ(lost->reason, Reason::died);
}

TEST_F(OneProcess, NoticesThatTheOtherHangs) {
  start();
  EXPECT_FALSE(first_->lost());
  first_->set_timeout(0.2);
  const auto lost = wait_for_loss(*first_);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->reason, Reason::timed_out);
}

// A stranger whose key is wrong is not taken for a process, whatever becomes of it.
TEST_F(OneProcess, IgnoresStrangers) {
  start(/*wrong_by=*/1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(first_->lost());
}

}  // namespace
}  // namespace dragoman::internal
