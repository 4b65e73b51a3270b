// Every kind of annotation that is read, for the fuzz target `annotation`.
#include <pthread.h>

struct base {
    pthread_mutex_t inherited;
};

struct account : base {
    pthread_mutex_t lock, *far;
    int balance __attribute__((annotate("deadheat.guarded_by:lock")));
    int *history __attribute__((annotate("deadheat.pt_guarded_by:far")));
    void deposit(int n) __attribute__((annotate("deadheat.requires:lock")));
};

pthread_mutex_t global_lock;
int total __attribute__((annotate("deadheat.guarded_by:global_lock")));

void account::deposit(int n)
{
    balance += n;
    history[0] = n;
    total += n;
}

extern "C" __attribute__((annotate("deadheat.requires:a->lock"))) int look(account *a)
{
    return a->balance + total;
}

extern "C" __attribute__((annotate("deadheat.no_sanitize", "thread"))) void unchecked(account *a)
{
    a->balance = 0;
    a->deposit(1);
}
