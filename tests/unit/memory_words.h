/* A few words as the memory of a model, for tests that call it by hand. */
#ifndef DH_TESTS_MEMORY_WORDS_H
#define DH_TESTS_MEMORY_WORDS_H

#include "memory/model.h"

#include <stdlib.h>
#include <string.h>

static uint64_t words[8]; /* addresses from 0 on */

static void *words_allocate(struct dh_memory *m, size_t size)
{
    (void)m;
    return calloc(1, size); /* for the life of the test */
}

static uint64_t words_peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    (void)m;
    memcpy(&value, (char *)words + address, size);
    return value;
}

static void words_poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    (void)m;
    memcpy((char *)words + address, &value, size);
}

static inline struct dh_memory words_memory(uint32_t threads)
{
    memset(words, 0, sizeof words);
    return (struct dh_memory){.threads = threads, .memory = words_allocate, .peek = words_peek, .poke = words_poke};
}

#endif
