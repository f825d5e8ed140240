#include "runner/attribution/code_owner.h"

#include <gtest/gtest.h>

#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

Frame At(const std::string& file, const std::string& function) {
  Frame frame = In(function);
  frame.file = file;
  return frame;
}

BudgetFile Owning(const std::string& component, const CodePatterns& code) {
  BudgetFile file;
  file.component = component;
  file.code = code;
  return file;
}

const BudgetFile kNet = Owning("net", {{"src/net/*"}, {}, {}});
const BudgetFile kPool = Owning("pool", {{"src/net/pool.*"}, {}, {}});
const BudgetFile kDisk = Owning("disk", {{}, {"disk::*"}, {}});
const BudgetFile kPlugin = Owning("plugin", {{}, {}, {"libplugin.so*"}});
const BudgetFile kRest = Owning(kUnowned, {});

TEST(CodeOwnerTest, IsWhoOwnsTheInnermostUserFrame) {
  const std::vector<Frame> stack = {At("/w/src/net/client.cc", "net::Connect()"),
                                    In("disk::Open()")};
  EXPECT_EQ(OwnerOf({&kNet, &kDisk}, stack), &kNet);
  EXPECT_EQ(OwnerOf({&kDisk}, stack), &kDisk);
}

TEST(CodeOwnerTest, PassesOverFramesOfTheRuntime) {
  const BudgetFile all = Owning("all", {{}, {"*"}, {}});
  EXPECT_EQ(OwnerOf({&all}, {InLibstdcxx("operator new(unsigned long)"), InLibc("strdup")}),
            nullptr);
}

TEST(CodeOwnerTest, IsTheOneWithTheLongestPattern) {
  EXPECT_EQ(OwnerOf({&kNet, &kPool}, {At("/w/src/net/pool.cc", "net::Grow()")}), &kPool);
  EXPECT_EQ(OwnerOf({&kPool, &kNet}, {At("/w/src/net/pool.cc", "net::Grow()")}), &kPool);
  EXPECT_EQ(OwnerOf({&kNet, &kPool}, {At("/w/src/net/tls.cc", "net::Tls()")}), &kNet);
}

TEST(CodeOwnerTest, MayBeToldByTheModule) {
  EXPECT_EQ(OwnerOf({&kPlugin}, {InModule("/opt/libplugin.so.1", "")}), &kPlugin);
}

TEST(CodeOwnerTest, IsUnownedOnlyIfNoFrameIsAnyones) {
  EXPECT_EQ(OwnerOf({&kRest, &kNet}, {In("other::Run()")}), &kRest);
  EXPECT_EQ(OwnerOf({&kRest, &kDisk}, {In("other::Run()"), In("disk::Open()")}), &kDisk);
  EXPECT_EQ(OwnerOf({&kNet}, {In("other::Run()")}), nullptr);
  EXPECT_EQ(OwnerOf({&kRest}, {}), &kRest);
}

}  // namespace
}  // namespace leakgate
