/* A page is sealed against writing when its writer says that it is done; it says so before its last write.
 * Expected: crash. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/mman.h>

static char *page;
static atomic_int done;

static void *writer(void *arg)
{
#ifdef FIXED
    page[1] = 1;
    done = 1;
#else
    done = 1;
    page[1] = 1;
#endif
    return arg;
}

static void *sealer(void *arg)
{
    if (done)
        assert(mprotect(page, 4096, PROT_READ) == 0);
    return arg;
}

int main(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RUN(writer, sealer);
    return 0;
}
