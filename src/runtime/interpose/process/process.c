/* The process's own ends and means: handlers at exit run after they were registered, by whichever thread; libraries
 * that are unloaded leave nothing behind. fork is seen through libc's own handlers (start.c), which _Fork does not
 * call; vfork and exec are left alone, and what longjmp leaves is found by the shadow stack. */
#include "event/file_identity.h"
#include "runtime/core/start.h"
#include "runtime/interpose/interpose.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <link.h>
#include <sys/stat.h>

/* ---- handlers at exit ---- */

struct at_exit {
    union {
        void (*plain)(void *);
        void (*with_status)(int, void *);
    } function;
    void *argument;
};

static struct at_exit take(struct at_exit *r)
{
    struct at_exit taken = *r;
    dh_sync_acquire(r, DH_SYNC_OTHER);
    dh_sync_forget(r, DH_SYNC_OTHER);
    dh_free(r, sizeof *r);
    return taken;
}

static void __dh_run_plain(void *memory)
{
    struct at_exit r = take(memory);
    r.function.plain(r.argument);
}

static void __dh_run_with_status(int status, void *memory)
{
    struct at_exit r = take(memory);
    r.function.with_status(status, r.argument);
}

/* What is registered instead, an argument of a function of ours; NULL when there is no memory. */
static struct at_exit *note(void *argument)
{
    struct at_exit *r = dh_alloc(sizeof *r);
    if (!r)
        return NULL;
    r->argument = argument;
    dh_sync_forget(r, DH_SYNC_OTHER);
    dh_sync_release(r, DH_SYNC_OTHER);
    return r;
}

static int noted(struct at_exit *r, int result)
{
    if (result != 0)
        dh_free(r, sizeof *r);
    return result;
}

/* atexit is part of every program and library, and calls this one. */
static int dh_interposed___cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    dh_interpose_ready();
    struct at_exit *r = note(argument);
    if (!r)
        return dh_real.__cxa_atexit(function, argument, dso);
    r->function.plain = function;
    return noted(r, dh_real.__cxa_atexit(__dh_run_plain, r, dso));
}
DH_INTERPOSE(__cxa_atexit);

static int dh_interposed_on_exit(void (*function)(int, void *), void *argument)
{
    dh_interpose_ready();
    struct at_exit *r = note(argument);
    if (!r)
        return dh_real.on_exit(function, argument);
    r->function.with_status = function;
    return noted(r, dh_real.on_exit(__dh_run_with_status, r));
}
DH_INTERPOSE(on_exit);

/* at_quick_exit hands its functions nothing, so all registrations come before the first run. */
static char quick_exits;

static int dh_interposed___cxa_at_quick_exit(void (*function)(void *), void *dso)
{
    dh_interpose_ready();
    dh_sync_release_join(&quick_exits, DH_SYNC_OTHER);
    return dh_real.__cxa_at_quick_exit(function, dso);
}
DH_INTERPOSE(__cxa_at_quick_exit);

static void dh_interposed_quick_exit(int status)
{
    dh_interpose_ready();
    dh_sync_acquire(&quick_exits, DH_SYNC_OTHER);
    dh_real.quick_exit(status);
}
DH_INTERPOSE(quick_exit);

/* ---- libraries ---- */

/* Opening a library that is there already happens after its constructors. */
static char loader;
extern const char __executable_start[], etext[];

static void *open_ordered(const char *path, int flags)
{
    void *handle = dh_real.dlopen(path, flags);
    dh_sync_acquire_release(&loader, DH_SYNC_OTHER);
    return handle;
}

static bool names_folder(const char *path)
{
    while (path && *path && *path != '/')
        path++;
    return path && *path;
}

/* The tool laid the variants of libraries out by identity; what is opened by a name without a folder is found
 * through LD_LIBRARY_PATH. */
static const char *variant_of(const char *path)
{
    struct stat s;
    char link[DH_PRINT_BUFFER];
    if (!dh_process.libraries || !names_folder(path) || dh_syscall3(SYS_stat, (long)path, (long)&s, 0) != 0)
        return path;
    struct dh_file_identity id = dh_file_identity_of(&s);
    dh_print_text(link, sizeof link, "%s/" DH_FILE_IDENTITY_FORMAT, dh_process.libraries, id.inode, id.stamp);
    if (dh_syscall3(SYS_stat, (long)link, (long)&s, 0) != 0)
        return path;
    const char *variant = dh_alloc_text(link);
    return variant ? variant : path;
}

/* libc looks where the call comes from, to search as that module wishes. From the executable it may come from here;
 * from anywhere else it must be the caller's own. */
__attribute__((used)) static void *way_to_open(uintptr_t caller, const char **path)
{
    dh_interpose_ready();
    *path = variant_of(*path);
    bool ours = caller >= (uintptr_t)__executable_start && caller < (uintptr_t)etext;
    return ours ? (void *)open_ordered : (void *)dh_real.dlopen;
}

__attribute__((naked)) static void *dh_interposed_dlopen(__attribute__((unused)) const char *path,
                                                         __attribute__((unused)) int flags)
{
    __asm__("push %rdi\n"
            "push %rsi\n"
            "mov 16(%rsp), %rdi\n"
            "lea 8(%rsp), %rsi\n"
            "sub $8, %rsp\n"
            "call way_to_open\n"
            "add $8, %rsp\n"
            "pop %rsi\n"
            "pop %rdi\n"
            "jmp *%rax\n");
}
DH_INTERPOSE(dlopen);

#define MOST_LIBRARIES 512

struct libraries {
    size_t n;
    struct {
        uintptr_t start, end;
    } at[MOST_LIBRARIES];
};

static int add_library(struct dl_phdr_info *info, size_t size, void *memory)
{
    struct libraries *l = memory;
    (void)size;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        start = at < start ? at : start;
        end = at + p->p_memsz > end ? at + p->p_memsz : end;
    }
    if (start < end && l->n < MOST_LIBRARIES) {
        l->at[l->n].start = start;
        l->at[l->n++].end = end;
    }
    return l->n == MOST_LIBRARIES;
}

static bool holds(const struct libraries *l, uintptr_t start)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].start == start)
            return true;
    return false;
}

static void forget_missing(const struct libraries *before, const struct libraries *after)
{
    for (size_t i = 0; i < before->n; i++)
        if (!holds(after, before->at[i].start))
            dh_memory_unmapped((void *)before->at[i].start, before->at[i].end - before->at[i].start);
}

static int dh_interposed_dlclose(void *handle)
{
    dh_interpose_ready();
    struct libraries *lists = dh_alloc(2 * sizeof *lists);
    if (!lists)
        return dh_real.dlclose(handle);
    lists[0].n = lists[1].n = 0;
    dl_iterate_phdr(add_library, &lists[0]);
    int result = dh_real.dlclose(handle);
    dl_iterate_phdr(add_library, &lists[1]);
    forget_missing(&lists[0], &lists[1]);
    dh_free(lists, 2 * sizeof *lists);
    return result;
}
DH_INTERPOSE(dlclose);

/* ---- children ---- */

static pid_t dh_interposed__Fork(void)
{
    dh_interpose_ready();
    pid_t child = dh_real._Fork();
    if (child == 0 && dh_process.started)
        dh_process_forked();
    return child;
}
DH_INTERPOSE(_Fork);
