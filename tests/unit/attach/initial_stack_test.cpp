#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "runner/attach/linux/program_begin.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kAddress = 0x7FFF'0000'1000;

InitialStack TwoArguments() {
  return {.address = kAddress,
          .arguments = {0x7FFF'0000'2000, 0x7FFF'0000'2010},
          .environment = {0x7FFF'0000'2020},
          .auxiliary = {AT_RANDOM, 0x7FFF'0000'1F00, AT_SECURE, 0, AT_NULL, 0}};
}

Words WordsOf(const StackBytes& built) {
  Words words(built.bytes.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), built.bytes.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

std::string StringAt(const StackBytes& built, std::uint64_t address) {
  return reinterpret_cast<const char*>(&built.bytes.at(address - built.address));
}

TEST(InitialStackTest, IsTakenApart) {
  const Words words = {2, 11, 12, 0, 13, 0, AT_RANDOM, 14, AT_NULL, 0, 99};
  const auto stack = ParseInitialStack(kAddress, words);
  ASSERT_TRUE(stack);
  EXPECT_THAT(stack->arguments, ElementsAre(11, 12));
  EXPECT_THAT(stack->environment, ElementsAre(13));
  EXPECT_THAT(stack->auxiliary, ElementsAre(AT_RANDOM, 14, AT_NULL, 0));
}

TEST(InitialStackTest, MayHaveNoArgumentAndNoVariable) {
  const auto stack = ParseInitialStack(kAddress, Words{0, 0, 0, AT_NULL, 0});
  ASSERT_TRUE(stack);
  EXPECT_THAT(stack->arguments, IsEmpty());
  EXPECT_THAT(stack->environment, IsEmpty());
}

TEST(InitialStackTest, IsNotToldWhereItIsAnythingElse) {
  EXPECT_FALSE(ParseInitialStack(kAddress, {}));
  EXPECT_FALSE(ParseInitialStack(kAddress + 8, Words{0, 0, 0, AT_NULL, 0}));
  EXPECT_FALSE(ParseInitialStack(kAddress, Words{3, 11, 12, 0, 13, 0, AT_NULL, 0}));
  EXPECT_FALSE(ParseInitialStack(kAddress, Words{1, 11, 0, 13, 0, AT_RANDOM, 14}));
  EXPECT_FALSE(ParseInitialStack(kAddress, Words{1, 11, 0, 13, 14}));
  EXPECT_FALSE(ParseInitialStack(kAddress, Words{1ULL << 60, 11, 0, 0, AT_NULL, 0}));
}

TEST(InitialStackTest, IsBuiltBelowTheOldOneWhichItLeavesAsItIs) {
  const InitialStack stack = TwoArguments();
  const StackBytes built = WithEnvironment(stack, std::vector<StackVariable>{{0, "A=long enough"}});
  EXPECT_EQ(built.address % 16, 0U);
  EXPECT_EQ(built.address + built.bytes.size(), kAddress);
}

TEST(InitialStackTest, HasTheNewEnvironmentAndAllElseAsItWas) {
  const InitialStack stack = TwoArguments();
  const std::vector<StackVariable> environment = {
      {stack.environment[0], "PATH=/bin"}, {0, "LD_PRELOAD=/agent.so"}, {0, "EMPTY="}};
  const StackBytes built = WithEnvironment(stack, environment);
  const auto parsed = ParseInitialStack(built.address, WordsOf(built));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->arguments, stack.arguments);
  EXPECT_EQ(parsed->auxiliary, stack.auxiliary);
  ASSERT_EQ(parsed->environment.size(), 3U);
  EXPECT_EQ(parsed->environment[0], stack.environment[0]);
  EXPECT_EQ(StringAt(built, parsed->environment[1]), "LD_PRELOAD=/agent.so");
  EXPECT_EQ(StringAt(built, parsed->environment[2]), "EMPTY=");
}

// Whatever is laid down, the stack pointer is as the ABI wants it.
TEST(InitialStackTest, IsAlignedHoweverLongTheStringsAre) {
  for (std::size_t length = 0; length < 40; ++length) {
    const StackBytes built = WithEnvironment(
        TwoArguments(), std::vector<StackVariable>{{0, std::string(length, 'x')}, {5, ""}});
    EXPECT_EQ(built.address % 16, 0U) << length;
    const auto parsed = ParseInitialStack(built.address, WordsOf(built));
    ASSERT_TRUE(parsed) << length;
    EXPECT_EQ(StringAt(built, parsed->environment[0]).size(), length);
  }
}

TEST(InitialStackTest, TellsAnEntryOfTheAuxiliaryVector) {
  const InitialStack stack = TwoArguments();
  EXPECT_EQ(AuxiliaryValue(stack.auxiliary, AT_RANDOM), 0x7FFF'0000'1F00U);
  EXPECT_EQ(AuxiliaryValue(stack.auxiliary, AT_BASE), std::nullopt);
  EXPECT_EQ(AuxiliaryValue({}, AT_BASE), std::nullopt);
}

}  // namespace
}  // namespace leakgate
