/* Fail one call of write, fsync, rename, open or send, below a folder or on a socket (LD_PRELOAD).
 *
 * faults_arm(prefix, n, kind) makes the n-th call fail; n = 0 only counts, prefix "" ends. Kinds: 1 EIO once,
 * 2 ENOSPC from there on, 3 half of a write and then ENOSPC, 4 half of a write and then a kill.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 4096, EIO_ONCE = 1, FULL, TORN, KILL };
static char prefix[PATH_MAX];
static long at, calls;
static int kind, armed, failed;
static char ours[MOST];

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = dlsym(RTLD_NEXT, name)

void faults_arm(const char *where, long n, int how) {
    if (!where[0]) { armed = 0; return; }
    strncpy(prefix, where, sizeof prefix - 1);
    at = n, kind = how, calls = 0, failed = 0, armed = 1;
}
long faults_calls(void) { return calls; }
int faults_failed(void) { return failed; }

static int below(const char *path) { return armed && path && strncmp(path, prefix, strlen(prefix)) == 0; }
static int mine(int fd) { return armed && fd >= 0 && fd < MOST && ours[fd]; }

/* True if this call is to fail; sets errno. A kill comes after half of a write. */
static int fails(void) {
    calls++;
    if (!at || calls < at || (kind != FULL && calls > at)) return 0;
    failed = 1;
    errno = kind == EIO_ONCE ? EIO : ENOSPC;
    return 1;
}
static void end(void) { if (kind == KILL) raise(SIGKILL); }

#define HALF(call) do { if (kind >= TORN && size > 1) { call; errno = ENOSPC; } end(); } while (0)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (mine(fd) && fails()) { HALF(real(fd, data, size / 2)); return -1; }
    return real(fd, data, size);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    if (mine(fd) && fails()) { HALF(real(fd, data, size / 2, place)); return -1; }
    return real(fd, data, size, place);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t place) { return pwrite64(fd, data, size, place); }
ssize_t send(int fd, const void *data, size_t size, int flags) {
    REAL(ssize_t, "send", int, const void *, size_t, int);
    if (armed && !strcmp(prefix, "socket") && fails()) {
        HALF(real(fd, data, size / 2, flags));
        shutdown(fd, SHUT_RDWR);
        errno = ECONNRESET;
        return -1;
    }
    return real(fd, data, size, flags);
}
int fsync(int fd) {
    REAL(int, "fsync", int);
    if (mine(fd) && fails()) { end(); return -1; }
    return real(fd);
}
int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    if (mine(fd) && fails()) { end(); return -1; }
    return real(fd);
}
int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    if (mine(fd) && fails()) { end(); return -1; }
    return real(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    if (below(to) && fails()) { end(); return -1; }
    return real(from, to);
}
static int opened(int fd, const char *path) {
    if (fd >= 0 && fd < MOST) ours[fd] = below(path) != 0;
    return fd;
}
#define OPEN(name) \
int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list more; va_start(more, flags); int mode = va_arg(more, int); va_end(more); \
    if (below(path) && (flags & (O_WRONLY | O_RDWR)) && fails()) { end(); return -1; } \
    return opened(real(path, flags, mode), path); \
}
OPEN(open)
OPEN(open64)
