/* Commands: run once, with all they do to the world; the same command in a later schedule answers the same. */
#include "runtime/engine/primitives.h"

#include "runtime/engine/syscalls.h"
#include "runtime/real.h"

enum { COMMANDS = 256 };

static struct answers {
    struct answer {
        uint64_t command; /* hash of the text, and how often it was given in the schedule */
        int status;
    } at[COMMANDS];
    unsigned n;
} *answers;

bool dh_children_init(void)
{
    answers = dh_keep_alloc(sizeof *answers);
    return answers;
}

static uint64_t key_of(const char *command)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *command; command++)
        hash = (hash ^ (unsigned char)*command) * 0x100000001b3u;
    return hash + dh_engine->commands;
}

static const struct answer *find(uint64_t key)
{
    for (unsigned i = 0; i < answers->n; i++)
        if (answers->at[i].command == key)
            return &answers->at[i];
    return NULL;
}

static int run(const char *command)
{
    bool before = dh_syscalls_allow(true);
    int status = dh_real.system(command);
    dh_syscalls_allow(before);
    return status;
}

int dh_engine_system(const char *command)
{
    if (!command || dh_engine->carrier->is_kernel)
        return run(command);
    dh_engine_at(DH_STEP_IO, 0, NULL, NULL, NULL);
    uint64_t key = key_of(command);
    dh_engine->commands++;
    const struct answer *known = find(key);
    if (known)
        return known->status;
    int status = run(command);
    if (answers->n < COMMANDS)
        answers->at[answers->n++] = (struct answer){key, status};
    return status;
}
