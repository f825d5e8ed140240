// The symbols of a library, whose debug information is of each kind that compilers for Windows
// write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <filesystem>
#include <fstream>

#include "common/pe_identity.h"
#include "runner/base/path_text.h"
#include "runner/symbols/debug_facts.h"
#include "runner/symbols/linker_names.h"
#include "runner/symbols/nt/pe_file.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace leakgate {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::filesystem::path OwnFolder() {
  wchar_t path[4096];
  ::GetModuleFileNameW(nullptr, path, std::size(path));
  return std::filesystem::path(path).parent_path();
}

Module ModuleAt(HMODULE library, const std::filesystem::path& path) {
  const auto* const image = reinterpret_cast<const std::uint8_t*>(library);
  const PeIdentity identity =
      FindPeIdentity([image](std::uint32_t address, std::uint32_t) { return image + address; });
  const auto begin = reinterpret_cast<std::uintptr_t>(library);
  return {.begin = begin,
          .end = begin + (1 << 20),
          .bias = begin,
          .path = PathText(path),
          .build_id = HexText({identity.bytes, identity.length})};
}

// A frame as text: function, name of the file, line.
std::string Text(const Frame& frame) {
  std::string file = frame.file.substr(frame.file.find_last_of("/\\") + 1);
  if (frame.line != 0) file += ":" + std::to_string(frame.line);
  return frame.function + " " + file + (frame.inlined ? " inlined" : "");
}

class Symbols : public ::testing::TestWithParam<const char*> {
 protected:
  Symbols() : path_(OwnFolder() / GetParam()), library_(::LoadLibraryW(path_.c_str())) {}

  void SetUp() override {
    ASSERT_NE(library_, nullptr) << path_;
    module_ = ModuleAt(library_, path_);
  }

  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library_, name)));
  }

  // The return addresses in the library, innermost first.
  std::vector<std::uintptr_t> CapturedPcs() const {
    void* pcs[64];
    const auto capture = Find<USHORT (*)(ULONG, void**)>("CaptureStack");
    const USHORT count = capture(std::size(pcs), pcs);
    std::vector<std::uintptr_t> in_library;
    for (USHORT i = 0; i < count; ++i) {
      const auto pc = reinterpret_cast<std::uintptr_t>(pcs[i]);
      if (pc >= module_.begin && pc < module_.end) in_library.push_back(pc);
    }
    return in_library;
  }

  std::vector<Frame> CaptureStack(Symbolizer& symbolizer) const {
    std::vector<Frame> frames;
    for (const std::uintptr_t pc : CapturedPcs()) {
      for (Frame& frame : symbolizer.Symbolize(module_, pc)) frames.push_back(std::move(frame));
    }
    return frames;
  }

  std::filesystem::path path_;
  HMODULE library_;
  Module module_;
};

std::vector<std::string> Texts(const std::vector<Frame>& frames) {
  std::vector<std::string> texts;
  for (const Frame& frame : frames) texts.push_back(Text(frame));
  return texts;
}

TEST_P(Symbols, NameInlinedFunctionsTemplatesLambdasAndLines) {
  Symbolizer symbolizer;
  const std::vector<std::string> stack = Texts(CaptureStack(symbolizer));

  ASSERT_EQ(stack.size(), 5u) << ::testing::PrintToString(stack);
  EXPECT_THAT(stack[0], HasSubstr("CaptureInlined"));  // Wine 8 leaves its namespace out
  EXPECT_THAT(stack[0], EndsWith(" sample.cpp:15 inlined"));
  EXPECT_THAT(stack[1], HasSubstr("net::Pool::Grow<unsigned long>"));
  EXPECT_THAT(stack[1], EndsWith(" sample.cpp:22"));
  EXPECT_THAT(stack[2], StartsWith("net::(anonymous namespace)::Hidden"));
  EXPECT_THAT(stack[2], EndsWith(" sample.cpp:29"));
  EXPECT_THAT(stack[3], HasSubstr("operator()"));
  EXPECT_THAT(stack[3], EndsWith(" sample.cpp:38"));
  EXPECT_THAT(stack[4], StartsWith("CaptureStack"));
  EXPECT_THAT(stack[4], EndsWith(" sample.cpp:41"));
}

TEST_P(Symbols, TellWhichImportedFunctionIsCalled) {
  Symbolizer symbolizer;
  const std::vector<Frame> stack = CaptureStack(symbolizer);

  ASSERT_EQ(stack.size(), 5u);
  EXPECT_EQ(stack[1].called_function, "RtlCaptureStackBackTrace");
  EXPECT_FALSE(stack[1].calls_through_pointer);
}

TEST_P(Symbols, NameVariables) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(Find<void* (*)()>("AddressOfConnections")());
  Variables variables;

  const std::optional<Variable> variable = variables.At(module_.path, address - module_.bias);

  ASSERT_TRUE(variable.has_value());
  EXPECT_EQ(variable->name, "net::g_connections");
}

TEST_P(Symbols, AreRefusedForAnotherBuild) {
  Module other = module_;
  other.build_id.front() = other.build_id.front() == '0' ? '1' : '0';
  Symbolizer symbolizer;

  EXPECT_EQ(symbolizer.StateOf(other), ModuleFileState::kOtherFile);
  EXPECT_EQ(symbolizer.StateOf(module_), ModuleFileState::kFound);
}

TEST_P(Symbols, AreNotedAsPresent) {
  const DebugFacts facts = ReadDebugFacts(path_);

  EXPECT_TRUE(facts.has_symbols);
  EXPECT_TRUE(facts.has_lines);
  EXPECT_TRUE(facts.has_unwind_table);
}

TEST_P(Symbols, AreKeptForLaterRuns) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("leakgate_symbols_" + std::to_string(::GetCurrentProcessId()));
  SymbolCache first(folder);
  Symbolizer reads(nullptr, &first);
  const std::vector<std::string> read = Texts(CaptureStack(reads));
  first.Save();
  SymbolCache second(folder);
  KeptSymbols* const kept = second.For(module_.path, DebugSource::kAnyFile, module_.build_id);
  ASSERT_NE(kept, nullptr);
  const auto pc = CapturedPcs().front() - module_.bias;

  EXPECT_TRUE(kept->Find(KeptSymbols::Kind::kFrames, pc).has_value());
  Symbolizer finds(nullptr, &second);
  EXPECT_EQ(Texts(CaptureStack(finds)), read);
  std::filesystem::remove_all(folder);
}

TEST_P(Symbols, OfADamagedFileAreThoseOfItsTableAlone) {
  const std::filesystem::path copy = OwnFolder() / ("damaged_" + std::string(GetParam()));
  std::filesystem::remove(copy);
  std::filesystem::copy_file(path_, copy);
  std::unique_ptr<PeFile> whole = PeFile::Open(PathText(copy));
  ASSERT_NE(whole, nullptr);
  EXPECT_FALSE(whole->IsDamaged());
  const PeFile::Bytes information = whole->Contents(".debug_info");
  if (information.empty()) GTEST_SKIP() << "its debug information is in another file";
  const std::ptrdiff_t place = information.data() - whole->At(0, 1).data() + 100;
  whole = nullptr;
  std::fstream(copy, std::ios::binary | std::ios::in | std::ios::out).seekp(place).put('\x5A');
  EXPECT_TRUE(PeFile::Open(PathText(copy))->IsDamaged());

  Module module = module_;
  module.path = PathText(copy);
  Symbolizer symbolizer;
  const std::vector<Frame> frames = symbolizer.Symbolize(module, CapturedPcs().front());
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_THAT(frames[0].function, HasSubstr("Grow"));
  EXPECT_EQ(frames[0].line, 0);
}

std::vector<const char*> Samples() {
  std::vector<const char*> samples = {"sample_dwarf5.dll", "sample_dwarf4.dll"};
#ifdef LEAKGATE_HAS_PDB
  samples.push_back("sample_pdb.dll");
#endif
  return samples;
}

INSTANTIATE_TEST_SUITE_P(All, Symbols, ::testing::ValuesIn(Samples()), [](const auto& sample) {
  const std::string name = sample.param;
  return name.substr(name.find('_') + 1, name.find('.') - name.find('_') - 1);
});

// Of a module of the system, the exported functions are enough.
TEST(SystemSymbols, AreExportedFunctions) {
  const HMODULE kernel = ::GetModuleHandleW(L"kernel32.dll");
  wchar_t path[4096];
  ::GetModuleFileNameW(kernel, path, std::size(path));
  const Module module = ModuleAt(kernel, path);
  const auto function = reinterpret_cast<std::uintptr_t>(
      reinterpret_cast<void*>(::GetProcAddress(kernel, "CreateProcessW")));
  Symbolizer symbolizer([](std::string_view) { return true; });

  const Frame frame = symbolizer.NameBySymbol(module, function + 8);

  EXPECT_THAT(frame.function, ::testing::AnyOf("CreateProcessW", ""));
}

}  // namespace
}  // namespace leakgate
