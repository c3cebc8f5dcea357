/* Loaded before libc into a test's child process, it makes the disk under one folder fail as told, and keeps a
 * journal of what was synced, from which the test makes what a power cut would have left.
 *
 *   DISK_UNDER     the folder; other files are left alone
 *   DISK_CONTROL   a folder with
 *     fail-write   while it is there, each write fails with the error number in it
 *     fail-sync    likewise each fsync and fdatasync
 *     synced       the journal: a line `inode size` for each file that was synced up to that size, and `inode 0` for
 *                  each that was made (inode numbers are used again)
 *   DISK_KILL_AT   the number of the sync before which the process ends as by SIGKILL
 *
 * Not counted as synced: what sync_file_range wrote. Taken as durable at once: names (creating, renaming, deleting).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *under, *control;
static long kill_at;
static atomic_long sync_count;
static int journal = -1;

__attribute__((constructor)) static void start(void) {
  char path[4096];
  const char *at = getenv("DISK_KILL_AT");
  under = getenv("DISK_UNDER");
  control = getenv("DISK_CONTROL");
  kill_at = at ? atol(at) : 0;
  if (!under || !control) return;
  snprintf(path, sizeof path, "%s/synced", control);
  journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (journal < 0) abort();
}

static int concerns(int fd) {
  char link[64], path[4096];
  if (journal < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, under, strlen(under)) == 0;
}

/* The error that the test wants, or 0. */
static int wanted_error(const char *name) {
  char path[4096], text[16] = {0};
  snprintf(path, sizeof path, "%s/%s", control, name);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  return atoi(text);
}

static void note(ino_t inode, off_t size) {
  char line[64];
  int length = snprintf(line, sizeof line, "%llu %lld\n", (unsigned long long)inode, (long long)size);
  if (syscall(SYS_write, journal, line, length) != length) abort();
}

static int synced(int fd, long call) {
  struct stat before;
  if (!concerns(fd)) return (int)syscall(call, fd);
  if (atomic_fetch_add(&sync_count, 1) + 1 == kill_at) kill(getpid(), SIGKILL);
  int error = wanted_error("fail-sync");
  if (error) {
    errno = error;
    return -1;
  }
  /* The size before: others may append while this one syncs. */
  if (fstat(fd, &before) != 0) return -1;
  int result = (int)syscall(call, fd);
  if (result == 0 && S_ISREG(before.st_mode)) note(before.st_ino, before.st_size);
  return result;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

#define FAIL_IF_TOLD(fd)                                       \
  if (concerns(fd)) {                                          \
    int error = wanted_error("fail-write");                    \
    if (error) {                                               \
      errno = error;                                           \
      return -1;                                               \
    }                                                          \
  }

ssize_t write(int fd, const void *bytes, size_t count) {
  FAIL_IF_TOLD(fd)
  return syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  FAIL_IF_TOLD(fd)
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }

static int opened(int folder, const char *path, int flags, int mode) {
  struct stat made;
  int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
  if (fd >= 0 && (flags & O_CREAT) && concerns(fd) && fstat(fd, &made) == 0 && made.st_size == 0) note(made.st_ino, 0);
  return fd;
}

#define OPEN(folder)                                           \
  va_list arguments;                                           \
  va_start(arguments, flags);                                  \
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0; \
  va_end(arguments);                                           \
  return opened(folder, path, flags, mode);

int open(const char *path, int flags, ...) { OPEN(AT_FDCWD) }
int open64(const char *path, int flags, ...) { OPEN(AT_FDCWD) }
int openat(int folder, const char *path, int flags, ...) { OPEN(folder) }
int openat64(int folder, const char *path, int flags, ...) { OPEN(folder) }
