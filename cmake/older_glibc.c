// The functions of glibc 2.32 and later that the static libraries of Debian 12 use, for a runner that
// is linked with an older glibc (LeakgateOlderGlibc.cmake). Only the runner in packages contains this.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/close_range.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc 2.32: whether there is only one thread. This is not known here, so there may be more.
const char __libc_single_threaded = 0;

// glibc 2.36. If the kernel provides no random number, the C++ library must not use another source.
uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof(number)) != 0) abort();
  return number;
}

static void CloseIfIn(int fd, unsigned first, unsigned last, int flags) {
  if (fd < 0 || (unsigned)fd < first || (unsigned)fd > last) return;
  if ((flags & CLOSE_RANGE_CLOEXEC) != 0) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  } else {
    close(fd);
  }
}

// Returns 12 for "12"; -1 if the text is not a number.
static int NumberIn(const char* name) {
  int number = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return -1;
    number = number * 10 + (*name - '0');
  }
  return number;
}

// glibc 2.34. Linux has the call since 5.9, and sandboxes that do not know it forbid it. A child that
// has just been forked calls it: no memory may be allocated.
int close_range(unsigned first, unsigned last, int flags) {
  const long done = syscall(SYS_close_range, first, last, flags);
  if (done == 0 || (errno != ENOSYS && errno != EPERM)) return (int)done;
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  _Alignas(struct dirent64) char entries[4096];
  for (long bytes; (bytes = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0;) {
    for (long at = 0; at < bytes;) {
      const struct dirent64* const entry = (const struct dirent64*)(entries + at);
      const int fd = NumberIn(entry->d_name);
      if (fd != folder) CloseIfIn(fd, first, last, flags);
      at += entry->d_reclen;
    }
  }
  close(folder);
  return 0;
}

// glibc 2.35: finds the frame descriptions of the code at an address, for throwing exceptions.
struct Search {
  uintptr_t address;
  struct dl_find_object* answer;
};

static int Visit(struct dl_phdr_info* module, size_t size, void* given) {
  struct Search* const search = given;
  uintptr_t frame_header = 0;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  (void)size;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &module->dlpi_phdr[i];
    const uintptr_t at = module->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) frame_header = at;
    if (segment->p_type != PT_LOAD || search->address - at >= segment->p_memsz) continue;
    begin = at;
    end = at + segment->p_memsz;
  }
  if (end == 0 || frame_header == 0) return 0;
  *search->answer = (struct dl_find_object){.dlfo_map_start = (void*)begin,
                                            .dlfo_map_end = (void*)end,
                                            .dlfo_eh_frame = (void*)frame_header};
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* answer) {
  struct Search search = {(uintptr_t)address, answer};
  return dl_iterate_phdr(Visit, &search) == 1 ? 0 : -1;
}
