#include "runner/arch/moved_entry.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <string>

// Functions of whole machine code, each between its name and the name of its end.
#define LEAKGATE_CODE(name, code)                                                             \
  asm(".pushsection .text\n.globl " #name "\n.p2align 4\n" #name ":\n" code "\n.globl " #name \
      "_end\n" #name "_end:\n.p2align 4\n.popsection");                                       \
  extern "C" int name(int value);                                                             \
  extern "C" const std::uint8_t name##_end[]

extern "C" {
int moved_entry_value = 40;
int moved_entry_other(int value) { return value * 3; }
}

LEAKGATE_CODE(reads_memory, "movl moved_entry_value(%rip), %eax\naddl %edi, %eax\nret");
LEAKGATE_CODE(branches, "testl %edi, %edi\nje 1f\nleal 1(%rdi), %eax\nret\n1: movl $7, %eax\nret");
LEAKGATE_CODE(is_marked, "endbr64\nleal 5(%rdi), %eax\nret");
LEAKGATE_CODE(ends_at_once, "ret");
LEAKGATE_CODE(jumps, "jmp moved_entry_other");
LEAKGATE_CODE(jumps_near, "jmp 1f\nint3\nint3\nint3\nint3\n1: leal 2(%rdi), %eax\nret");
LEAKGATE_CODE(calls, "pushq %rax\ncall moved_entry_other\npopq %rdx\nret");
LEAKGATE_CODE(calls_a_pointer, "call *%rax\nnop\nnop\nnop\nret");
LEAKGATE_CODE(loops, "xorl %eax, %eax\n1: incl %eax\ndecl %edi\njne 1b\nret");
LEAKGATE_CODE(loops_behind,
              "xorl %eax, %eax\nmovl %eax, %edx\nnop\nnop\n1: incl %eax\ndecl %edi\njne 1b\nret");
LEAKGATE_CODE(enters, "ret");  // with the function that was pushed, as a jump there
LEAKGATE_CODE(is_short, "xorl %eax, %eax\nret\n.byte 0x55, 0x55, 0x55, 0x55");

namespace leakgate {
namespace {

using Function = int (*)(int);

int Instead(int value) { return -value; }

// A page for hooks, near this program.
class HookPage {
 public:
  HookPage() {
    const auto near = reinterpret_cast<std::uint64_t>(&reads_memory) & ~std::uint64_t{0xFFFF};
    for (std::uint64_t at = near - (1U << 20); page_ == MAP_FAILED; at -= 1U << 20) {
      page_ = ::mmap(reinterpret_cast<void*>(at), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
  }
  ~HookPage() { ::munmap(page_, 4096); }
  HookPage(const HookPage&) = delete;
  HookPage& operator=(const HookPage&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(page_); }
  void Put(const MovedEntry& entry) {
    std::memcpy(page_, entry.hook.data(), entry.hook.size());
    const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(&Instead),
                                   reinterpret_cast<std::uint64_t>(&enters)};
    std::memcpy(reinterpret_cast<void*>(entry.slot), slots, sizeof(slots));
  }

 private:
  void* page_ = MAP_FAILED;
};

tl::expected<MovedEntry, const char*> Move(Function function, const std::uint8_t* end,
                                           const HookPage& page) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(function);
  return MoveEntry({.address = reinterpret_cast<std::uint64_t>(begin),
                    .code = {begin, end + 16},
                    .bytes = static_cast<std::size_t>(end - begin)},
                   page.address());
}

// What was moved does the same, and the hook leads elsewhere.
void ExpectMoved(Function function, const std::uint8_t* end) {
  HookPage page;
  const tl::expected<MovedEntry, const char*> entry = Move(function, end, page);
  ASSERT_TRUE(entry) << entry.error();
  page.Put(*entry);
  const auto moved = reinterpret_cast<Function>(entry->moved);
  for (const int value : {0, 1, 2, 1000}) EXPECT_EQ(moved(value), function(value)) << value;
  const auto hook = reinterpret_cast<Function>(entry->slot + 16);
  EXPECT_EQ(hook(3), -3);
  std::int32_t distance = 0;
  ASSERT_EQ(entry->patch.size(), 5u);
  std::memcpy(&distance, &entry->patch[1], sizeof(distance));
  EXPECT_EQ(entry->address + 5 + static_cast<std::uint64_t>(std::int64_t{distance}),
            entry->slot + 16);
}

std::string WhyNot(Function function, const std::uint8_t* end) {
  const HookPage page;
  const tl::expected<MovedEntry, const char*> entry = Move(function, end, page);
  return entry ? "" : entry.error();
}

TEST(MovedEntryTest, DoesWhatTheFunctionDid) {
  ExpectMoved(reads_memory, reads_memory_end);
  ExpectMoved(branches, branches_end);
  ExpectMoved(is_marked, is_marked_end);
  ExpectMoved(jumps, jumps_end);
  ExpectMoved(jumps_near, jumps_near_end);
  ExpectMoved(calls, calls_end);
  ExpectMoved(loops_behind, loops_behind_end);
}

// Its result is not one.
TEST(MovedEntryTest, MayBeOfAFunctionThatDoesNothing) {
  HookPage page;
  const tl::expected<MovedEntry, const char*> entry = Move(ends_at_once, ends_at_once_end, page);
  ASSERT_TRUE(entry) << entry.error();
  page.Put(*entry);
  reinterpret_cast<Function>(entry->moved)(1);
}

TEST(MovedEntryTest, TellsWhyAFunctionCannotBeMoved) {
  EXPECT_EQ(WhyNot(calls_a_pointer, calls_a_pointer_end), "it begins with an indirect call");
  EXPECT_EQ(WhyNot(loops, loops_end), "it jumps back into its first instructions");
  EXPECT_EQ(WhyNot(is_short, is_short_end - 4), "it is too short for a jump");
}

// A landing mark stays, for processors that let indirect calls land nowhere else.
TEST(MovedEntryTest, LeavesALandingMark) {
  const HookPage page;
  const tl::expected<MovedEntry, const char*> entry = Move(is_marked, is_marked_end, page);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->address, reinterpret_cast<std::uint64_t>(&is_marked) + 4);
}

TEST(MovedEntryTest, MustBeNear) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(&reads_memory);
  const tl::expected<MovedEntry, const char*> entry =
      MoveEntry({.address = 0x7000'0000'0000,
                 .code = {begin, reads_memory_end + 16},
                 .bytes = static_cast<std::size_t>(reads_memory_end - begin)},
                0x1'0000);
  EXPECT_STREQ(entry.error(), "it is too far from memory that is free");
}

}  // namespace
}  // namespace leakgate
