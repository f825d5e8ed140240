// Code that is annotated for LeakSanitizer or gperftools' heap checker, and reaches their functions
// by weak symbols, needs nothing new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/findings.h"
#include "tests/support/command.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Contains;

constexpr const char* kTests = R"(
#include <gtest/gtest.h>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
extern "C" {
void __lsan_disable() __attribute__((weak));
void __lsan_enable() __attribute__((weak));
void __lsan_ignore_object(const void*) __attribute__((weak));
void __lsan_register_root_region(const void*, size_t) __attribute__((weak));
void __lsan_unregister_root_region(const void*, size_t) __attribute__((weak));
void __lsan_do_leak_check() __attribute__((weak));
int __lsan_do_recoverable_leak_check() __attribute__((weak));
}
struct __attribute__((weak)) HeapLeakChecker {
  static void DoIgnoreObject(const void*) __attribute__((weak));
  static void UnIgnoreObject(const void*) __attribute__((weak));
  struct Disabler {
    Disabler() __attribute__((weak));
    ~Disabler() __attribute__((weak));
  };
};
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "# of this program\nleak:LoseSuppressed\n";
}
struct Node { Node* next; char text[40]; };
volatile void* g_last;
Node* g_chain;
struct Registry { Node* first; };
Registry* g_registry;
[[gnu::noinline]] Node* Make(Node* next = nullptr) { return new Node{next, ""}; }
[[gnu::noinline]] void Lose(void* block) { g_last = block; g_last = nullptr; }

TEST(Passes, AnIgnoredObjectAndAllThatItAloneLeadsTo) {
  Node* const first = Make(Make(Make()));
  __lsan_ignore_object(first);
  Lose(first);
}
TEST(Passes, AnArrayWithACookie) {
  struct Item { ~Item() {} long values[3]; };
  Item* const items = new Item[4];
  __lsan_ignore_object(items);
  Lose(items);
}
TEST(Passes, WhatIsAllocatedWhileDisabledAndWhatItLeadsTo) {
  __lsan_disable();
  Node* const first = Make();
  __lsan_enable();
  first->next = Make();
  Lose(first);
}
TEST(Passes, WhatGrowsButIsIgnored) {
  g_chain = Make(g_chain);
  __lsan_ignore_object(g_chain);
}
TEST(Passes, WhatGrowsInAnIgnoredObjectThatIsHeld) {
  if (g_registry == nullptr) {
    g_registry = new Registry{};
    __lsan_ignore_object(g_registry);
  }
  g_registry->first = Make(g_registry->first);
}
TEST(Passes, WhatGrowsBelowWhatIsIgnored) {
  Node* const first = Make(Make());
  __lsan_ignore_object(first);
  Lose(first);
}
TEST(Passes, WhatARegionInAnIgnoredBlockLeadsTo) {
  char* const pool = static_cast<char*>(std::calloc(1, 4096));
  Node* const first = Make();
  std::memcpy(pool + 64, &first, sizeof(first));
  __lsan_ignore_object(pool);
  Lose(pool);
}
TEST(Passes, WhatGperftoolsIgnores) {
  Node* const first = Make(Make());
  HeapLeakChecker::DoIgnoreObject(first);
  Lose(first);
  const HeapLeakChecker::Disabler disabler;
  Lose(Make());
}
[[gnu::noinline]] Node* LoseSuppressed() {
  Node* const first = Make();
  Lose(first);
  return first;
}
TEST(Passes, WhatTheProgramSuppressesAndWhatItLeadsTo) {
  volatile Node* volatile first = LoseSuppressed();
  const_cast<Node*>(first)->next = Make();
  first = nullptr;
}
TEST(Passes, DisabledBeyondTheTest) { __lsan_disable(); Lose(Make()); }
TEST(Passes, StillDisabledInTheNext) { Lose(Make()); __lsan_enable(); }
TEST(Passes, FunctionsThatWouldEndTheProgramAreNotAnswered) {
  EXPECT_TRUE(__lsan_do_leak_check == nullptr);
  EXPECT_TRUE(__lsan_do_recoverable_leak_check == nullptr);
}
TEST(Passes, AnyAddressIsTaken) {
  errno = 7;
  __lsan_ignore_object(nullptr);
  __lsan_ignore_object(&g_last);
  __lsan_ignore_object(reinterpret_cast<void*>(-1));
  __lsan_ignore_object(reinterpret_cast<void*>(64));
  __lsan_enable();
  __lsan_unregister_root_region(&g_last, 8);
  __lsan_register_root_region(reinterpret_cast<void*>(-16), 64);
  __lsan_register_root_region(nullptr, ~size_t{0});
  __lsan_unregister_root_region(nullptr, ~size_t{0});
  EXPECT_EQ(errno, 7);
}

TEST(Fails, WhatIsNotIgnored) {
  Node* const ignored = Make();
  __lsan_ignore_object(ignored);
  Lose(ignored);
  Lose(Make());
}
TEST(Fails, WhatAnotherThreadAllocatesMeanwhile) {
  __lsan_disable();
  std::thread([] { Lose(Make()); }).join();
  __lsan_enable();
}
Node* g_not_ignored;
TEST(Fails, WhatGrowsAndIsHeldByAnythingElse) {
  Node* const holder = Make();
  __lsan_ignore_object(holder);
  holder->next = g_not_ignored = Make(g_not_ignored);
  Lose(holder);
}
TEST(Fails, AfterEnable) {
  __lsan_disable();
  __lsan_enable();
  Lose(Make());
}
TEST(Fails, WhatIsNotIgnoredAnyMore) {
  Node* const first = Make();
  HeapLeakChecker::DoIgnoreObject(first);
  HeapLeakChecker::UnIgnoreObject(first);
  Lose(first);
}
TEST(Fails, ButNotWhatAnIgnoredObjectHolds) {
  Node* const first = Make();
  Node* const second = Make();
  __lsan_ignore_object(second);
  first->next = second;
  Lose(first);
}
[[gnu::noinline]] char* LosePool() {
  char* const pool = static_cast<char*>(std::calloc(1, 4096));
  Node* const first = Make();
  std::memcpy(pool + 64, &first, sizeof(first));
  Lose(pool);
  return pool;
}
TEST(Fails, APoolButNotWhatItsRegisteredRegionLeadsTo) {
  __lsan_register_root_region(LosePool() + 64, 8);
}
TEST(Fails, WhatAnUnregisteredRegionLeadsTo) {
  const volatile char* const pool = LosePool();
  __lsan_register_root_region(const_cast<char*>(pool) + 64, 8);
  __lsan_unregister_root_region(const_cast<char*>(pool) + 64, 8);
}
)";

class LeakAnnotationsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory();
    const std::string binary = directory_->File("annotated");
    const CommandResult built =
        RunCommand({"c++", "-w", "-g", "-O1", "-rdynamic", "-o", binary,
                    directory_->Write("a.cc", kTests), "-lgtest_main", "-lgtest", "-pthread"});
    ASSERT_EQ(built.exit_code, 0) << built.standard_error;
    run_ = new GatedRun(RunByDefault({binary}));
  }
  static void TearDownTestSuite() {
    delete run_;
    delete directory_;
  }

  static std::vector<nlohmann::json> TestsOf(const std::string& suite) {
    std::vector<nlohmann::json> tests;
    for (const nlohmann::json& window : run_->report["windows"]) {
      const std::string name = window["name"];
      if (name.starts_with(suite + ".")) tests.push_back(window);
    }
    return tests;
  }

  static TemporaryDirectory* directory_;
  static GatedRun* run_;
};
TemporaryDirectory* LeakAnnotationsTest::directory_ = nullptr;
GatedRun* LeakAnnotationsTest::run_ = nullptr;

TEST_F(LeakAnnotationsTest, WhatIsIgnoredPassesAndIsReportedAsAllowed) {
  const std::vector<nlohmann::json> tests = TestsOf("Passes");
  EXPECT_EQ(tests.size(), 13U);
  for (const nlohmann::json& test : tests) EXPECT_EQ(test["verdict"], "pass") << test;
  const nlohmann::json test = run_->Test("Passes.AnIgnoredObjectAndAllThatItAloneLeadsTo");
  EXPECT_EQ(test["allowed"]["blocks"], 3) << test;
  EXPECT_THAT(TextsOf(test, "allowance"), Contains("__lsan_ignore_object"));
  EXPECT_THAT(TextsOf(test, "explanation"),
              AllOf(Contains("the code has leak checkers ignore it"),
                    Contains("only what the code has leak checkers ignore leads to it")));
  EXPECT_THAT(TextsOf(run_->Test("Passes.StillDisabledInTheNext"), "allowance"),
              Contains("__lsan_disable"));
  EXPECT_THAT(TextsOf(run_->Test("Passes.WhatGperftoolsIgnores"), "allowance"),
              Contains("HeapLeakChecker::IgnoreObject"));
  EXPECT_THAT(TextsOf(run_->Test("Passes.WhatTheProgramSuppressesAndWhatItLeadsTo"), "explanation"),
              Contains("__lsan_default_suppressions:2 (leak:LoseSuppressed)"));
}

TEST_F(LeakAnnotationsTest, WhatIsNotIgnoredFails) {
  EXPECT_EQ(run_->command.exit_code, 1);
  const std::vector<nlohmann::json> tests = TestsOf("Fails");
  EXPECT_EQ(tests.size(), 8U);
  for (const nlohmann::json& test : tests) EXPECT_EQ(test["verdict"], "over_budget") << test;
  EXPECT_EQ(run_->Test("Fails.WhatIsNotIgnored")["lost"]["blocks"], 1);
  EXPECT_EQ(run_->Test("Fails.ButNotWhatAnIgnoredObjectHolds")["lost"]["blocks"], 1);
  EXPECT_EQ(run_->Test("Fails.APoolButNotWhatItsRegisteredRegionLeadsTo")["lost"]["blocks"], 1);
  EXPECT_EQ(run_->Test("Fails.WhatAnUnregisteredRegionLeadsTo")["lost"]["blocks"], 2);
}

TEST_F(LeakAnnotationsTest, WithoutLeakgateTheProgramFindsNoSuchFunction) {
  const CommandResult alone =
      RunCommand({directory_->File("annotated"), "--gtest_filter=Passes.Functions*"});
  EXPECT_EQ(alone.exit_code, 0) << alone.standard_output;
}

}  // namespace
}  // namespace leakgate::test
