#include "runner/symbols/debug_servers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "runner/symbols/elf/symbol_files.h"

namespace leakgate {
namespace {

// Other tests of symbols run in this process, too, and must ask no server.
class ServerLookupTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"DEBUGINFOD_URLS", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_RETRY_LIMIT"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(ServerLookupTest, AreNotWaitedForAsLongAsByOthers) {
  ::unsetenv("DEBUGINFOD_TIMEOUT");
  ::unsetenv("DEBUGINFOD_RETRY_LIMIT");
  LimitPatienceWithServers();
  EXPECT_STREQ(::getenv("DEBUGINFOD_TIMEOUT"), "10");
  EXPECT_STREQ(::getenv("DEBUGINFOD_RETRY_LIMIT"), "0");
}

TEST_F(ServerLookupTest, AreWaitedForAsTheUserLikes) {
  ::setenv("DEBUGINFOD_TIMEOUT", "77", 1);
  LimitPatienceWithServers();
  EXPECT_STREQ(::getenv("DEBUGINFOD_TIMEOUT"), "77");
}

// A server that says at once that it has no such file has answered.
TEST_F(ServerLookupTest, AreAskedAgainWhereTheyAnswer) {
  ::setenv("DEBUGINFOD_TIMEOUT", "77", 1);
  ::setenv("DEBUGINFOD_URLS", "http://host", 1);
  const ServerLookup lookup;
  lookup.End(ServerLookup::Outcome::kNotFound);
  lookup.End(ServerLookup::Outcome::kFound);
  EXPECT_STREQ(::getenv("DEBUGINFOD_URLS"), "http://host");
  EXPECT_FALSE(ServersGivenUp());
}

}  // namespace
}  // namespace leakgate
