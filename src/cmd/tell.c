#include "cmd/tell.h"

#include "finding/log_import.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dh_teller_init(struct dh_teller *t, const char *suppressions, bool quiet)
{
    struct dh_err ignored = {0};
    *t = (struct dh_teller){.quiet = quiet};
    if (suppressions)
        dh_suppressions_read(&t->suppressions, suppressions, &ignored);
    dh_err_release(&ignored);
}

static void forget(struct dh_told_later *l)
{
    free(l->id);
    free(l->text);
    *l = (struct dh_told_later){0};
}

void dh_teller_release(struct dh_teller *t)
{
    for (size_t i = 0; i < t->later.n; i++)
        forget(&t->later.at[i]);
    dh_vec_release(&t->later);
    dh_suppressions_release(&t->suppressions);
}

/* With one call, so that it does not mix with what the program prints. */
static void print(const char *text)
{
    size_t n = strlen(text);
    for (size_t done = 0; done < n;) {
        ssize_t k = write(STDERR_FILENO, text + done, n - done);
        if (k <= 0)
            break;
        done += (size_t)k;
    }
}

static bool is_suspected(const struct dh_finding *f)
{
    return strcmp(f->level, "suspected") == 0;
}

/* Told at that level, or now about to be. */
static void drop(void *arg, const struct dh_finding *f)
{
    struct dh_teller *t = arg;
    for (size_t i = 0; i < t->later.n; i++) {
        struct dh_told_later *l = &t->later.at[i];
        if (l->id && strcmp(l->id, f->id) == 0 && (!l->observed || !is_suspected(f)))
            forget(l);
    }
}

/* Kinds that detectors inside the program tell, too. */
static bool may_be_told_inside(const struct dh_finding *f)
{
    static const char *const kinds[] = {"race",        "atomicity",  "deadlock", "critical-wait", "indefinite-wait",
                                        "lost-wakeup", "lock-misuse"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(f->kind, kinds[i]) == 0)
            return true;
    return false;
}

static void tell(struct dh_teller *t, const struct dh_finding *f)
{
    struct dh_str out = {0};
    dh_text_finding(&out, f);
    drop(t, f);
    if (t->waits && may_be_told_inside(f)) {
        struct dh_told_later l = {dh_strdup(f->id), dh_str_take(&out), !is_suspected(f)};
        dh_vec_push(&t->later, l);
        return;
    }
    print(out.at);
    dh_str_release(&out);
}

static bool found(void *arg, const struct dh_finding *f)
{
    struct dh_teller *t = arg;
    if (dh_suppressions_find(&t->suppressions, f)) {
        t->suppressed++;
        return false;
    }
    if (!t->quiet)
        tell(t, f);
    return true;
}

struct dh_finding_sink dh_teller_sink(struct dh_teller *t)
{
    return (struct dh_finding_sink){found, t};
}

void dh_teller_finish(struct dh_teller *t, const char *log_prefix)
{
    if (t->later.n && log_prefix)
        dh_logs_each_finding(log_prefix, DH_TELLER_SUFFIX, drop, t);
    for (size_t i = 0; i < t->later.n; i++)
        if (t->later.at[i].text)
            print(t->later.at[i].text);
}
