// Documents that clients fetch later: which of them the server may forget.
#include <exception>
#include <future>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "serve/documents/jobs.h"
#include "serve/route.h"

namespace dragoman::internal {
namespace {

void finish(DocumentJobs& jobs, const DocumentJobs::Ticket& ticket, const std::string& text) {
  std::promise<TextResult> promise;
  promise.set_value({.text = text});
  std::future<TextResult> result = promise.get_future();
  jobs.finish(ticket.id, result, "request");
}

void fail(DocumentJobs& jobs, const DocumentJobs::Ticket& ticket) {
  std::promise<TextResult> promise;
  promise.set_exception(std::make_exception_ptr(dragoman::Error("invalid XML", ErrorKind::usage)));
  std::future<TextResult> result = promise.get_future();
  jobs.finish(ticket.id, result, "request");
}

TEST(DocumentJobsTest, ADocumentThatIsBeingTranslatedIsNotForgotten) {
  DownloadStore files;
  DocumentJobs jobs(files);
  const DocumentJobs::Ticket slow = jobs.begin("slow.txt", "alice", 10);
  const DocumentJobs::Ticket first = jobs.begin("first.txt", "bob", 10);
  fail(jobs, first);
  EXPECT_EQ(jobs.status(first).error, "invalid XML");
  for (size_t i = 1; i < DocumentJobs::max_jobs; ++i) fail(jobs, jobs.begin("failing.txt", "bob", 10));
  EXPECT_THROW(jobs.status(first), ServeError) << "the oldest that nobody waits for makes room";
  EXPECT_FALSE(jobs.status(slow).done);
  finish(jobs, slow, "slow");
  EXPECT_EQ(jobs.file(slow), "slow");
}

TEST(DocumentJobsTest, AFileThatWasNotFetchedIsNotForgotten) {
  DownloadStore files;
  DocumentJobs jobs(files);
  const DocumentJobs::Ticket kept = jobs.begin("kept.txt", "alice", 10);
  finish(jobs, kept, "kept");
  for (size_t i = 0; i < DocumentJobs::max_jobs; ++i) fail(jobs, jobs.begin("failing.txt", "bob", 10));
  EXPECT_EQ(jobs.file(kept), "kept");
}

}  // namespace
}  // namespace dragoman::internal
