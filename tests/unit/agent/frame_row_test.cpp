// Rows are read on from where the last one of the same function was found. They have to be those
// that are read from the function's begin.
#include "plugin/agent/unwind/elf/frame_row.h"

#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "plugin/agent/unwind/unwind_rule.h"

namespace leakgate::agent {
namespace {

struct MappedCode {
  FrameSection section;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

const std::uint8_t* BeginOf(const dl_phdr_info& module, const ElfW(Phdr) & segment) {
  return reinterpret_cast<const std::uint8_t*>(module.dlpi_addr + segment.p_vaddr);
}

// The code of this program, and of the libraries that it has loaded.
std::vector<MappedCode> AllCode() {
  std::vector<MappedCode> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* found) {
        const std::span segments(module->dlpi_phdr, module->dlpi_phnum);
        MappedCode code;
        for (const ElfW(Phdr) & segment : segments) {
          const std::uint8_t* const begin = BeginOf(*module, segment);
          if (segment.p_type == PT_GNU_EH_FRAME) code.section.header = begin;
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          code.begin = reinterpret_cast<std::uint64_t>(begin);
          code.end = code.begin + segment.p_memsz;
        }
        // The descriptions are in the same segment as their header.
        for (const ElfW(Phdr) & segment : segments) {
          const std::uint8_t* const begin = BeginOf(*module, segment);
          if (segment.p_type != PT_LOAD || begin > code.section.header) continue;
          if (code.section.header >= begin + segment.p_memsz) continue;
          code.section.begin = begin;
          code.section.end = begin + segment.p_memsz;
        }
        if (code.section.end != nullptr && code.begin != 0) {
          static_cast<std::vector<MappedCode>*>(found)->push_back(code);
        }
        return 0;
      },
      &all);
  return all;
}

bool AreEqual(const UnwindRule& a, const UnwindRule& b) {
  return a.kind == b.kind && a.cfa == b.cfa && a.cfa_offset == b.cfa_offset &&
         a.return_address == b.return_address &&
         a.return_address_offset == b.return_address_offset && a.fp == b.fp &&
         a.fp_offset == b.fp_offset && a.is_signal_frame == b.is_signal_frame &&
         a.is_plain == b.is_plain;
}

UnwindRule ReadUncached(const FrameSection& section, std::uint64_t pc) {
  FrameRowReader reader;
  return FindRule(section, pc, reader);
}

TEST(FrameRowReaderTest, ReadsOnAsItWouldReadAnew) {
  std::mt19937_64 random(11);
  FrameRowReader reader;  // one for all, as a thread has
  std::size_t with_rules = 0;
  for (const MappedCode& code : AllCode()) {
    const std::uint64_t step = std::max<std::uint64_t>(1, (code.end - code.begin) / 20'000);
    std::uint64_t before = 0;
    for (std::uint64_t pc = code.begin; pc < code.end; pc += 1 + random() % step) {
      // Mostly forwards, and back within the function or to another one now and then.
      const std::uint64_t asked = before != 0 && random() % 8 == 0 ? before : pc;
      const UnwindRule rule = FindRule(code.section, asked, reader);
      ASSERT_TRUE(AreEqual(rule, ReadUncached(code.section, asked))) << std::hex << asked;
      if (rule.kind == UnwindRule::Kind::kCompact) ++with_rules;
      before = asked;
      if (random() % 8 == 0) before -= std::min(before - code.begin, random() % 64);
    }
  }
  EXPECT_GT(with_rules, 10'000U);
}

TEST(FrameRowReaderTest, ForgetsWhatItWasTold) {
  const std::vector<MappedCode> all = AllCode();
  ASSERT_FALSE(all.empty());
  FrameRowReader reader;
  for (std::uint64_t pc = all[0].begin; pc < all[0].begin + 4096; ++pc) {
    const UnwindRule rule = FindRule(all[0].section, pc, reader);
    reader.Forget();
    ASSERT_TRUE(AreEqual(rule, FindRule(all[0].section, pc, reader)));
  }
}

}  // namespace
}  // namespace leakgate::agent
