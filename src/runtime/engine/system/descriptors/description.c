#include "runtime/engine/system/descriptors/description.h"

#include "runtime/engine/restore/undo.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/descriptors/take_over.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

enum { NUMBERS = 1 << 16, OWN_DESCRIPTORS = 700, SMALLEST = 64, CLASSES = 4, GUARD = DH_ENGINE_PAGE };
#define ARENA ((size_t)256 << 20)

/* Lies at the beginning of its own mapping, which guards keep apart from KEEP memory. */
static struct models {
    struct dh_description *of[NUMBERS];
    struct block {
        struct block *next;
    } *free[CLASSES];
    char *next, *end;
    long placeholder;
} *models;

bool dh_descriptions_init(void)
{
    char *at = dh_sys_mmap(ARENA + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!at || dh_kernel_call(SYS_mprotect, (long)(at + GUARD), ARENA, PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
        return false;
    models = (struct models *)(at + GUARD);
    models->next = (char *)models + ((sizeof *models + DH_MODEL_BLOCK - 1) & ~(size_t)(DH_MODEL_BLOCK - 1));
    models->end = (char *)models + ARENA;
    models->placeholder = -1;
    return true;
}

/* ---- memory ---- */

static unsigned class_of(size_t size, size_t *whole)
{
    unsigned c = 0;
    for (*whole = SMALLEST; *whole < size; *whole *= 4)
        c++;
    return c;
}

static void *block_of(unsigned class, size_t whole)
{
    struct block *b = models->free[class];
    if (b) {
        models->free[class] = b->next;
        return b;
    }
    if (whole > (size_t)(models->end - models->next))
        dh_engine_cannot("more data in pipes and sockets than there is room for");
    models->next += whole;
    return models->next - whole;
}

void *dh_model_alloc(size_t size)
{
    size_t whole;
    unsigned c = class_of(size, &whole);
    void *at = block_of(c, whole);
    dh_bytes_zero(at, size);
    return at;
}

void dh_model_free(void *at, size_t size)
{
    size_t whole;
    unsigned c = class_of(size, &whole);
    struct block *b = at;
    b->next = models->free[c];
    models->free[c] = b;
}

/* ---- numbers ---- */

static bool is_number(long fd)
{
    return fd >= 0 && fd < NUMBERS;
}

struct dh_description *dh_description_of(long fd)
{
    return is_number(fd) ? models->of[fd] : NULL;
}

void dh_description_keep(struct dh_description *d)
{
    d->references++;
}

void dh_description_drop(struct dh_description *d)
{
    if (--d->references)
        return;
    dh_epoll_forget(d);
    if (d->ops->release)
        d->ops->release(d);
    dh_model_free(d, sizeof *d);
}

bool dh_description_forget(long fd)
{
    struct dh_description *d = dh_description_of(fd);
    if (!d)
        return false;
    dh_io_hold(fd, d);
    models->of[fd] = NULL;
    dh_description_drop(d);
    return true;
}

long dh_description_close(long fd)
{
    dh_description_forget(fd);
    return dh_files_close(SYS_close, (const long[6]){fd});
}

void dh_description_refer(long fd, struct dh_description *d)
{
    if (!is_number(fd))
        dh_engine_cannot("descriptor %d is higher than is known", (int)fd);
    dh_description_keep(d);
    dh_description_forget(fd);
    models->of[fd] = d;
}

struct dh_description *dh_description_take_over(long fd, const struct dh_description_ops *ops, void *state,
                                                unsigned flags)
{
    struct dh_description *d = dh_model_alloc(sizeof *d);
    *d = (struct dh_description){.ops = ops, .state = state, .flags = flags, .object = d};
    dh_description_refer(fd, d);
    return d;
}

/* ---- placeholders ---- */

/* Nothing can be done with it, and nothing happens when it is inherited. */
static long placeholder(void)
{
    if (models->placeholder >= 0)
        return models->placeholder;
    long fd = dh_kernel_call(SYS_openat, AT_FDCWD, (long)"/", O_PATH | O_CLOEXEC, 0, 0, 0);
    models->placeholder = dh_kernel_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS, 0, 0, 0);
    dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return models->placeholder;
}

long dh_description_open(const struct dh_description_ops *ops, void *state, unsigned flags, bool close_on_exec,
                         struct dh_description **out)
{
    long fd = dh_files_log_new(
        dh_kernel_call(SYS_fcntl, placeholder(), close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0, 0, 0, 0));
    if (fd < 0)
        return fd;
    struct dh_description *d = dh_description_take_over(fd, ops, state, flags);
    dh_io_executed_on((int)fd);
    if (out)
        *out = d;
    return fd;
}

long dh_description_duplicate(long fd, long at, long least, bool close_on_exec)
{
    long how = close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, result;
    if (at == fd)
        return fd;
    if (at < 0)
        result = dh_files_log_new(dh_kernel_call(SYS_fcntl, placeholder(), how, least, 0, 0, 0));
    else
        result = dh_files_put_at(placeholder(), at, close_on_exec);
    if (result < 0)
        return result;
    dh_description_refer(result, dh_description_of(fd));
    dh_io_executed_on((int)result);
    return result;
}

void dh_descriptions_begin(void)
{
    placeholder();
    dh_take_over_descriptors();
}
