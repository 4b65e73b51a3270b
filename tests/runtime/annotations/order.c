/* Order that the source tells: one thread publishes, the other takes over. Broken: through another object, or only half
 * said. */
#include "case.h"

#include <deadheat/annotate_abi.h>

static char here, there;

static void write_then_release(void)
{
    shared = 1;
    __tsan_release(&here);
}
static void acquire_then_write(void)
{
    __tsan_acquire(broken ? &there : &here);
    shared = 2;
}

static void write_then_before(void)
{
    shared = 1;
    AnnotateHappensBefore(__FILE__, __LINE__, &here);
}
static void after_then_write(void)
{
    if (!broken)
        AnnotateHappensAfter(__FILE__, __LINE__, &here);
    shared = 2;
}

static void write_then_wtf(void)
{
    if (broken)
        WTFAnnotateHappensBefore(__FILE__, __LINE__, &here);
    shared = 1;
    if (!broken)
        WTFAnnotateHappensBefore(__FILE__, __LINE__, &here);
}
static void wtf_then_write(void)
{
    WTFAnnotateHappensAfter(__FILE__, __LINE__, &here);
    shared = 2;
}

/* What is ignored orders nothing. */
static void write_then_unlock(void)
{
    shared = 1;
    if (broken)
        AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    __tsan_release(&here);
    if (broken)
        AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}
static void take_and_write(void)
{
    __tsan_acquire(&here);
    shared = 2;
}

/* Memory that begins anew: what was before is another object's. */
static void write_old(void)
{
    shared = 1;
}
static void write_new(void)
{
    if (!broken)
        AnnotateNewMemory(__FILE__, __LINE__, &shared, sizeof shared);
    shared = 2;
}

static const struct test all[] = {
    {"acquire_release", RACE, nothing, write_then_release, acquire_then_write},
    {"happens_before", RACE, nothing, write_then_before, after_then_write},
    {"wtf", RACE, nothing, write_then_wtf, wtf_then_write},
    {"ignore_sync", RACE, nothing, write_then_unlock, take_and_write},
    {"new_memory", RACE, nothing, write_old, write_new},
};
CASES(all)
