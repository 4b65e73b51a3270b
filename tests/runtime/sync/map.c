/* Mappings: what is mapped where something else was has no past. Broken: it is the same mapping. */
#include "pair.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

struct page {
    int guarded[1024];
};

static struct page *page;

static struct page *page_of_writer(void)
{
    struct page *p;
    __asm__("mov %1, %0" : "=r"(p) : "m"(page)); /* where it lies is no matter of order */
    return p;
}

static void use(struct page *p)
{
    for (int i = 0; i < 1024; i++)
        p->guarded[i]++;
}

static void *map(void *at, int fixed)
{
    void *p = mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (fixed ? MAP_FIXED : 0), -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

static void map_and_use(int o)
{
    (void)o;
    page = map(NULL, 0);
    use(page);
}
static void unmap_after_use(int o)
{
    map_and_use(o);
    if (!broken)
        CHECK(munmap(page, SIZE) == 0);
}
static void map_over(int same)
{
    use(same ? page_of_writer() : map(page_of_writer(), 1));
}
/* Should anybody else have got the place, there is nothing to see. */
static void map_again(int same)
{
    use(same ? page_of_writer() : map(page_of_writer(), 0));
}
static void move_away(int o)
{
    map_and_use(o);
    if (!broken) {
        void *wanted = map(NULL, 0), *at = mremap(page, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, wanted);
        CHECK(at == wanted);
        use(at);
    }
}

static void *map_shared(void)
{
    int id = shmget(IPC_PRIVATE, SIZE, 0600);
    CHECK(id >= 0);
    void *at = shmat(id, page_of_writer(), page_of_writer() ? SHM_REMAP : 0);
    CHECK(at != (void *)-1 && shmctl(id, IPC_RMID, NULL) == 0);
    return at;
}
static void attach_and_use(int o)
{
    (void)o;
    page = map_shared();
    use(page);
}
static void attach_again(int same)
{
    use(same ? page_of_writer() : map_shared());
}

/* The break goes up and down, and libc's malloc keeps away from it. */
static void grow_break(int o)
{
    (void)o;
    char *at = sbrk(2 * SIZE);
    CHECK(at != (char *)-1);
    page = (struct page *)(((size_t)at + 4095) & ~(size_t)4095);
    use(page);
    if (!broken)
        CHECK(brk(at) == 0);
}
static void grow_again(int same)
{
    if (!same) {
        CHECK(sbrk(2 * SIZE) != (void *)-1);
        memset(page_of_writer(), 0, sizeof *page);
    }
    use(page_of_writer());
}

static const struct pair pairs[] = {
    {"munmap", NULL, unmap_after_use, map_again, 0}, {"fixed", NULL, map_and_use, map_over, 0},
    {"mremap", NULL, move_away, map_again, 0},       {"shmat", NULL, attach_and_use, attach_again, 0},
    {"sbrk", NULL, grow_break, grow_again, 0},
};
PAIRS_MAIN(pairs)
