// The search of modules that serves where the C library cannot be asked, beside the C library's own
// answers.
#include "plugin/agent/linux/object_search.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/find_object.h"
#include "plugin/agent/linux/loaded_module.h"
#include "tests/unit/agent/read_calls.h"
#include "tests/unit/symbols/compiled_library.h"

#include LEAKGATE_ARCH(elf)

namespace leakgate::test {
namespace {

using agent::LoadedObject;
using agent::SearchObject;

const auto kPageBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::uint64_t AddressOf(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// What both ways say of an address; empty if there is no module.
std::string Said(bool is_found, const LoadedObject& object) {
  if (!is_found) return {};
  return fmt::format("{:x} +{:x} frames {} dynamic {}", object.begin, object.bias,
                     fmt::ptr(object.frame_header), fmt::ptr(object.dynamic));
}
std::string Searched(std::uint64_t address) {
  LoadedObject object;
  const bool is_found = SearchObject(address, object);
  return Said(is_found, object);
}
std::string FoundByLinker(std::uint64_t address) {
  LoadedObject object;
  const bool is_found = agent::FindObject(reinterpret_cast<const void*>(address), object);
  return Said(is_found, object);
}

// Shared libraries with one function each, compiled once.
const ScratchFolder& Libraries() {
  static const ScratchFolder folder;
  static const bool is_made = [] {
    std::ofstream(folder.path() / "one.c") << "int one(void) { return 1; }\n";
    std::ofstream(folder.path() / "two.c")
        << "char large[1 << 16] = {1};\nint two(void) { return large[0] + 1; }\n";
    for (const char* const name : {"one", "two", "three", "four"}) {
      const char* const source = name == std::string("two") ? "two" : "one";
      folder.Run(fmt::format("gcc -shared -fPIC {}.c -o {}.so", source, name));
    }
    return true;
  }();
  EXPECT_TRUE(is_made);
  return folder;
}

// As the agent does where the program opens one.
void* Open(const char* name) {
  agent::ForgetGaps();
  void* const opened = dlopen((Libraries().path() / (std::string(name) + ".so")).c_str(), RTLD_NOW);
  EXPECT_NE(opened, nullptr);
  return opened;
}

// Anonymous memory that may be executed, as a compiler at run time makes. No two are one mapping,
// since the last page of each may not be used.
class MadeCode {
 public:
  explicit MadeCode(std::size_t bytes)
      : bytes_(bytes),
        at_(mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    mprotect(static_cast<char*>(at_) + bytes - kPageBytes, kPageBytes, PROT_NONE);
  }
  ~MadeCode() { munmap(at_, bytes_); }
  MadeCode(const MadeCode&) = delete;
  MadeCode& operator=(const MadeCode&) = delete;

  [[nodiscard]] std::uint64_t address() const { return AddressOf(at_) + bytes_ / 2; }

 private:
  std::size_t bytes_;
  void* at_;
};

TEST(ObjectSearchTest, SaysWhatTheCLibrarySaysOfEachModule) {
  std::vector<std::uint64_t> addresses;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* found) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = module->dlpi_phdr[i];
          const std::uint64_t begin = module->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD) continue;
          auto& addresses_here = *static_cast<std::vector<std::uint64_t>*>(found);
          for (const std::uint64_t at :
               {std::uint64_t{0}, segment.p_memsz / 2, segment.p_memsz - 8}) {
            addresses_here.push_back(begin + at);
          }
        }
        return 0;
      },
      &addresses);

  ASSERT_GT(addresses.size(), 20U);
  for (const std::uint64_t address : addresses)
    EXPECT_EQ(Searched(address), FoundByLinker(address));
}

TEST(ObjectSearchTest, KnowsWhatIsInNoModule) {
  const MadeCode code(1 << 16);
  const int on_stack = 0;
  const auto on_heap = std::make_unique<int>();
  for (const std::uint64_t address :
       {code.address(), AddressOf(&on_stack), AddressOf(on_heap.get()), std::uint64_t{0},
        std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 47}) {
    EXPECT_EQ(Searched(address), "") << std::hex << address;
    EXPECT_EQ(Searched(address), "") << std::hex << address;
  }
}

// Wherever they are: a program's memory lies at random places. There are as many of them as half of
// what can be remembered.
TEST(ObjectSearchTest, ReadsTheListOnceForEachOfManyPiecesOfCode) {
  constexpr std::size_t kPages = 1 << 22;
  char* const reserved = static_cast<char*>(mmap(
      nullptr, kPages * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(reserved, MAP_FAILED);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> pieces(512);
  for (std::uint64_t& piece : pieces) {
    char* const page = reserved + random() % kPages * kPageBytes;
    ASSERT_EQ(mprotect(page, kPageBytes, PROT_READ | PROT_EXEC), 0);
    piece = AddressOf(page);
  }
  for (const std::uint64_t piece : pieces) EXPECT_EQ(Searched(piece), "");

  const std::uint64_t before = ReadCalls();
  for (int i = 0; i < 10; ++i) {
    for (const std::uint64_t piece : pieces) EXPECT_EQ(Searched(piece), "");
  }
  EXPECT_LT(ReadCalls() - before, pieces.size());
  munmap(reserved, kPages * kPageBytes);
}

TEST(ObjectSearchTest, TakesNoFileThatIsMappedAsDataForTheModuleBehind) {
  const std::filesystem::path file = Libraries().path() / "one.so";
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  void* const data = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  const auto function = AddressOf(reinterpret_cast<void*>(&dlopen));

  EXPECT_EQ(Searched(function), FoundByLinker(function));
  munmap(data, kPageBytes);
}

// The linker maps where there is room, mostly in the same place again.
TEST(ObjectSearchTest, SaysNothingOfAModuleThatHasGone) {
  void* const one = Open("one");
  const std::uint64_t function = AddressOf(dlsym(one, "one"));
  EXPECT_EQ(Searched(function), FoundByLinker(function));
  dlclose(one);
  EXPECT_EQ(Searched(function), "");

  void* const two = Open("two");
  const std::uint64_t other = AddressOf(dlsym(two, "two"));
  EXPECT_EQ(Searched(other), FoundByLinker(other));
  // To the linker, a hole between segments is the module's as well.
  EXPECT_THAT(Searched(function), ::testing::AnyOf("", FoundByLinker(function)));
  dlclose(two);
}

TEST(ObjectSearchTest, FindsAModuleWhereNoneWasBefore) {
  std::uint64_t address = 0;
  {
    const MadeCode code(1 << 20);
    address = code.address();
    EXPECT_EQ(Searched(address), "");
  }
  agent::ForgetGaps();
  const std::uint64_t page = address & ~std::uint64_t{kPageBytes - 1};
  // A module by hand, at the very address: its header and its first segment.
  const int fd = open((Libraries().path() / "one.so").c_str(), O_RDONLY | O_CLOEXEC);
  void* const module = mmap(reinterpret_cast<void*>(page), kPageBytes, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_FIXED, fd, 0);
  close(fd);
  EXPECT_NE(Searched(page), "");
  munmap(module, kPageBytes);
}

// With no descriptor left, the list of mappings cannot be opened. A place that tests before have
// made known would be found all the same: so the library is opened where none was.
TEST(ObjectSearchTest, RemembersModulesForWhenTheListCannotBeHad) {
  std::vector<void*> opened;
  std::string unknown = "known";
  std::uint64_t function = 0;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  for (int copy = 0; copy < 20 && !unknown.empty(); ++copy) {
    const std::string name = "copy" + std::to_string(copy);
    Libraries().Run(fmt::format("cp one.so {}.so", name));
    opened.push_back(Open(name.c_str()));
    function = AddressOf(dlsym(opened.back(), "one"));
    setrlimit(RLIMIT_NOFILE, &none);
    unknown = Searched(function);
    setrlimit(RLIMIT_NOFILE, &before);
  }
  ASSERT_EQ(unknown, "");

  agent::RememberObjects();
  setrlimit(RLIMIT_NOFILE, &none);
  const std::string remembered = Searched(function);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(remembered, FoundByLinker(function));
  for (void* const library : opened) dlclose(library);
}

// A module that began in the middle of where one is now must not hide that, nor make each search
// read the list.
TEST(ObjectSearchTest, ForgetsWhereModulesBegan) {
  void* const two = Open("two");
  const std::uint64_t begin = AddressOf(dlsym(two, "two")) & ~std::uint64_t{kPageBytes - 1};
  dlclose(two);
  const int fd = open((Libraries().path() / "one.so").c_str(), O_RDONLY | O_CLOEXEC);
  void* const inside = mmap(reinterpret_cast<void*>(begin), kPageBytes, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
  close(fd);
  ASSERT_EQ(AddressOf(inside), begin);
  EXPECT_NE(Searched(begin), "");
  munmap(inside, kPageBytes);

  void* const again = Open("two");
  const std::uint64_t function = AddressOf(dlsym(again, "two"));
  ASSERT_EQ(function & ~std::uint64_t{kPageBytes - 1}, begin);
  EXPECT_EQ(Searched(function), FoundByLinker(function));
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const std::string remembered = Searched(function);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(remembered, FoundByLinker(function));
  dlclose(again);
}

// From now on, whoever opens a file, or has the kernel copy memory, is killed.
void ForbidReading() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 5, .filter = filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST(ObjectSearchDeathTest, MakesNoForbiddenCallInAProcessThatHasConfinedItself) {
  EXPECT_EXIT(
      {
        void* const opened = Open("four");
        const std::uint64_t function = AddressOf(dlsym(opened, "one"));
        const std::string told = FoundByLinker(function);
        const MadeCode code(1 << 16);
        agent::RememberObjectsForGood();
        ForbidReading();
        const bool is_right = Searched(function) == told && Searched(code.address()).empty();
        syscall(SYS_exit_group, is_right ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

// Each thread opens and closes a library of its own, whose function it searches for: this is there
// as long. What the others' libraries are just now nobody knows, but nothing may fault.
TEST(ObjectSearchTest, ServesThreadsThatLoadAndUnload) {
  const ScratchFolder& folder = Libraries();
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> last[4] = {};
  const auto run = [&](int number) {
    const std::string file = folder.path() / ("own" + std::to_string(number) + ".so");
    const MadeCode code(1 << 16);
    for (int i = 0; i < 300; ++i) {
      void* const opened = dlopen(file.c_str(), RTLD_NOW);
      const std::uint64_t function = AddressOf(dlsym(opened, number % 2 == 0 ? "one" : "two"));
      last[number].store(function);
      if (Searched(function) != FoundByLinker(function)) ++wrong;
      for (const auto& other : last) Searched(other.load());
      if (!Searched(code.address()).empty()) ++wrong;
      dlclose(opened);
      agent::ForgetGaps();
    }
  };
  for (int number = 0; number < 4; ++number) {
    folder.Run(fmt::format("cp {}.so own{}.so", number % 2 == 0 ? "one" : "two", number));
  }
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(run, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Two calls of functions, and what a module may do without.
struct Slots {
  Elf64_Sym symbols[2] = {{.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
                          {.st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC)}};
  std::uint64_t slots[3] = {0x1036, 0x1046, 0};
  Elf64_Rela calls[3] = {{0, ELF64_R_INFO(0, agent::kCallSlotRelocation), 0},
                         {8, ELF64_R_INFO(0, agent::kCallSlotRelocation), 0},
                         {16, ELF64_R_INFO(1, agent::kCallSlotRelocation), 0}};

  [[nodiscard]] agent::LoadedModule Module() const {
    const std::uint64_t begin = AddressOf(slots);
    return {.bias = begin,
            .begin = begin,
            .end = begin + 0x4000,
            .symbols = symbols,
            .call_relocations = calls};
  }
};

TEST(LoadedModuleTest, IsNotRelocatedUntilItsLastSlotIsFilled) {
  Slots slots;
  EXPECT_FALSE(agent::HasFilledSlots(slots.Module()));
  slots.slots[0] = AddressOf(reinterpret_cast<void*>(&dlopen));
  EXPECT_FALSE(agent::HasFilledSlots(slots.Module()));
  slots.slots[1] += AddressOf(slots.slots);
  EXPECT_TRUE(agent::HasFilledSlots(slots.Module()));
}

TEST(LoadedModuleTest, IsRelocatedWhereItCallsNobody) {
  const Slots slots;
  agent::LoadedModule module = slots.Module();
  module.call_relocations = {};
  EXPECT_TRUE(agent::HasFilledSlots(module));
}

}  // namespace
}  // namespace leakgate::test
