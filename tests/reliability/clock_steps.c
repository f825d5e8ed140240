/* The wall clock as tests/reliability/clock_steps sets it: a file has how many seconds it is off.
   Preloaded into leakgate and what it traces. The machine's own clock, and CLOCK_MONOTONIC, stay as
   they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t* g_offset;

__attribute__((constructor)) static void Begin(void) {
  const char* const path = getenv("CLOCK_OFFSET");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* const page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) g_offset = page;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int failure = (int)syscall(SYS_clock_gettime, clock, now);
  const int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (failure == 0 && is_wall && g_offset != NULL) now->tv_sec += *g_offset;
  return failure;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}
