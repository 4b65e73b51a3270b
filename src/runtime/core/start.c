#include "runtime/core/start.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/threads.h"
#include "runtime/core/variant.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/environment.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <limits.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#define UNLIMITED_STACK ((size_t)1 << 30)

struct dh_process dh_process;

extern void *__libc_stack_end;
/* What pthread_atfork calls; that is not a function of the shared libc itself. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

/* The tool adds to LD_LIBRARY_PATH so that a variant finds its libraries; the program and its children are to
 * see the user's own. The array is changed in place: nobody has read it yet. */
static void restore_library_path(char **envp)
{
    static const char saved[] = "DEADHEAT_RESTORE_LD_LIBRARY_PATH=", path[] = "LD_LIBRARY_PATH=";
    char **from = dh_environment_slot(envp, saved);
    if (!from)
        return;
    const char *value = dh_text_after(*from, saved);
    char *restored = *value ? dh_alloc_joined(path, value) : NULL;
    dh_environment_remove(dh_environment_slot(envp, path));
    from = dh_environment_slot(envp, saved);
    if (restored)
        *from = restored;
    else
        dh_environment_remove(from);
}

/* Without /proc: what the kernel was asked to execute, made absolute. */
static const char *executable_path(void)
{
    static char path[PATH_MAX];
    long n = dh_sys_readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0) {
        path[n] = 0;
        return path;
    }
    const char *asked = (const char *)getauxval(AT_EXECFN);
    if (!asked || asked[0] == '/')
        return asked;
    n = dh_sys_getcwd(path, sizeof path);
    if (n <= 0 || (size_t)n + dh_text_length(asked) + 1 > sizeof path)
        return asked;
    path[n - 1] = '/';
    dh_text_copy(path + n, sizeof path - (size_t)n, asked);
    return path;
}

void dh_process_forked(void)
{
    dh_process.pid = dh_sys_getpid();
    dh_process.forked = true;
    dh_parts_forked();
}

static size_t main_stack_size(void)
{
    struct rlimit limit;
    long failed = dh_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
    return failed || limit.rlim_cur > UNLIMITED_STACK ? UNLIMITED_STACK : (size_t)limit.rlim_cur;
}

static void say_hello(void)
{
    static const uint8_t none[sizeof __dh_module_id];
    char id[2 * sizeof none + 1];
    for (size_t i = 0; i < sizeof none; i++) {
        id[2 * i] = "0123456789abcdef"[__dh_module_id[i] >> 4];
        id[2 * i + 1] = "0123456789abcdef"[__dh_module_id[i] & 15];
    }
    id[2 * sizeof none] = 0;
    dh_print("deadheat: process %d: %s, variant %s, module %s, %u sites\n", dh_process.pid,
             dh_process.path ? dh_process.path : "?", __dh_variant, id, __dh_site_count);
    if (dh_process.restarted)
        dh_print("deadheat: process %d: started again without address randomisation\n", dh_process.pid);
}

/* `argv` lies on the main stack, above every frame of the program's. */
static void start(int argc, char **argv, char **envp)
{
    /* The dynamic linker, asked for the real functions, may call malloc and so come back here. */
    static bool begun;
    if (begun)
        return;
    begun = true;
    bool trusted = !getauxval(AT_SECURE);
    dh_process.path = executable_path();
    dh_layout_begin(argv, envp, trusted);
    if (trusted) {
        /* `deadheat run` says which program the variant stands for; children are programs of their own. */
        dh_process.original = dh_environment_take(envp, "DEADHEAT_PROGRAM=");
        dh_process.libraries = dh_environment_take(envp, "DEADHEAT_LIBRARIES=");
        restore_library_path(envp);
        dh_variant_become(argc, argv, envp);
        dh_process.engine_region = dh_environment_find(envp, "DEADHEAT_ENGINE=");
        dh_process.stale_region = dh_environment_find(envp, "DEADHEAT_STALE=");
    }
    dh_process.pid = dh_sys_getpid();
    dh_options_read(trusted ? dh_environment_find(envp, "DEADHEAT_OPTIONS=") : NULL);
    dh_threads_init((uintptr_t)argv, main_stack_size());
    dh_real_init();
    dh_threads_watch_ends();
    __register_atfork(NULL, NULL, dh_process_forked, NULL);
    dh_finish_register();
    dh_parts_start();
    dh_process.started = true;
    dh_variant_confess();
    if (dh_options.verbosity >= 1)
        say_hello();
}

/* Other pre-initialisers may come before ours, and libc's `environ` is not set yet then. What the kernel laid on
 * the stack is there: argc, argv, a null, the environment. */
void dh_start_early(void)
{
    if (dh_process.started)
        return;
    uintptr_t *at = __libc_stack_end;
    char **argv = (char **)(at + 1);
    start((int)*at, argv, argv + *at + 1);
}

/* Called by the dynamic linker before any constructor, in the executable only. */
static void before_constructors(int argc, char **argv, char **envp)
{
    if (!dh_process.started)
        start(argc, argv, envp);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_constructors;
