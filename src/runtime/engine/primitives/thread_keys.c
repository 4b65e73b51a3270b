#include "runtime/engine/primitives/thread_keys.h"

#include "runtime/interpose/interpose.h"

#include <limits.h>

static void (*destructors[PTHREAD_KEYS_MAX])(void *);
static pthread_key_t above; /* all keys with a destructor */

void dh_thread_keys_register(pthread_key_t key, void (*destructor)(void *))
{
    if (key >= PTHREAD_KEYS_MAX)
        return;
    destructors[key] = destructor;
    if (destructor && key >= above)
        above = key + 1;
}

#define CREATES(type, name)                                                                                            \
    static int dh_interposed_##name(type *key, void (*destructor)(void *))                                             \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int result = dh_real.name(key, destructor);                                                                    \
        if (result == 0)                                                                                               \
            dh_thread_keys_register(*key, destructor);                                                                 \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

CREATES(pthread_key_t, pthread_key_create)
CREATES(pthread_key_t, __pthread_key_create)
CREATES(tss_t, tss_create)

static int dh_interposed_pthread_key_delete(pthread_key_t key)
{
    dh_interpose_ready();
    if (key < PTHREAD_KEYS_MAX)
        destructors[key] = NULL;
    return dh_real.pthread_key_delete(key);
}
DH_INTERPOSE(pthread_key_delete);

static void dh_interposed_tss_delete(tss_t key)
{
    dh_interpose_ready();
    if (key < PTHREAD_KEYS_MAX)
        destructors[key] = NULL;
    dh_real.tss_delete(key);
}
DH_INTERPOSE(tss_delete);

/* False: there was nothing to destroy. */
static bool run_destructors(void)
{
    bool any = false;
    for (pthread_key_t key = 0; key < above; key++) {
        void (*destructor)(void *) = destructors[key];
        void *value = destructor ? pthread_getspecific(key) : NULL;
        if (!value)
            continue;
        pthread_setspecific(key, NULL);
        destructor(value);
        any = true;
    }
    return any;
}

void dh_thread_keys_destroy_values(void)
{
    for (unsigned i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && run_destructors(); i++)
        ;
}
