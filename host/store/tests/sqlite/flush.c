/* Flushes that fail while a file exists. Preloaded into a child of the test beside this file. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int flush(long call, int fd) {
  const char *flag = getenv("JACKFIELD_FLUSHES_FAIL");
  if (flag != NULL && access(flag, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(call, fd);
}

int fsync(int fd) { return flush(SYS_fsync, fd); }
int fdatasync(int fd) { return flush(SYS_fdatasync, fd); }
