// What a package has instead of functions that older C libraries have not (cmake/older_glibc.c),
// beside this C library's own.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

extern "C" {
std::uint32_t own_arc4random();
int own_close_range(unsigned first, unsigned last, int flags);
int own_dl_find_object(void* address, dl_find_object* answer);
}

namespace leakgate::test {
namespace {

TEST(OlderGlibcTest, TellsTheFrameDescriptionsThatGlibcTells) {
  const int on_stack = 0;
  for (const void* const address :
       {reinterpret_cast<const void*>(&own_arc4random), reinterpret_cast<const void*>(&dlopen),
        static_cast<const void*>(dlsym(RTLD_DEFAULT, "_ZTISt9exception")),
        static_cast<const void*>(&on_stack), static_cast<const void*>(nullptr)}) {
    dl_find_object glibcs{};
    dl_find_object own{};
    auto* const asked = const_cast<void*>(address);
    EXPECT_EQ(own_dl_find_object(asked, &own), _dl_find_object(asked, &glibcs)) << address;
    EXPECT_EQ(own.dlfo_eh_frame, glibcs.dlfo_eh_frame) << address;
  }
}

TEST(OlderGlibcTest, MakesRandomNumbers) {
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 10; ++i) numbers.insert(own_arc4random());
  EXPECT_GT(numbers.size(), 5U);
}

// As where the kernel is older than 5.9, or a sandbox knows no such call.
void LetCloseRangeFail(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// In a process of its own. Returns 0 if just those of the range have been closed.
int CloseSome(int error) {
  if (error != 0) LetCloseRangeFail(error);
  std::vector<int> opened;
  for (int i = 0; i < 300; ++i) opened.push_back(dup2(STDIN_FILENO, 500 + i));
  if (own_close_range(510, 780, CLOSE_RANGE_CLOEXEC) != 0) return 1;
  for (const int fd : opened) {
    const bool is_in = fd >= 510 && fd <= 780;
    if (!IsOpen(fd) || ((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) != is_in) return 2;
  }
  if (own_close_range(520, 770, 0) != 0) return 3;
  for (const int fd : opened) {
    if (IsOpen(fd) == (fd >= 520 && fd <= 770)) return 4;
  }
  return own_close_range(600, ~0U, 0) == 0 && IsOpen(519) && !IsOpen(790) ? 0 : 5;
}

TEST(OlderGlibcDeathTest, ClosesARangeWhateverTheKernelHas) {
  for (const int error : {0, ENOSYS, EPERM}) {
    EXPECT_EXIT(syscall(SYS_exit_group, CloseSome(error)), ::testing::ExitedWithCode(0), "")
        << error;
  }
}

}  // namespace
}  // namespace leakgate::test
