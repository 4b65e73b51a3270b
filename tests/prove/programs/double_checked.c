/* Double-checked locking of an ordinary pointer: the first look is not synchronised with the write.
 * Expected: race on `instance` at `look` and `publish`. */
#include "threads.h"

#include <stdatomic.h>

struct logger {
    int level;
};

#ifdef FIXED
static struct logger *_Atomic instance;
#else
static struct logger *instance;
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct logger *get(void)
{
    static struct logger only;
    if (!instance) { /* look */
        pthread_mutex_lock(&lock);
        if (!instance) {
            only.level = 3;
            instance = &only; /* publish */
        }
        pthread_mutex_unlock(&lock);
    }
    return &only;
}

static void *user(void *arg)
{
    get();
    return arg;
}

int main(void)
{
    RUN(user, user);
    return 0;
}
