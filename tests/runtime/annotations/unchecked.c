/* Functions that ask not to be checked: their accesses are no race, their atomics still order, and what they call is
 * checked, with them in the stack. */
#include "case.h"

#include <stdatomic.h>

#if !__has_attribute(no_sanitize) || !__has_attribute(no_sanitize_thread)
#error "clang has both"
#endif

__attribute__((no_sanitize("thread"))) static void write_unchecked(void)
{
    shared++;
}
__attribute__((no_sanitize_thread)) static void write_unchecked_gcc(void)
{
    shared++;
}
__attribute__((no_sanitize("address", "thread"))) static void write_unchecked_both(void)
{
    shared++;
}
__attribute__((__no_sanitize__("thread"))) static void write_unchecked_reserved(void)
{
    shared++;
}
__attribute__((__no_sanitize_thread__)) static void write_unchecked_gcc_reserved(void)
{
    shared++;
}
[[gnu::no_sanitize_thread]] static void write_unchecked_gnu(void)
{
    shared++;
}
[[clang::no_sanitize("thread")]] static void write_unchecked_brackets(void)
{
    shared++;
}
__attribute__((no_sanitize("all"))) static void write_unchecked_all(void)
{
    shared++;
}
__attribute__((no_sanitize("address"))) static void write_checked(void)
{
    shared++;
}

#define WRITES(name)                                                                                                   \
    static void act_##name(void)                                                                                       \
    {                                                                                                                  \
        if (broken)                                                                                                    \
            write_checked();                                                                                           \
        else                                                                                                           \
            write_##name();                                                                                            \
    }
WRITES(unchecked)
WRITES(unchecked_gcc)
WRITES(unchecked_both)
WRITES(unchecked_reserved)
WRITES(unchecked_gcc_reserved)
WRITES(unchecked_gnu)
WRITES(unchecked_brackets)
WRITES(unchecked_all)

static atomic_int flag;
__attribute__((no_sanitize("thread"), noinline)) static void publish(void)
{
    if (!broken)
        atomic_store_explicit(&flag, 1, memory_order_release);
}
static void write_and_publish(void)
{
    shared = 1;
    publish();
}
__attribute__((no_sanitize("thread"), noinline)) static int see(void)
{
    return atomic_load_explicit(&flag, memory_order_acquire);
}
static void see_and_write(void)
{
    see();
    shared = 2;
}

__attribute__((noinline)) static void called(void)
{
    if (broken)
        shared++;
}
__attribute__((no_sanitize("thread"), noinline)) static void calls(void)
{
    called();
    shared++;
}

static const struct test all[] = {
    {"clang", RACE, nothing, act_unchecked, act_unchecked},
    {"gcc", RACE, nothing, act_unchecked_gcc, act_unchecked_gcc},
    {"both", RACE, nothing, act_unchecked_both, act_unchecked_both},
    {"reserved", RACE, nothing, act_unchecked_reserved, act_unchecked_reserved},
    {"gcc-reserved", RACE, nothing, act_unchecked_gcc_reserved, act_unchecked_gcc_reserved},
    {"gnu-brackets", RACE, nothing, act_unchecked_gnu, act_unchecked_gnu},
    {"brackets", RACE, nothing, act_unchecked_brackets, act_unchecked_brackets},
    {"all", RACE, nothing, act_unchecked_all, act_unchecked_all},
    {"atomics", RACE, nothing, write_and_publish, see_and_write},
    {"frames", "#1 calls .*unchecked.c", nothing, calls, calls},
};
CASES(all)
