// When a translator ends: with work under way, in its own callback, in a process that fork() made.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "dragoman/translator.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

class Lifetime : public testing::Test {
 protected:
  Translator translator() const { return Translator(folder_.path, {.threads = 1}); }

  const internal::ModelFolder folder_{"lifetime"};
  const Request short_one = {.text = "It is cold.", .options = {{"max-length", 5}}};
};

TEST_F(Lifetime, WhatIsNotDoneWhenATranslatorGoesIsCancelled) {
  std::future<Translation> future;
  {
    Translator gone = translator();
    // So many tokens that it does not end by itself.
    future =
        gone.submit({.text = "The cat sleeps.",
                     .options = {{"max-length", 100000}, {"max-length-ratio", 0.0}, {"min-length", 100000}}});
  }
  EXPECT_NE(message_of([&] { future.get(); }).find("cancelled"), std::string::npos);
}

TEST_F(Lifetime, ACallbackMayDropTheLastReferenceToItsTranslator) {
  std::promise<void> dropped;
  auto shared = std::make_shared<Translator>(translator());
  shared->submit(short_one, [kept = shared, &dropped](const std::future<Translation>&) mutable {
    while (kept.use_count() > 1) std::this_thread::yield();
    kept.reset();
    dropped.set_value();
  });
  shared.reset();
  dropped.get_future().get();
}

// That process has no other thread than the one that called it.
TEST_F(Lifetime, AForkedProcessOpensATranslatorOfItsOwn) {
#if defined(DRAGOMAN_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer starts no threads in such a process";
#endif
  std::optional<Translator> parents = translator();
  parents->submit(short_one).get();
  std::this_thread::sleep_for(
      std::chrono::milliseconds(200));  // no thread is in an allocator, which may be a sanitizer's
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const std::string refusal = message_of([&] { parents->translate("It is cold."); });
    std::optional<Translator> own = translator();
    const bool translates = !own->submit(short_one).get().hypotheses.empty();
    own.reset();
    parents.reset();
    _exit(translates && refusal.find("fork()") != refusal.npos ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dragoman
