/*
 * Loaded with LD_PRELOAD: fails the n-th system call on files under CARREL_FAULT_FOLDER, and moves the wall clock. The mapped
 * file CARREL_FAULT_CONTROL says which call fails and how far the clock moves. It can change while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
  volatile int64_t calls;   /* calls on watched files since the last reset to 0 */
  volatile int64_t fail_at; /* number of the call to fail; 0: none */
  volatile int64_t error;
  volatile int64_t sticky; /* whether all later calls fail too */
  volatile int64_t failed; /* calls that failed */
  volatile int64_t clock_s;
};

static struct control *control;
static const char *folder;
static unsigned char watched[65536];

__attribute__((constructor)) static void prepare(void) {
  folder = getenv("CARREL_FAULT_FOLDER");
  const char *path = getenv("CARREL_FAULT_CONTROL");
  if (!folder || !path) return;
  int fd = open(path, O_RDWR);
  if (fd < 0) return;
  void *at = mmap(0, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) control = at;
}

static int is_ours(const char *path) { return control && path && strncmp(path, folder, strlen(folder)) == 0; }

/* Counts a call. Returns 1 and sets errno if it must fail. */
static int fails(int ours) {
  if (!control || !ours) return 0;
  int64_t number = __sync_add_and_fetch(&control->calls, 1);
  int64_t at = control->fail_at;
  if (at == 0 || number < at || (number > at && !control->sticky)) return 0;
  __sync_add_and_fetch(&control->failed, 1);
  errno = (int)control->error;
  return 1;
}

static int is_our_fd(int fd) { return fd >= 0 && fd < 65536 && watched[fd]; }

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }

static int watch_fd(int fd, const char *path) {
  if (fd >= 0 && fd < 65536) watched[fd] = is_ours(path);
  return fd;
}

int open(const char *path, int flags, ...) { REAL(open); MODE(flags); if (fails(is_ours(path))) return -1; return watch_fd(real(path, flags, mode), path); }
int open64(const char *path, int flags, ...) { REAL(open64); MODE(flags); if (fails(is_ours(path))) return -1; return watch_fd(real(path, flags, mode), path); }
int openat(int at, const char *path, int flags, ...) { REAL(openat); MODE(flags); if (fails(is_ours(path))) return -1; return watch_fd(real(at, path, flags, mode), path); }
int openat64(int at, const char *path, int flags, ...) { REAL(openat64); MODE(flags); if (fails(is_ours(path))) return -1; return watch_fd(real(at, path, flags, mode), path); }
int close(int fd) { REAL(close); if (fd >= 0 && fd < 65536) watched[fd] = 0; return real(fd); }

#define ON_FD(type, name, params, args) \
  type name params { REAL(name); if (fails(is_our_fd(fd))) return -1; return real args; }

ON_FD(ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
ON_FD(ssize_t, read, (int fd, void *b, size_t n), (fd, b, n))
ON_FD(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
ON_FD(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
ON_FD(ssize_t, pread, (int fd, void *b, size_t n, off_t o), (fd, b, n, o))
ON_FD(ssize_t, pread64, (int fd, void *b, size_t n, off64_t o), (fd, b, n, o))
ON_FD(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
ON_FD(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t o), (fd, v, n, o))
ON_FD(int, fsync, (int fd), (fd))
ON_FD(int, fdatasync, (int fd), (fd))
ON_FD(int, ftruncate, (int fd, off_t n), (fd, n))
ON_FD(int, ftruncate64, (int fd, off64_t n), (fd, n))
ON_FD(int, fchmod, (int fd, mode_t m), (fd, m))

int rename(const char *from, const char *to) { REAL(rename); if (fails(is_ours(from))) return -1; return real(from, to); }
int link(const char *from, const char *to) { REAL(link); if (fails(is_ours(from))) return -1; return real(from, to); }
int unlink(const char *path) { REAL(unlink); if (fails(is_ours(path))) return -1; return real(path); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); if (fails(is_ours(path))) return -1; return real(path, mode); }

int clock_gettime(clockid_t which, struct timespec *at) {
  REAL(clock_gettime);
  int result = real(which, at);
  if (result == 0 && control && which == CLOCK_REALTIME) at->tv_sec += control->clock_s;
  return result;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  REAL(gettimeofday);
  int result = real(at, zone);
  if (result == 0 && control) at->tv_sec += control->clock_s;
  return result;
}
