/* The empty healing policy of programs without one. In a file of its own, as core/defaults.c. */
#include "runtime/heal/heal.h"

__attribute__((weak)) const char __dh_heal_policy[] = "";
__attribute__((weak)) const uint64_t __dh_heal_per_object = 0;
