/* Memory from before the threads is unmapped, replaced, protected, dropped and moved; every schedule finds it as it was.
 * drive: --schedules=300
 * expect: ends: done 300
 * refuse: assertion|crash|cannot */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 8, SIZE = PAGES * PAGE, RESERVED = 1 << 26 };

static char *unmapped, *replaced, *guarded, *dropped, *shrunk, *grown, *reserved, *committed, *code;

static char *memory(size_t size, int protection)
{
    char *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert(at != MAP_FAILED);
    return at;
}

static char *filled(char with)
{
    char *at = memory(SIZE, PROT_READ | PROT_WRITE);
    memset(at, with, SIZE);
    return at;
}

static int is_all(const char *at, char with, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != with)
            return 0;
    return 1;
}

static void unmaps(void)
{
    assert(is_all(unmapped, 'u', SIZE));
    assert(munmap(unmapped + PAGE, 2 * PAGE) == 0);
    unmapped[0] = 'U';
    unmapped[3 * PAGE] = 'U';
}

static void replaces(void)
{
    int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    assert(is_all(replaced, 'r', SIZE));
    replaced[5 * PAGE] = 'R';
    assert(mmap(replaced + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, how, -1, 0) == replaced + PAGE);
    assert(is_all(replaced + PAGE, 0, 2 * PAGE) && replaced[0] == 'r' && replaced[3 * PAGE] == 'r');
    replaced[PAGE] = 'n';
    assert(mmap(replaced + PAGE, PAGE, PROT_NONE, how, -1, 0) == replaced + PAGE);
    assert(mprotect(replaced + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 && replaced[PAGE] == 0);
}

static void guards(void)
{
    assert(is_all(guarded, 'g', SIZE));
    assert(mprotect(guarded, PAGE, PROT_NONE) == 0);
    assert(mprotect(guarded + PAGE, PAGE, PROT_READ) == 0 && guarded[PAGE] == 'g');
    guarded[2 * PAGE] = 'G';
    assert(mprotect(guarded, 2 * PAGE, PROT_READ | PROT_WRITE) == 0);
    guarded[0] = guarded[PAGE] = 'G';
}

static void drops(void)
{
    assert(is_all(dropped, 'd', SIZE));
    dropped[0] = 'D';
    assert(madvise(dropped, 2 * PAGE, MADV_DONTNEED) == 0);
    assert(is_all(dropped, 0, 2 * PAGE) && dropped[2 * PAGE] == 'd');
    dropped[PAGE] = 'D';
}

static void resizes(void)
{
    assert(is_all(shrunk, 's', SIZE) && is_all(grown, 'w', SIZE));
    assert(mremap(shrunk, SIZE, 2 * PAGE, 0) == shrunk);
    char *larger = mremap(grown, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    assert(larger != MAP_FAILED && is_all(larger, 'w', SIZE) && is_all(larger + SIZE, 0, SIZE));
    memset(larger, 'W', 2 * SIZE);
    larger = mremap(larger, 2 * SIZE, 4 * SIZE, MREMAP_MAYMOVE);
    assert(larger != MAP_FAILED && is_all(larger, 'W', 2 * SIZE));
    assert(munmap(larger, 4 * SIZE) == 0);
}

/* As allocators do it. */
static void commits(void)
{
    assert(mprotect(reserved + SIZE, SIZE, PROT_READ | PROT_WRITE) == 0);
    assert(is_all(reserved + SIZE, 0, SIZE));
    memset(reserved + SIZE, 'c', SIZE);
    assert(mmap(committed, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == committed);
    assert(is_all(committed, 0, SIZE));
    memset(committed, 'c', SIZE);
}

/* As compilers at run time do it. */
static void generates(void)
{
    int (*function)(void) = (int (*)(void))(void *)code;
    assert(function() == 1);
    assert(mprotect(code, PAGE, PROT_READ | PROT_WRITE) == 0);
    code[1] = 2;
    assert(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
    assert(function() == 2);
}

static void *worker(void *arg)
{
    static void (*const all[])(void) = {unmaps, replaces, guards, drops, resizes, commits, generates};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        all[i]();
    return arg;
}

int main(void)
{
    static const char returns_1[] = "\xb8\x01\0\0\0\xc3";
    pthread_t t;
    unmapped = filled('u');
    replaced = filled('r');
    guarded = filled('g');
    dropped = filled('d');
    shrunk = filled('s');
    grown = filled('w');
    reserved = memory(RESERVED, PROT_NONE);
    committed = memory(SIZE, PROT_NONE);
    code = memory(PAGE, PROT_READ | PROT_WRITE);
    memcpy(code, returns_1, sizeof returns_1);
    assert(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
}
