/* std::max returns one of the two it is given, not a number of its own. finds: race */
#include <algorithm>
#include <cstdio>
#include <pthread.h>

#include "order.h"

static long one = 1, other = 2;

static void *writer(void *)
{
    one = 3;
    other = 4;
    give_turn(1);
    return nullptr;
}

int main()
{
    pthread_t t;
    const long &larger = std::max(one, other);
    pthread_create(&t, nullptr, writer, nullptr);
    await_turn(1);
    long seen = larger;
    pthread_join(t, nullptr);
    std::printf("%ld\n", seen);
    return 0;
}
