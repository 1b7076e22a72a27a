#include "serve/api_keys.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

class ApiKeysTest : public testing::Test {
 protected:
  std::string refusal(const std::string& text) const {
    try {
      write_file(path_, {text});
      ApiKeys made(path_);
    } catch (const dragoman::Error& error) {
      return error.what();
    }
    return "";
  }

  const std::string path_ = testing::TempDir() + "api-keys";
};

TEST_F(ApiKeysTest, KnowTheirOwners) {
  const NewKey alice = new_api_key("alice"), bob = new_api_key("bob");
  EXPECT_FALSE(ApiKeys("").needed());
  write_file(path_, {"# two\n\n" + alice.line + "\n  " + bob.line + "\r\n"});
  const ApiKeys both(path_);
  EXPECT_EQ(both.owner(alice.key), "alice");
  EXPECT_EQ(both.owner(bob.key), "bob");
  std::string wrong = alice.key;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& key :
       {wrong, alice.key + "0", alice.key.substr(1), std::string(), alice.line, std::string(1000, 'a')})
    EXPECT_FALSE(both.owner(key)) << key;
}

TEST_F(ApiKeysTest, TheFileDoesNotHaveTheKey) {
  const NewKey made = new_api_key("alice"), again = new_api_key("alice");
  EXPECT_EQ(made.line.find(made.key), std::string::npos);
  EXPECT_NE(made.key, again.key);
  EXPECT_EQ(made.key.size(), 64U);
}

TEST_F(ApiKeysTest, RefuseADamagedFile) {
  const std::string line = new_api_key("alice").line;
  EXPECT_NE(refusal(line + "\nbob x y\n").find(path_ + ":2: "), std::string::npos);
  EXPECT_NE(refusal(line + "\n" + line + "\n").find("names must differ"), std::string::npos);
  EXPECT_NE(refusal("# none\n").find("has no API key"), std::string::npos);
  EXPECT_NE(refusal(line + " more\n").find(":1: "), std::string::npos);
  EXPECT_THROW(new_api_key("two words"), UsageError);
  EXPECT_THROW(new_api_key("#alice"), UsageError);
  EXPECT_THROW(new_api_key(""), UsageError);
}

}  // namespace
}  // namespace dragoman::internal
