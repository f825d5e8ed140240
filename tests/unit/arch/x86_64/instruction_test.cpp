#include "runner/arch/x86_64/instruction.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace leakgate {
namespace {

struct PipeEnd {
  void operator()(FILE* pipe) const { ::pclose(pipe); }
};

// An instruction as objdump shows it: its bytes, and its text.
struct Shown {
  std::vector<std::uint8_t> bytes;
  std::string text;
};

// Returns the instructions of the code of `file`.
std::vector<Shown> Disassemble(const std::string& file) {
  const std::string command = "objdump -d --insn-width=16 -j .text " + file + " 2>/dev/null";
  const std::unique_ptr<FILE, PipeEnd> pipe(::popen(command.c_str(), "r"));
  std::vector<Shown> all;
  char line[4096];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    const std::string text = line;
    const std::size_t bytes = text.find(":\t");
    const std::size_t words = bytes == std::string::npos ? bytes : text.find('\t', bytes + 2);
    if (words == std::string::npos) continue;
    Shown shown{{}, text.substr(words + 1)};
    for (std::size_t at = bytes + 2; at + 1 < words && text[at] != ' '; at += 3) {
      shown.bytes.push_back(
          static_cast<std::uint8_t>(std::strtoul(text.substr(at, 2).c_str(), nullptr, 16)));
    }
    all.push_back(std::move(shown));
  }
  return all;
}

// Compared with a disassembler, over the machine code of libraries: those of compilers, and those
// that people have written by hand for many processors.
TEST(InstructionTest, IsAsLongAsADisassemblerSays) {
  for (const std::string file :
       {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}) {
    std::size_t compared = 0;
    for (const Shown& shown : Disassemble(file)) {
      if (shown.text.find("(bad)") != std::string::npos || shown.bytes.empty()) continue;
      std::vector<std::uint8_t> code = shown.bytes;
      code.resize(code.size() + 16, 0x90);
      const std::optional<Instruction> instruction = DecodeInstruction(code);
      ASSERT_TRUE(instruction) << shown.text;
      ASSERT_EQ(instruction->bytes, shown.bytes.size()) << file << ": " << shown.text;
      const bool is_relative = shown.text.find("(%rip)") != std::string::npos;
      ASSERT_EQ(instruction->distance_at != 0, is_relative) << shown.text;
      const std::size_t name = shown.text.find("call");
      const bool is_call = name == 0 || (name != std::string::npos && shown.text[name - 1] == ' ');
      ASSERT_EQ(instruction->branch == Branch::kCall, is_call) << shown.text;
      ++compared;
    }
    EXPECT_GT(compared, 100'000u) << file;
  }
}

TEST(InstructionTest, IsNoneWhereItIsCutOff) {
  const std::vector<std::uint8_t> code = {0x48, 0x8b, 0x05, 0x01, 0x02, 0x03, 0x04};
  EXPECT_EQ(DecodeInstruction(code)->bytes, 7u);
  EXPECT_EQ(DecodeInstruction(code)->distance_at, 3u);
  for (std::size_t bytes = 0; bytes < code.size(); ++bytes) {
    EXPECT_FALSE(DecodeInstruction(std::span(code).first(bytes))) << bytes;
  }
}

}  // namespace
}  // namespace leakgate
