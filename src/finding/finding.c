#include "finding/finding.h"

#include "base/str.h"
#include "event/finding_log.h"

#include <stdlib.h>
#include <string.h>

void dh_finding_set(char **field, const char *text)
{
    char *copy = dh_strdup(text);
    free(*field);
    *field = copy;
}

void dh_finding_init(struct dh_finding *f)
{
    *f = (struct dh_finding){.object_thread = DH_NO_THREAD};
    char **fields[] = {&f->id,      &f->detector, &f->variable, &f->type, &f->object,         &f->held,  &f->text,
                       &f->witness, &f->program,  &f->build,    &f->key,  &f->classification, &f->healed};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = dh_strdup("");
}

void dh_finding_stack_release(struct dh_finding_stack *s)
{
    for (size_t i = 0; i < s->frames.n; i++) {
        free(s->frames.at[i].function);
        free(s->frames.at[i].file);
        free(s->frames.at[i].module);
    }
    dh_vec_release(&s->frames);
}

void dh_finding_access_init(struct dh_finding_access *a)
{
    *a = (struct dh_finding_access){.thread = DH_NO_THREAD};
    char **fields[] = {&a->op, &a->site, &a->variable, &a->type, &a->expr, &a->callee, &a->value, &a->object, &a->note};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = dh_strdup("");
}

static void access_release(struct dh_finding_access *a)
{
    for (size_t i = 0; i < a->locks.n; i++) {
        free(a->locks.at[i].name);
        dh_finding_stack_release(&a->locks.at[i].taken);
    }
    dh_vec_release(&a->locks);
    dh_finding_stack_release(&a->stack);
    char *texts[] = {a->op, a->site, a->variable, a->type, a->expr, a->callee, a->value, a->object, a->note};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

void dh_finding_release(struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        access_release(&f->accesses.at[i]);
    dh_vec_release(&f->accesses);
    for (size_t i = 0; i < f->threads.n; i++) {
        free(f->threads.at[i].name);
        free(f->threads.at[i].state);
        dh_finding_stack_release(&f->threads.at[i].created);
    }
    dh_vec_release(&f->threads);
    dh_finding_stack_release(&f->allocated);
    char *texts[] = {f->id,      f->detector, f->variable, f->type, f->object,         f->held,  f->text,
                     f->witness, f->program,  f->build,    f->key,  f->classification, f->healed};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    *f = (struct dh_finding){0};
}

bool dh_finding_is_foreign(const struct dh_finding_frame *f)
{
    return dh_starts_with(f->file, "/usr/");
}

bool dh_finding_takes_lock(const struct dh_finding_access *a)
{
    uint32_t role = dh_log_role_of_op(a->op);
    return role == DH_ROLE_LOCK || role == DH_ROLE_RDLOCK || role == DH_ROLE_LOCK_WAIT || role == DH_ROLE_RDLOCK_WAIT;
}

const struct dh_finding_thread *dh_finding_thread(const struct dh_finding *f, uint32_t index)
{
    for (size_t i = 0; i < f->threads.n; i++)
        if (f->threads.at[i].index == index)
            return &f->threads.at[i];
    return NULL;
}
