#include "runner/symbols/debug_facts.h"

#include <gmock/gmock.h>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

// A program that is compiled with `flags`; `then` is a command on it, "program".
DebugFacts FactsOf(const std::string& flags, const std::string& then = "true") {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "program.cpp") << "int main() { return 0; }\n";
  folder.Run("g++ " + flags + " -o program program.cpp && " + then);
  DebugFacts facts = ReadDebugFacts(folder.path() / "program");
  if (!facts.separate_file.empty()) {
    facts.separate_file = std::filesystem::path(facts.separate_file).filename();
  }
  return facts;
}

TEST(DebugFactsTest, OfADebugBuildAreAllThere) {
  const DebugFacts facts = FactsOf("-g");
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_TRUE(facts.has_unwind_table);
  EXPECT_EQ(facts.separate_file, "");
}

TEST(DebugFactsTest, HaveSymbolsWithoutDebugInformation) {
  const DebugFacts facts = FactsOf("-g0");
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_FALSE(facts.has_lines);
}

TEST(DebugFactsTest, HaveNoSymbolsOfAStrippedFile) {
  const DebugFacts facts = FactsOf("-s");
  EXPECT_FALSE(facts.has_symbols);
  EXPECT_TRUE(facts.has_unwind_table);
}

TEST(DebugFactsTest, HaveNoUnwindTableThatTheLinkerWasToldToLeaveOut) {
  EXPECT_FALSE(FactsOf("-Wl,--no-eh-frame-hdr").has_unwind_table);
}

constexpr char kSeparate[] =
    "objcopy --only-keep-debug program program.debug && strip program && "
    "objcopy --add-gnu-debuglink=program.debug program";

TEST(DebugFactsTest, AreReadFromASeparateFile) {
  const DebugFacts facts = FactsOf("-g", kSeparate);
  EXPECT_TRUE(facts.has_symbols);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_EQ(facts.separate_file, "program.debug");
}

TEST(DebugFactsTest, NameASeparateFileThatIsMissing) {
  const DebugFacts facts = FactsOf("-g", std::string(kSeparate) + " && rm program.debug");
  EXPECT_FALSE(facts.has_lines);
  EXPECT_EQ(facts.debug_link, "program.debug");
}

TEST(DebugFactsTest, OfWhatIsNoElfFileAreNone) {
  EXPECT_FALSE(ReadDebugFacts("/etc/passwd").has_symbols);
  EXPECT_FALSE(ReadDebugFacts("/no/such/file").has_unwind_table);
}

}  // namespace
}  // namespace leakgate
