/* Loaded with LD_PRELOAD by the power-loss test: writes to a journal, in their order, all changes that this process makes
 * to files beneath RECORD_UNDER, and all syncs of them. Replaying a part of the journal gives the files as a power cut would
 * leave them. With RECORD_NO_SYNC, syncs are left out of the journal, as with a disk that lies.
 *
 * A record: kind (1 byte), length of the path (4), the path, offset (8), length of the data (4), the data; little endian. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 'w', TRUNCATE = 't', SYNC = 's', CREATE = 'c', UNLINK = 'u', RENAME = 'r' };

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static char under[PATH_MAX];
static size_t under_length;
static int no_sync;

__attribute__((constructor)) static void begin(void) {
  const char *to = getenv("RECORD_TO"), *root = getenv("RECORD_UNDER");
  if (!to || !root || strlen(root) >= sizeof under) return;
  strcpy(under, root);
  under_length = strlen(under);
  no_sync = getenv("RECORD_NO_SYNC") != NULL;
  journal = (int)open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  /* Children of this process are not recorded. */
  unsetenv("LD_PRELOAD");
  unsetenv("RECORD_TO");
}

static void put(const void *data, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  const char *at = data;
  while (length > 0) {
    ssize_t done = real(journal, at, length);
    if (done <= 0) abort();
    at += done;
    length -= (size_t)done;
  }
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint32_t length) {
  uint32_t path_length = (uint32_t)strlen(path);
  put(&kind, 1);
  put(&path_length, 4);
  put(path, path_length);
  put(&offset, 8);
  put(&length, 4);
  put(data, length);
}

/* The path of a file beneath the root, or 0. The -shm file is memory, and is made anew by who opens the database. */
static int is_ours(const char *path) {
  size_t length = strlen(path);
  if (journal < 0 || strncmp(path, under, under_length) != 0) return 0;
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int path_of(int fd, char *path) {
  char link[64];
  if (journal < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

static ssize_t written(int fd, const void *data, off_t offset, ssize_t done) {
  char path[PATH_MAX];
  if (done > 0 && path_of(fd, path)) record(WRITE, path, (uint64_t)offset, data, (uint32_t)done);
  return done;
}

#define PWRITE(name, type) \
  ssize_t name(int fd, const void *data, size_t length, type offset) { \
    REAL(ssize_t, #name, int, const void *, size_t, type); \
    pthread_mutex_lock(&lock); \
    ssize_t done = written(fd, data, offset, real(fd, data, length, offset)); \
    pthread_mutex_unlock(&lock); \
    return done; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  char path[PATH_MAX];
  if (journal < 0 || fd == journal || !path_of(fd, path)) return real(fd, data, length);
  pthread_mutex_lock(&lock);
  ssize_t done = real(fd, data, length);
  /* Also right for O_APPEND: the position is behind what was written. */
  if (done > 0) written(fd, data, lseek(fd, 0, SEEK_CUR) - done, done);
  pthread_mutex_unlock(&lock);
  return done;
}

#define FTRUNCATE(name, type) \
  int name(int fd, type length) { \
    REAL(int, #name, int, type); \
    char path[PATH_MAX]; \
    pthread_mutex_lock(&lock); \
    int done = real(fd, length); \
    if (done == 0 && path_of(fd, path)) record(TRUNCATE, path, (uint64_t)length, "", 0); \
    pthread_mutex_unlock(&lock); \
    return done; \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define FSYNC(name) \
  int name(int fd) { \
    REAL(int, #name, int); \
    char path[PATH_MAX]; \
    pthread_mutex_lock(&lock); \
    int done = real(fd); \
    if (done == 0 && !no_sync && path_of(fd, path)) record(SYNC, path, 0, "", 0); \
    pthread_mutex_unlock(&lock); \
    return done; \
  }
FSYNC(fsync)
FSYNC(fdatasync)

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  pthread_mutex_lock(&lock);
  int done = real(path);
  if (done == 0 && is_ours(path)) record(UNLINK, path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  return done;
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  pthread_mutex_lock(&lock);
  int done = real(from, to);
  if (done == 0 && is_ours(to)) record(RENAME, from, 0, to, (uint32_t)strlen(to));
  pthread_mutex_unlock(&lock);
  return done;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    if (!(flags & O_CREAT) || !is_ours(path)) return real(path, flags, mode); \
    pthread_mutex_lock(&lock); \
    struct stat before; \
    int was_there = lstat(path, &before) == 0; \
    int fd = real(path, flags, mode); \
    if (fd >= 0 && !was_there) record(CREATE, path, 0, "", 0); \
    pthread_mutex_unlock(&lock); \
    return fd; \
  }
OPEN(open)
OPEN(open64)
