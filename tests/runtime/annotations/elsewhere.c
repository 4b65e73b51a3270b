/* Every macro of annotate.h in a program that deadheat does not build. */
#include <deadheat/annotate.h>

struct account {
    int lock;
    int balance DEADHEAT_GUARDED_BY(lock);
    int limit DEADHEAT_ATOMIC_SET(account);
};

DEADHEAT_NO_CHECK void use(struct account *a);
void use(struct account *a)
{
    DEADHEAT_ACQUIRING(&a->lock);
    DEADHEAT_ACQUIRED(&a->lock);
    DEADHEAT_ACQUIRED_SHARED(&a->lock);
    DEADHEAT_NOT_ACQUIRED(&a->lock);
    DEADHEAT_ASSERT_HELD(&a->lock);
    a->balance++;
    DEADHEAT_RELEASING(&a->lock);
    DEADHEAT_RELEASED(&a->lock);
    DEADHEAT_INTENDED_RACE(&a->limit, sizeof a->limit, "why not");
    DEADHEAT_TRANSFER(a, sizeof *a);
    DEADHEAT_ACCEPT(a, sizeof *a);
}
