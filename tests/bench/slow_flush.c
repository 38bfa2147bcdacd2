/*
 * Preloaded into a database server: each flush to the disk takes FLUSH_US
 * microseconds at least, as on a disk that is slower than this one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slowed(const char *name, int fd) {
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  int (*flush)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = flush(fd);
  due.tv_nsec += atol(getenv("FLUSH_US")) * 1000;
  due.tv_sec += due.tv_nsec / 1000000000;
  due.tv_nsec %= 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0) {}
  return result;
}

int fdatasync(int fd) { return slowed("fdatasync", fd); }

int fsync(int fd) { return slowed("fsync", fd); }
