/* Turns that the detector does not see: nothing here orders what the threads do. */
#include <sched.h>

static int turn;

static inline void give_turn(int to)
{
    __asm__ volatile("movl %1, %0" : "=m"(turn) : "r"(to));
}

static inline void await_turn(int mine)
{
    int now;
    for (;;) {
        __asm__ volatile("movl %1, %0" : "=r"(now) : "m"(turn));
        if (now >= mine)
            return;
        sched_yield();
    }
}
