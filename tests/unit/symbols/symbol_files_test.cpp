// If a module's file is not where it was mapped, it is found in other directories by its build-id,
// or not at all; a file of another build is never taken.
#include "runner/symbols/elf/symbol_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/symbols/debug_servers.h"
#include "runner/symbols/symbolizer.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr char kFilesSource[] = R"(extern "C" __attribute__((noinline)) void* Here() {
  return __builtin_return_address(0);
}
static __attribute__((noinline)) void* Grow() {
  void* here = Here();  // line 5
  asm volatile("" : "+r"(here));
  return here;
}
extern "C" void* Start() {
  void* here = Grow();
  asm volatile("" : "+r"(here));
  return here;
}
)";

class SymbolFilesTest : public testing::Test {
 protected:
  SymbolFilesTest()
      : library_(kFilesSource, "-g -O1"), pc_(library_.Call("Start")), module_(ModuleOf(pc_)) {}

  void MoveTo(const fs::path& place) const {
    fs::create_directories(place.parent_path());
    fs::rename(library_.file(), place);
  }
  fs::path Elsewhere() const { return library_.folder().path() / "elsewhere"; }
  Frame FrameWith(const std::vector<fs::path>& directories) {
    Symbolizer symbolizer(nullptr, directories);
    Frame frame = symbolizer.Symbolize(module_, pc_).front();
    state_ = symbolizer.StateOf(module_);
    return frame;
  }

  CompiledLibrary library_;
  std::uint64_t pc_;
  Module module_;
  ModuleFileState state_ = ModuleFileState::kMissing;
};

TEST_F(SymbolFilesTest, AreNotNeededWhereTheFileIs) {
  EXPECT_EQ(FrameWith({}).line, 5);
  EXPECT_EQ(state_, ModuleFileState::kFound);
}

TEST_F(SymbolFilesTest, AreFoundByBuildIdUnderAnyName) {
  MoveTo(Elsewhere() / "deep" / "renamed.bin");
  EXPECT_EQ(FrameWith({}).function, "");
  EXPECT_EQ(state_, ModuleFileState::kMissing);
  const Frame frame = FrameWith({"/nowhere", Elsewhere()});
  EXPECT_EQ(state_, ModuleFileState::kFound);
  EXPECT_EQ(frame.function, "Grow()");
  EXPECT_EQ(frame.line, 5);
  EXPECT_EQ(frame.module, module_.path);
}

TEST_F(SymbolFilesTest, MayBeDebugInformationAlone) {
  library_.folder().Run("objcopy --only-keep-debug libnet.so debug");
  const fs::path place = Elsewhere() / ".build-id" / module_.build_id.substr(0, 2) /
                         (module_.build_id.substr(2) + ".debug");
  fs::create_directories(place.parent_path());
  fs::rename(library_.folder().path() / "debug", place);
  fs::remove(library_.file());
  const Frame frame = FrameWith({Elsewhere()});
  EXPECT_EQ(frame.function, "Grow()");
  EXPECT_EQ(frame.line, 5);
  EXPECT_EQ(frame.called_function, "");  // there is no code to tell it by
}

TEST_F(SymbolFilesTest, MayBeAStrippedBinaryAndItsDebugInformation) {
  library_.folder().Run(
      "mkdir elsewhere && objcopy --only-keep-debug libnet.so elsewhere/a && "
      "strip libnet.so -o elsewhere/b && rm libnet.so");
  EXPECT_EQ(FrameWith({Elsewhere()}).line, 5);
  fs::remove(Elsewhere() / "a");
  EXPECT_EQ(FrameWith({Elsewhere()}).line, 0);
}

TEST_F(SymbolFilesTest, AreNotTakenForAnotherBuild) {
  MoveTo(Elsewhere() / "libnet.so");
  library_.folder().Run(
      "sed -i 's/Grow/Grew/g' net.cpp && "
      "g++ -shared -fPIC -g -O1 -Wl,--build-id net.cpp -o libnet.so");
  const Frame other = FrameWith({});
  EXPECT_EQ(other.function, "");
  EXPECT_EQ(other.module, module_.path);
  EXPECT_EQ(other.module_offset, pc_ - module_.bias - 1);
  EXPECT_EQ(state_, ModuleFileState::kOtherFile);
  EXPECT_EQ(FrameWith({Elsewhere()}).function, "Grow()");
}

}  // namespace
}  // namespace leakgate
