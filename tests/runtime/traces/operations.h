/* What a trace is made of: the operations are instrumented, the interpreter that calls them is not. */
#ifndef DH_TESTS_TRACES_OPERATIONS_H
#define DH_TESTS_TRACES_OPERATIONS_H

#include <stdint.h>

/* `at` is what it works on, `other` what it reads or compares with besides; value: what to write, or how many bytes. */
struct operation {
    const char *name;
    uint64_t (*run)(char *at, char *other, uint64_t value);
};
extern const struct operation operations[];
extern const unsigned n_operations;
extern char global_arena[];

/* Of the interpreter, unseen by the detector. */
void *interpret_thread(void *thread);
void keep_block(void *block);
void pass_turn(void);
void say_signalled(void);
int is_signalled(void);

#endif
