/* A disk whose flush takes 10 ms longer: preloaded, for fsync and fdatasync. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void) {
  struct timespec left = {0, 10000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

int fsync(int fd) {
  wait_for_disk();
  return syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  wait_for_disk();
  return syscall(SYS_fdatasync, fd);
}
