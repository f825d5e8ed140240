#include "runner/symbols/symbol_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runner/symbols/variables.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr char kCacheSource[] = R"(
namespace net {
int g_pool = 1;
__attribute__((noinline)) void* Grow() { return __builtin_return_address(0); }
}
extern "C" void* Grow() { void* const pc = net::Grow(); net::g_pool++; return pc; }
extern "C" void* Pool() { return &net::g_pool; }
)";

class SymbolCacheTest : public testing::Test {
 protected:
  std::vector<Frame> Look(SymbolCache& cache) {
    Symbolizer symbolizer(nullptr, &cache);
    const std::uint64_t pc = library_.Call("Grow");
    return symbolizer.Symbolize(ModuleOf(pc), pc);
  }
  std::optional<Variable> LookForVariable(SymbolCache& cache) {
    Variables variables(nullptr, &cache);
    const std::uint64_t address = library_.Call("Pool");
    return variables.At(library_.file().string(), address - ModuleOf(address).bias);
  }
  KeptSymbols* KeptIn(SymbolCache& cache, const std::string& build_id) {
    return cache.For(library_.file().string(), DebugSource::kAnyFile, build_id);
  }
  // Has what is kept tell a name that no debug information would: so it is seen where it is used.
  void SaveAnotherName() {
    const std::uint64_t pc = library_.Call("Grow");
    const Module module = ModuleOf(pc);
    SymbolCache cache(folder_);
    Frame other;
    other.function = "Other";
    KeptIn(cache, module.build_id)->Keep(KeptSymbols::Kind::kFrames, pc - module.bias, {other});
    cache.Save();
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  ScratchFolder scratch_;
  fs::path folder_ = scratch_.path() / "cache" / "leakgate";
  CompiledLibrary library_{kCacheSource, "-g"};
};

TEST_F(SymbolCacheTest, TheNextRunTakesWhatIsKept) {
  std::vector<Frame> first;
  std::optional<Variable> variable;
  {
    SymbolCache cache(folder_);
    first = Look(cache);
    variable = LookForVariable(cache);
    cache.Save();
  }
  ASSERT_EQ(first.front().function, "Grow");
  ASSERT_EQ(first.front().line, 6);
  EXPECT_EQ(Files(), 2U);
  SymbolCache cache(folder_);
  const std::uint64_t pc = library_.Call("Grow");
  const Module module = ModuleOf(pc);
  const auto kept =
      KeptIn(cache, module.build_id)->Find(KeptSymbols::Kind::kFrames, pc - module.bias);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->front().line, 6);
  EXPECT_EQ(Look(cache), first);
  EXPECT_EQ(LookForVariable(cache), variable);
}

TEST_F(SymbolCacheTest, WhatIsKeptIsNotFoundOutAgain) {
  SaveAnotherName();
  SymbolCache next(folder_);
  EXPECT_EQ(Look(next).front().function, "Other");
}

TEST_F(SymbolCacheTest, AChangedFileIsReadAnew) {
  SaveAnotherName();
  ASSERT_EQ(::chmod(library_.file().c_str(), 0700), 0);  // changes the time of its last change
  ASSERT_EQ(::chmod(library_.file().c_str(), 0755), 0);
  SymbolCache cache(folder_);
  EXPECT_EQ(Look(cache).front().function, "Grow");
}

TEST_F(SymbolCacheTest, AnotherBuildOfTheFileIsReadAnew) {
  SymbolCache cache(folder_);
  const std::uint64_t pc = library_.Call("Grow");
  KeptIn(cache, "0123456789")->Keep(KeptSymbols::Kind::kFrames, pc, {Frame()});
  EXPECT_EQ(Look(cache).front().function, "Grow");
}

TEST_F(SymbolCacheTest, AFolderThatOthersMayWriteToIsNotUsed) {
  fs::create_directories(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  SymbolCache cache(folder_);
  EXPECT_EQ(KeptIn(cache, ""), nullptr);
  EXPECT_EQ(Look(cache).front().function, "Grow");
  cache.Save();
  EXPECT_EQ(Files(), 0U);
}

TEST_F(SymbolCacheTest, NoFolderIsMadeWhereOthersMayWrite) {
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0777), 0);
  SymbolCache cache(folder_);
  EXPECT_EQ(KeptIn(cache, ""), nullptr);
  EXPECT_FALSE(fs::exists(folder_.parent_path()));
}

TEST_F(SymbolCacheTest, AFileThatOthersMayWriteToIsNotRead) {
  SaveAnotherName();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    ASSERT_EQ(::chmod(entry.path().c_str(), 0666), 0);
  }
  SymbolCache cache(folder_);
  EXPECT_EQ(Look(cache).front().function, "Grow");
}

TEST_F(SymbolCacheTest, FifosInThePlaceOfWhatIsKeptAreReplaced) {
  SaveAnotherName();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    fs::remove(entry.path());
    ASSERT_EQ(::mkfifo(entry.path().c_str(), 0600), 0);
  }
  SymbolCache cache(folder_);
  EXPECT_EQ(Look(cache).front().function, "Grow");
  cache.Save();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_TRUE(fs::is_regular_file(entry.symlink_status()));
  }
}

TEST_F(SymbolCacheTest, AFifoInThePlaceOfTheFolderIsNotUsed) {
  for (const fs::path& path : {folder_, folder_.parent_path()}) {
    fs::remove_all(folder_.parent_path());
    fs::create_directories(path.parent_path());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    SymbolCache cache(folder_);
    EXPECT_EQ(Look(cache).front().function, "Grow");
    cache.Save();
  }
}

TEST_F(SymbolCacheTest, WhatASeparateFileTellsIsNotKept) {
  const CompiledLibrary stripped(kCacheSource, "-g",
                                 "objcopy --only-keep-debug libnet.so libnet.so.debug && "
                                 "objcopy --strip-debug --add-gnu-debuglink=libnet.so.debug "
                                 "libnet.so");
  const std::uint64_t pc = stripped.Call("Grow");
  SymbolCache cache(folder_);
  Symbolizer symbolizer(nullptr, &cache);
  EXPECT_EQ(symbolizer.Symbolize(ModuleOf(pc), pc).front().line, 6);
  cache.Save();
  EXPECT_EQ(Files(), 0U);
}

TEST_F(SymbolCacheTest, WithoutAFolderNothingIsKept) {
  SymbolCache cache;
  EXPECT_EQ(KeptIn(cache, ""), nullptr);
  EXPECT_EQ(Look(cache).front().function, "Grow");
  cache.Save();
}

}  // namespace
}  // namespace leakgate
