// Finds out which blocks of another process are held, and which are lost.
#include "runner/reach/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "runner/base/nt/win32.h"
#include "runner/reach/nt/root_namer.h"
#include "runner/reach/nt/root_ranges.h"
#include "runner/reach/nt/stopped_process.h"
#include "runner/reach/nt/written_words.h"
#include "runner/reach/process_stop.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The program that makes the blocks, as held.cpp describes.
class HoldingProgram {
 public:
  HoldingProgram() {
    wchar_t own[4096];
    ::GetModuleFileNameW(nullptr, own, std::size(own));
    std::wstring command = (std::filesystem::path(own).parent_path() / "held.exe").wstring();
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE write = nullptr;
    ::CreatePipe(&output_, &write, &inherited, 0);
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdOutput = write;
    if (!::CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr,
                          &start, &process_)) {
      ADD_FAILURE() << "held.exe does not start";
    }
    ::CloseHandle(write);
    ReadBlocks();
  }
  ~HoldingProgram() {
    ::TerminateProcess(process_.hProcess, 0);
    for (const HANDLE handle : {process_.hProcess, process_.hThread, output_})
      ::CloseHandle(handle);
  }

  [[nodiscard]] int pid() const { return static_cast<int>(process_.dwProcessId); }
  [[nodiscard]] const HeapCopy& heap() const { return heap_; }
  [[nodiscard]] const std::string& NameOf(std::uint64_t address) const {
    return names_.at(address);
  }
  [[nodiscard]] std::uint32_t NumberOf(const std::string& name) const {
    for (std::uint32_t i = 0; i < heap_.blocks.size(); ++i) {
      if (names_.at(heap_.blocks[i].address) == name) return i;
    }
    ADD_FAILURE() << name;
    return 0;
  }

 private:
  void ReadBlocks() {
    std::string text;
    char bytes[4096];
    DWORD got = 0;
    while (text.find("ready") == std::string::npos &&
           ::ReadFile(output_, bytes, sizeof bytes, &got, nullptr)) {
      text.append(bytes, got);
    }
    std::istringstream lines(text);
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    while (lines >> name >> address >> size) {
      heap_.blocks.push_back({.address = ~address, .size_bytes = size});
      names_[~address] = name;
    }
    std::sort(heap_.blocks.begin(), heap_.blocks.end(),
              [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    for (const LiveBlock& block : heap_.blocks)
      heap_.pages.push_back(block.address & ~std::uint64_t{4095});
    heap_.pages.erase(std::unique(heap_.pages.begin(), heap_.pages.end()), heap_.pages.end());
  }

  PROCESS_INFORMATION process_{};
  HANDLE output_ = nullptr;
  HeapCopy heap_;
  std::map<std::uint64_t, std::string> names_;
};

class Seen {
 public:
  explicit Seen(const HoldingProgram& program)
      : heap_(program.heap()),
        stopped_(*StoppedProcess::Stop(program.pid())),
        memory_(stopped_.handle()),
        ranges_(memory_.List()),
        modules_(memory_.ListModules(ranges_)),
        marker_(heap_.blocks, AllNumbers(),
                [this](std::uint64_t begin, std::uint64_t end) { return memory_.At(begin, end); }) {
  }

  [[nodiscard]] RootSources Sources() const {
    return {ranges_, modules_, stopped_.threads(), heap_, {}, {}, {}};
  }
  void MarkQuickly() {
    AddRoots(FindRoots(Sources()));
    for (const StoppedThread& thread : stopped_.threads()) {
      marker_.AddRoots(thread.registers, {.tid = thread.tid});
    }
    marker_.Mark();
  }
  void MarkSlowly() {
    MarkQuickly();
    const std::vector<RootRange> hidden = FindHiddenRoots(Sources());
    AddRoots(hidden);
    marker_.Mark();
    marker_.MarkOddly([&](const UseRoots& use) {
      for (const std::vector<RootRange>& roots : {FindRoots(Sources()), hidden}) {
        for (const RootRange& root : roots) {
          memory_.ForEachPart(root.range, [&](std::uint64_t at, Words words) {
            use({words, {.address = at}});
          });
        }
      }
    });
  }
  [[nodiscard]] ReachMarker& marker() { return marker_; }
  [[nodiscard]] const StoppedProcess& stopped() const { return stopped_; }
  [[nodiscard]] std::string HolderOf(std::uint32_t block) {
    Variables variables;
    const RootNamer namer(
        ranges_, modules_, stopped_.threads(), {}, [](std::uint64_t) { return false; }, variables);
    return namer.NameOf(marker_.ChainTo(block, 0).root).name;
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> AllNumbers() const {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < heap_.blocks.size(); ++i) numbers.push_back(i);
    return numbers;
  }
  void AddRoots(const std::vector<RootRange>& roots) {
    for (const RootRange& root : roots) {
      memory_.ForEachPart(root.range, [&](std::uint64_t at, Words words) {
        marker_.AddRoots(words, {.address = at, .tid = root.tid});
      });
      marker_.Mark();
    }
  }

  const HeapCopy& heap_;
  StoppedProcess stopped_;
  ProcessMemory memory_;
  std::vector<MemoryRange> ranges_;
  std::vector<ImageModule> modules_;
  ReachMarker marker_;
};

TEST(ReachTest, LosesNothingThatIsHeldInAnyWay) {
  const HoldingProgram program;
  Seen seen(program);
  seen.MarkSlowly();

  int held = 0;
  for (std::uint32_t i = 0; i < program.heap().blocks.size(); ++i) {
    const std::string& name = program.NameOf(program.heap().blocks[i].address);
    if (!name.starts_with("held-")) continue;
    ++held;
    EXPECT_TRUE(seen.marker().IsMarked(i)) << name;
  }
  EXPECT_EQ(held, 12);
}

TEST(ReachTest, FindsLostBlocksChainsAndCycles) {
  const HoldingProgram program;
  Seen seen(program);
  seen.MarkSlowly();

  int lost = 0;
  for (std::uint32_t i = 0; i < program.heap().blocks.size(); ++i) {
    const std::string& name = program.NameOf(program.heap().blocks[i].address);
    if (!name.starts_with("lost-")) continue;
    ++lost;
    EXPECT_FALSE(seen.marker().IsMarked(i)) << name << " is held by " << seen.HolderOf(i);
  }
  EXPECT_EQ(lost, 5);
}

TEST(ReachTest, NamesTheGlobalOrTheStackThatHoldsABlock) {
  const HoldingProgram program;
  Seen seen(program);
  seen.MarkQuickly();

  EXPECT_THAT(seen.HolderOf(program.NumberOf("held-global")), HasSubstr("g_global"));
  EXPECT_THAT(seen.HolderOf(program.NumberOf("held-other-stack")),
              StartsWith("the stack of thread "));
}

TEST(ReachTest, LeavesOutTheStacksOfWinesSystemCalls) {
  if (WineVersion().empty()) GTEST_SKIP() << "this is Windows";
  const HoldingProgram program;
  const Seen seen(program);
  const std::vector<RootRange> roots = FindRoots(seen.Sources());

  for (const StoppedThread& thread : seen.stopped().threads()) {
    ASSERT_NE(thread.stack_base, 0u);
    for (const RootRange& root : roots) EXPECT_FALSE(root.range.Has(thread.stack_base));
  }
}

volatile std::uint64_t g_numbers[] = {0xd5'7890, 0xd5'78c0, 7};

TEST(WrittenWordsTest, AreThoseThatAreNotAsInTheModulesFile) {
  g_numbers[1] = 0xd5'7900;
  ProcessMemory memory(::GetCurrentProcess());
  const std::vector<ImageModule> modules = memory.ListModules(memory.List());
  WrittenWords written(modules);
  const std::vector<std::uint64_t> words(std::begin(g_numbers), std::end(g_numbers));

  const ProcessMemory::Words in_module =
      written.Of(reinterpret_cast<std::uint64_t>(&g_numbers[0]), words);
  EXPECT_THAT(std::vector(in_module.begin(), in_module.end()), ElementsAre(0, 0xd5'7900, 0));
  const ProcessMemory::Words elsewhere =
      written.Of(reinterpret_cast<std::uint64_t>(words.data()), words);
  EXPECT_THAT(std::vector(elsewhere.begin(), elsewhere.end()), ElementsAreArray(words));
}

TEST(ReachTest, StopsAndResumesAllThreads) {
  const HoldingProgram program;
  {
    Seen seen(program);
    EXPECT_GE(seen.stopped().threads().size(), 2u);
    EXPECT_TRUE(seen.stopped().HasStoodStill());
  }
  for (const int tid : ListThreadsOf(program.pid())) {
    const HANDLE thread = ::OpenThread(THREAD_SUSPEND_RESUME, FALSE, static_cast<DWORD>(tid));
    EXPECT_EQ(::SuspendThread(thread), 0u) << "it was stopped already";
    ::ResumeThread(thread);
    ::CloseHandle(thread);
  }
}

TEST(ReachTest, SaysThatAProcessHasEnded) {
  const Expected<std::unique_ptr<ProcessStop>> stop = ProcessStop::Stop(1);

  ASSERT_FALSE(stop.has_value());
  EXPECT_EQ(stop.error().message, "PID 1 has ended");
}

}  // namespace
}  // namespace leakgate
