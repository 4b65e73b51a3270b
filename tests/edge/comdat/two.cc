#include "shared.h"

static int value = 66;
Base *make()
{
    Registry<int>::count++;
    Registry<int>::head = &value;
    return new Made<5>;
}
int *address_of_counter()
{
    return &counter;
}
int *address_of_local()
{
    return &local();
}
int bump()
{
    return counter++ + local()++;
}
