/* One thread makes calls on files by chance, from a seed, and says what each answered; another one is idle. What it says
 * must be the same natively and in the engine, in every schedule. usage: calls SEED CALLS */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NUMBERS = 8, TEXT = 64 };

static const char *const paths[] = {"a",      "b",       "c",        "d",        "d/x",  "d/y",     "d/e",     "d/e/z", "l",
                                    "ld",     "ld/x",    "dangling", "d/../a",   "./b",  "d/",      "a/",      "no/x",  "",
                                    "d/e/..", "loop",    "empty",    "empty/n",  "n",    "m",       "k",       "k/n",   "l/x",
                                    "d//x",   "ld/e/z",  "up",       "up/b",     "fifo/x"};
static unsigned long long state;
static int numbers[NUMBERS];
static char root[4096];
static int first;

static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

static const char *path(void)
{
    return paths[pick(sizeof paths / sizeof *paths)];
}

static void say(const char *what, const char *on, long result)
{
    printf("%s %s = %ld%s%s\n", what, on, result, result < 0 ? " " : "", result < 0 ? strerrorname_np(errno) : "");
}

static int *slot(void)
{
    return &numbers[pick(NUMBERS)];
}

static int at(void)
{
    return pick(3) ? AT_FDCWD : *slot();
}

/* The engine may have inherited more. */
static long relative(int fd)
{
    return fd < 0 ? fd : fd - first;
}

/* ---- opening ---- */

static void opens(void)
{
    static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_EXCL, O_RDWR | O_TRUNC, O_WRONLY | O_APPEND,
                                O_RDONLY | O_DIRECTORY, O_PATH, O_RDONLY | O_NOFOLLOW, O_RDWR | O_CREAT | O_TRUNC, O_PATH | O_NOFOLLOW,
                                O_RDWR | O_CREAT | O_APPEND, O_WRONLY | O_CREAT | O_NOFOLLOW};
    int *s = slot(), how = flags[pick(sizeof flags / sizeof *flags)];
    const char *p = path();
    if (*s >= 0)
        close(*s);
    *s = openat(at(), p, how | O_CLOEXEC, 0640 | pick(8));
    say("open", p, relative(*s));
}

static void opens_temporary(void)
{
    int *s = slot();
    if (*s >= 0)
        close(*s);
    *s = open("d", O_TMPFILE | O_RDWR, 0600);
    say("tmpfile", "d", relative(*s));
    if (*s >= 0 && pick(2)) {
        char own[64];
        snprintf(own, sizeof own, "/proc/self/fd/%d", *s);
        say("write", "tmpfile", write(*s, "temporary", 9));
        say("linkat", "n", linkat(AT_FDCWD, own, AT_FDCWD, "n", AT_SYMLINK_FOLLOW));
    }
}

static void closes(void)
{
    int *s = slot();
    say("close", "", close(*s));
    *s = -1;
}

static void duplicates(void)
{
    int *from = slot(), *to = slot();
    if (*to >= 0 && pick(2)) {
        say("dup2", "", relative(dup2(*from, *to)));
        return;
    }
    int fd = fcntl(*from, F_DUPFD_CLOEXEC, 3);
    say("dup", "", relative(fd));
    if (fd >= 0) {
        if (*to >= 0)
            close(*to);
        *to = fd;
    }
}

/* ---- contents ---- */

static void reads(void)
{
    char text[TEXT + 1];
    long n = pick(2) ? read(*slot(), text, pick(TEXT)) : pread(*slot(), text, pick(TEXT), pick(40));
    text[n > 0 ? n : 0] = 0;
    for (long i = 0; i < n; i++)
        if (!text[i])
            text[i] = '0';
    say("read", n > 0 ? text : "", n);
}

static void writes(void)
{
    static const char some[] = "The quick brown fox jumps over the lazy dog and runs away from it all.";
    unsigned n = pick(30);
    struct iovec pieces[2] = {{(void *)some, n}, {(void *)(some + 10), 5}};
    switch (pick(3)) {
    case 0:
        say("write", "", write(*slot(), some + pick(20), n));
        break;
    case 1:
        say("pwrite", "", pwrite(*slot(), some + pick(20), n, pick(60)));
        break;
    default:
        say("writev", "", writev(*slot(), pieces, 2));
    }
}

static void seeks(void)
{
    static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    say("lseek", "", lseek(*slot(), (long)pick(50) - 10, whences[pick(3)]));
}

static void truncates(void)
{
    const char *p = path();
    if (pick(2))
        say("truncate", p, truncate(p, pick(80)));
    else
        say("ftruncate", "", ftruncate(*slot(), pick(80)));
}

static void allocates(void)
{
    say("fallocate", "", fallocate(*slot(), pick(2) ? 0 : FALLOC_FL_KEEP_SIZE, pick(50), 1 + pick(50)));
}

static void copies(void)
{
    off_t from = pick(20), to = pick(20);
    int in = *slot(), out = *slot();
    if (pick(2)) {
        say("copy_file_range", "", copy_file_range(in, pick(2) ? &from : NULL, out, pick(2) ? &to : NULL, pick(30), 0));
        return;
    }
    struct stat s;
    if (fstat(out, &s) == 0 && S_ISREG(s.st_mode))
        say("sendfile", "", sendfile(out, in, pick(2) ? &from : NULL, pick(30)));
}

static void maps(void)
{
    int fd = *slot();
    struct stat s;
    if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || !s.st_size)
        return;
    char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    say("mmap", "", m == MAP_FAILED ? -1 : 0);
    if (m == MAP_FAILED)
        return;
    m[pick((unsigned)s.st_size)] = (char)('A' + pick(26));
    char first = 0;
    say("pread", "mapped", pread(fd, &first, 1, 0));
    printf("%d\n", first == m[0]);
    say("pwrite", "mapped", pwrite(fd, "!", 1, 0));
    printf("%d\n", m[0] == '!' || fcntl(fd, F_GETFL) & O_APPEND);
    munmap(m, 4096);
}

/* ---- names ---- */

static void renames(void)
{
    const char *from = path(), *to = path();
    char both[200];
    snprintf(both, sizeof both, "%s to %s", from, to);
    unsigned how = pick(4);
    say("rename", both, renameat2(AT_FDCWD, from, AT_FDCWD, to, how == 0 ? RENAME_NOREPLACE : how == 1 ? RENAME_EXCHANGE : 0));
}

static void removes(void)
{
    const char *p = path();
    if (pick(2))
        say("unlink", p, unlinkat(at(), p, 0));
    else
        say("rmdir", p, rmdir(p));
}

static void makes(void)
{
    const char *p = path(), *other = path();
    switch (pick(5)) {
    case 0:
        say("mkdir", p, mkdirat(at(), p, 0777));
        break;
    case 1:
        say("symlink", p, symlink(other, p));
        break;
    case 2:
        say("link", p, link(other, p));
        break;
    case 3:
        say("mknod", p, mknod(p, S_IFREG | 0666, 0));
        break;
    default:
        say("mkdir", p, mkdir(p, 0700));
    }
}

static void moves(void)
{
    static const char *const where[] = {"d", "ld", "..", "d/e", "a", "k"};
    const char *p = pick(2) ? where[pick(6)] : root;
    char now[4096];
    say("chdir", p == root ? "root" : p, p[0] == '.' && pick(2) ? -1 : chdir(p[0] == '.' ? root : p));
    if (getcwd(now, sizeof now))
        printf("cwd %s\n", strncmp(now, root, strlen(root)) ? "elsewhere" : now + strlen(root));
    else
        say("getcwd", "", -1);
}

/* ---- what is known ---- */

static void shows(const char *p, const struct stat *s)
{
    if (S_ISDIR(s->st_mode))
        printf("%s: %o directory\n", p, s->st_mode);
    else
        printf("%s: %o %lu links, %ld bytes, of %u:%u, %ld\n", p, s->st_mode, (unsigned long)s->st_nlink, (long)s->st_size, s->st_uid, s->st_gid,
               s->st_mtime < 1000 ? (long)s->st_mtime : 0L);
}

static void looks(void)
{
    const char *p = path();
    struct stat s;
    struct statx x;
    char target[TEXT];
    long n;
    switch (pick(6)) {
    case 0:
        say("stat", p, n = stat(p, &s));
        break;
    case 1:
        say("lstat", p, n = lstat(p, &s));
        break;
    case 2:
        say("fstat", "", n = fstat(*slot(), &s));
        break;
    case 3:
        n = statx(at(), p, pick(2) ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &x);
        say("statx", p, n);
        if (n == 0 && !S_ISDIR(x.stx_mode))
            printf("%o %u %llu\n", x.stx_mode, x.stx_nlink, x.stx_size);
        return;
    case 4:
        say("access", p, access(p, (int)pick(8)));
        return;
    default:
        n = readlink(p, target, sizeof target);
        say("readlink", p, n);
        if (n > 0)
            printf("%.*s\n", (int)n, target);
        return;
    }
    if (n == 0)
        shows(p, &s);
}

static void changes(void)
{
    const char *p = path();
    struct timespec times[2] = {{pick(1000), 0}, {pick(1000), pick(2) ? UTIME_OMIT : 5}};
    switch (pick(5)) {
    case 0:
        say("chmod", p, chmod(p, 0600 | pick(64)));
        break;
    case 1:
        say("fchmod", "", fchmod(*slot(), 0600 | pick(64)));
        break;
    case 2:
        say("utimensat", p, utimensat(AT_FDCWD, p, times, pick(2) ? 0 : AT_SYMLINK_NOFOLLOW));
        break;
    case 3:
        say("futimens", "", futimens(*slot(), times));
        break;
    default:
        say("umask", "", (long)umask(pick(64)));
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void lists(void)
{
    const char *p = path();
    char *names[100];
    int n = 0;
    DIR *d = opendir(*p ? p : ".");
    say("opendir", p, d ? 0 : -1);
    if (!d)
        return;
    for (struct dirent *e; n < 100 && (e = readdir(d));) {
        char one[300];
        if (!strcmp(e->d_name, ".deadheat"))
            continue;
        snprintf(one, sizeof one, "%s %d", e->d_name, e->d_type);
        names[n++] = strdup(one);
    }
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++) {
        printf(" %s;", names[i]);
        free(names[i]);
    }
    putchar('\n');
}

static void locks(void)
{
    struct flock l = {.l_type = (short)(pick(2) ? F_WRLCK : pick(2) ? F_RDLCK : F_UNLCK), .l_start = pick(10), .l_len = pick(10)};
    switch (pick(4)) {
    case 0:
        say("flock", "", flock(*slot(), (pick(2) ? LOCK_SH : pick(2) ? LOCK_EX : LOCK_UN) | LOCK_NB));
        break;
    case 1:
        say("lock", "", fcntl(*slot(), F_SETLK, &l));
        break;
    case 2:
        say("ofd lock", "", fcntl(*slot(), F_OFD_SETLK, &l));
        break;
    default:
        l.l_type = F_WRLCK;
        if (fcntl(*slot(), F_OFD_GETLK, &l) == 0)
            printf("held %d %ld %ld\n", l.l_type, l.l_type == F_UNLCK ? 0 : (long)l.l_start, l.l_type == F_UNLCK ? 0 : (long)l.l_len);
    }
}

static void flags(void)
{
    int fd = *slot();
    say("flags", "", fcntl(fd, F_GETFL));
    if (pick(2))
        say("append", "", fcntl(fd, F_SETFL, pick(2) ? O_APPEND : 0));
}

static long calls;

static void *worker(void *arg)
{
    static void (*const all[])(void) = {opens,   opens,  opens,   opens_temporary, closes,  duplicates, reads,   reads, writes,  writes, seeks,
                                        truncates, allocates, copies, maps, renames, renames, removes, removes, makes, makes, moves,
                                        looks,   looks,  looks,   changes, lists, locks,  flags};
    for (long i = 0; i < calls; i++)
        all[pick(sizeof all / sizeof *all)]();
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] >= 0)
            close(numbers[i]);
    return arg;
}

static void *idle(void *arg)
{
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    calls = argc > 2 ? atol(argv[2]) : 100;
    if (!getcwd(root, sizeof root))
        abort();
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = -1;
    /* From before the threads: one file twice, with one position, and a folder. */
    numbers[0] = open("a", O_RDWR);
    first = numbers[0];
    numbers[1] = dup(numbers[0]);
    numbers[2] = open("d", O_RDONLY | O_DIRECTORY);
    if (numbers[0] < 0 || read(numbers[0], buffer, 3) != 3)
        abort();
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, idle, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    fflush(stdout);
    return 0;
}
