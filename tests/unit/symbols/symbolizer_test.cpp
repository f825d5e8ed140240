#include "runner/symbols/symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The innermost call in each function returns to the address that the function returns.
constexpr char kPoolSource[] = R"(extern "C" __attribute__((noinline)) void* Here() {
  return __builtin_return_address(0);
}
namespace net {
template <typename T>
struct Pool {
  static inline __attribute__((always_inline)) T Grow() {
    T here = Here();  // line 8
    asm volatile("" : "+r"(here));
    return here;
  }
};
static __attribute__((noinline)) void* Connect(int) {
  void* here = Pool<void*>::Grow();  // line 14
  asm volatile("" : "+r"(here));
  return here;
}
}  // namespace net
extern "C" void* Start() {
  void* here = net::Connect(1);
  asm volatile("" : "+r"(here));
  return here;
}
extern "C" void* StartHere() {
  void* here = Here();  // line 25
  asm volatile("" : "+r"(here));
  return here;
}
)";

auto Functions(const auto&... names) {
  return ElementsAre(Field("function", &Frame::function, names)...);
}

class SymbolizerFormatTest : public testing::TestWithParam<const char*> {};

TEST_P(SymbolizerFormatTest, ExpandsInlinedFunctionsInnermostFirst) {
  const CompiledLibrary library(kPoolSource, GetParam());

  const std::vector<Frame> frames = FramesOf(library, "Start");

  EXPECT_THAT(frames, Functions("net::Pool<void*>::Grow()", "net::Connect(int)"));
  EXPECT_THAT(frames, ElementsAre(Field(&Frame::inlined, true), Field(&Frame::inlined, false)));
}

TEST_P(SymbolizerFormatTest, GivesEachFrameItsOwnLine) {
  const CompiledLibrary library(kPoolSource, GetParam());

  EXPECT_THAT(FramesOf(library, "Start"),
              ElementsAre(Field(&Frame::line, 8), Field(&Frame::line, 14)));
}

TEST_P(SymbolizerFormatTest, GivesAbsoluteFiles) {
  const CompiledLibrary library(kPoolSource, GetParam());

  EXPECT_THAT(FramesOf(library, "Start"), Each(Field(&Frame::file, library.source())));
}

INSTANTIATE_TEST_SUITE_P(Formats, SymbolizerFormatTest,
                         testing::Values("-g -O0", "-g -O2", "-gdwarf-4 -O0", "-gdwarf-4 -O2",
                                         "-gdwarf-3 -O2", "-g -O2 -ffunction-sections",
                                         "-g -O2 -gz", "-g -Wl,--compress-debug-sections=zstd",
                                         "-g -O2 -flto", "-g -gsplit-dwarf -O2"));

// Bazel hides it, because its sandboxes are elsewhere each time.
TEST(SymbolizerTest, GivesARelativeFileWhereTheBuildHidesItsDirectory) {
  const CompiledLibrary library(kPoolSource, "-g -O2 \"-fdebug-prefix-map=$PWD=/proc/self/cwd\"");

  EXPECT_THAT(FramesOf(library, "Start"), Each(Field(&Frame::file, "net.cpp")));
}

TEST(SymbolizerTest, NamesACFunctionWithoutDecoration) {
  const CompiledLibrary library(kPoolSource, "-g -O2");

  EXPECT_THAT(FramesOf(library, "StartHere"), Functions("StartHere"));
}

// GCC gives no linkage name to an inlined function that other translation units cannot see.
TEST(SymbolizerTest, GivesItsScopeToAnInlinedFunctionWithoutALinkageName) {
  const CompiledLibrary library(R"(extern "C" __attribute__((noinline)) void* Here() {
      return __builtin_return_address(0);
    }
    namespace net { namespace {
    struct Pool {
      void* Grow() {
        void* here = Here();
        asm volatile("" : "+r"(here));
        return here;
      }
    };
    } }
    extern "C" void* Start() { return net::Pool().Grow(); })",
                                "-g -O2");

  EXPECT_THAT(FramesOf(library, "Start"),
              Functions("net::(anonymous namespace)::Pool::Grow", "Start"));
}

TEST(SymbolizerTest, SymbolisesTheRunningProgramItself) {
  const auto* const here = static_cast<const char*>(__builtin_return_address(0));
  const auto pc = reinterpret_cast<std::uint64_t>(here);

  const std::vector<Frame> frames = Symbolizer().Symbolize(ModuleOf(pc), pc);

  EXPECT_THAT(frames.back().function, testing::StartsWith("void testing::internal::Handle"));
}

TEST(SymbolizerTest, NamesAFunctionFromTheSymbolTableWithoutDebugInformation) {
  const CompiledLibrary library(kPoolSource, "-g0 -O2");

  EXPECT_THAT(FramesOf(library, "Start"), Functions("net::Connect(int)"));
}

TEST(SymbolizerTest, NamesAnExportedFunctionOfAStrippedFile) {
  const CompiledLibrary library(kPoolSource, "-O2", "strip libnet.so");

  EXPECT_THAT(FramesOf(library, "StartHere"), Functions("StartHere"));
}

TEST(SymbolizerTest, LeavesAnInternalFunctionOfAStrippedFileUnnamed) {
  const CompiledLibrary library(kPoolSource, "-O2", "strip libnet.so");

  EXPECT_THAT(FramesOf(library, "Start"), Functions(""));
}

TEST(SymbolizerTest, FindsASeparateDebugFile) {
  const CompiledLibrary library(kPoolSource, "-g -O2",
                                "objcopy --only-keep-debug libnet.so libnet.debug && strip "
                                "libnet.so && objcopy --add-gnu-debuglink=libnet.debug libnet.so");

  EXPECT_THAT(FramesOf(library, "Start"),
              Functions("net::Pool<void*>::Grow()", "net::Connect(int)"));
}

TEST(SymbolizerTest, GivesTheAddressOfTheCallInTheFile) {
  const CompiledLibrary library(kPoolSource, "-g -O2");
  const std::uint64_t pc = library.Call("StartHere");
  const Module module = ModuleOf(pc);

  const Frame frame = Symbolizer().Symbolize(module, pc).front();

  EXPECT_EQ(frame.module, library.file());
  EXPECT_EQ(frame.module_offset, pc - module.bias - 1);
}

TEST(SymbolizerTest, TellsTwoModulesThatHeldTheSameAddressesApart) {
  const CompiledLibrary first(kPoolSource, "-g -O2");
  const CompiledLibrary second(kPoolSource, "-g -O0");
  const std::uint64_t pc = second.Call("StartHere");
  Module first_there = ModuleOf(first.Call("StartHere"));
  Module second_there = ModuleOf(pc);
  first_there.bias = second_there.bias;
  Symbolizer symbolizer;

  EXPECT_EQ(symbolizer.Symbolize(first_there, pc).front().module, first.file());
  EXPECT_EQ(symbolizer.Symbolize(second_there, pc).front().file, second.source());
}

Frame Unknown(const Module& module, std::uint64_t pc) {
  Frame frame;
  frame.module = module.path;
  frame.module_offset = pc - module.bias - 1;
  return frame;
}

TEST(SymbolizerTest, GivesModuleAndOffsetAloneWhenTheFileIsGone) {
  const CompiledLibrary library(kPoolSource, "-g -O2");
  const std::uint64_t pc = library.Call("Start");
  const Module module = ModuleOf(pc);
  std::filesystem::remove(library.file());

  EXPECT_THAT(Symbolizer().Symbolize(module, pc), ElementsAre(Unknown(module, pc)));
}

TEST(SymbolizerTest, GivesModuleAndOffsetAloneWhenTheFileIsOfAnotherBuild) {
  const CompiledLibrary library(kPoolSource, "-g -O2");
  const std::uint64_t pc = library.Call("Start");
  Module module = ModuleOf(pc);
  module.build_id.back() = module.build_id.back() == '0' ? '1' : '0';

  EXPECT_THAT(Symbolizer().Symbolize(module, pc), ElementsAre(Unknown(module, pc)));
}

TEST(SymbolizerTest, GivesModuleAndOffsetAloneForTheKernelsOwnModule) {
  const Module vdso{.begin = 4096, .end = 8192, .bias = 4096, .path = "[vdso]", .build_id = ""};

  EXPECT_THAT(Symbolizer().Symbolize(vdso, 5000), ElementsAre(Unknown(vdso, 5000)));
}

TEST(SymbolizerTest, GivesTheAddressAloneInNoModule) {
  EXPECT_THAT(Symbolizer().Symbolize(Module{}, 5000), ElementsAre(Unknown(Module{}, 5000)));
}

TEST(SymbolizerTest, DoesNotWaitForAPipeThatAModuleNames) {
  const ScratchFolder folder;
  folder.Run("mkfifo pipe");
  const Module module{
      .begin = 0, .end = 1, .bias = 0, .path = folder.path() / "pipe", .build_id = ""};

  EXPECT_THAT(Symbolizer().Symbolize(module, 1), SizeIs(1));
}

TEST(SymbolizerTest, SurvivesAFileThatIsCutOffAnywhere) {
  const CompiledLibrary library(kPoolSource, "-g -O2");
  const std::uint64_t pc = library.Call("Start");
  Module module = ModuleOf(pc);
  const std::filesystem::path copy = library.folder().path() / "cut.so";
  module.path = copy;
  const auto size = std::filesystem::file_size(library.file());

  for (std::uintmax_t kept = 0; kept < size; kept += 97) {
    std::filesystem::copy_file(library.file(), copy,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, kept);
    EXPECT_FALSE(Symbolizer().Symbolize(module, pc).empty()) << kept;
  }
}

}  // namespace
}  // namespace leakgate
