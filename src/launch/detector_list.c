#include "launch/detector_list.h"

#include "base/str.h"
#include "detect/detector.h"

#include <string.h>

static const struct dh_listed_detector inside[] = {
#define DH_IN_PROCESS(name, plan, summary) {name, summary, plan, true},
#include "detect/in_process.def"
#undef DH_IN_PROCESS
};

/* These watch the stream and look inside the program as well; they need no hooks at accesses. */
static const char *const both[] = {"deadlock"};

enum { INSIDE = sizeof inside / sizeof *inside };

static bool is_word(const char *word, const char *at, size_t n)
{
    return strlen(word) == n && strncmp(word, at, n) == 0;
}

static bool is_both(const char *name)
{
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (strcmp(both[i], name) == 0)
            return true;
    return false;
}

static bool is_inside(const char *name)
{
    for (size_t i = 0; i < INSIDE; i++)
        if (strcmp(inside[i].name, name) == 0)
            return true;
    return false;
}

/* Whatever watches the stream watches what the hooks of class lockset record; some need the functions as well. */
static const char *plan_of(const struct dh_detector *d)
{
    if (is_both(d->name))
        return NULL;
    return d->events & DH_EVENTS_SCOPE ? "lockset,scope" : "lockset";
}

const struct dh_listed_detector *dh_detector_list_at(size_t i)
{
    static struct dh_listed_detector watching;
    if (i < INSIDE)
        return &inside[i];
    i -= INSIDE;
    for (size_t k = 0; dh_detector_at(k); k++)
        if (!is_inside(dh_detector_at(k)->name) && i-- == 0) {
            const struct dh_detector *d = dh_detector_at(k);
            watching = (struct dh_listed_detector){d->name, d->summary, plan_of(d), false};
            return &watching;
        }
    return NULL;
}

static const struct dh_listed_detector *find(const char *at, size_t n)
{
    const struct dh_listed_detector *d = NULL;
    for (size_t i = 0; (d = dh_detector_list_at(i)) && !is_word(d->name, at, n);)
        i++;
    return d;
}

static const char *next_word(const char *at)
{
    const char *comma = strchr(at, ',');
    return comma ? comma + 1 : NULL;
}

bool dh_detector_list_check(const char *list, const char **unknown, size_t *n)
{
    if (strcmp(list, "none") == 0)
        return true;
    for (*unknown = list; *unknown; *unknown = next_word(*unknown))
        if (!find(*unknown, *n = strcspn(*unknown, ",")))
            return false;
    return true;
}

static void add_word(struct dh_str *out, const char *word, size_t n, const char *separator)
{
    if (out->n)
        dh_str_add(out, separator);
    dh_str_add_n(out, word, n);
}

static bool has_word(const struct dh_str *list, const char *word, size_t n)
{
    for (const char *at = list->at; at; at = next_word(at))
        if (strcspn(at, ",") == n && strncmp(at, word, n) == 0)
            return true;
    return false;
}

char *dh_detector_list_all(const char *separator)
{
    struct dh_str out = {0};
    const struct dh_listed_detector *d;
    for (size_t i = 0; (d = dh_detector_list_at(i)); i++)
        add_word(&out, d->name, strlen(d->name), separator);
    return dh_str_take(&out);
}

static char *take_or(struct dh_str *s, const char *nothing)
{
    return s->n ? dh_str_take(s) : dh_strdup(nothing);
}

char *dh_detector_list_plan(const char *list)
{
    struct dh_str out = {0};
    for (const char *at = list; at; at = next_word(at)) {
        const struct dh_listed_detector *d = find(at, strcspn(at, ","));
        for (const char *class = d ? d->plan : NULL; class; class = next_word(class))
            if (!has_word(&out, class, strcspn(class, ",")))
                add_word(&out, class, strcspn(class, ","), ",");
    }
    return take_or(&out, "none");
}

static char *of_sort(const char *list, bool in_process, const char *nothing)
{
    struct dh_str out = {0};
    for (const char *at = list; at; at = next_word(at)) {
        const struct dh_listed_detector *d = find(at, strcspn(at, ","));
        bool wanted = d && (d->in_process == in_process || is_both(d->name));
        if (wanted && !has_word(&out, d->name, strlen(d->name)))
            add_word(&out, d->name, strlen(d->name), ",");
    }
    return take_or(&out, nothing);
}

char *dh_detector_list_inside(const char *list)
{
    return of_sort(list, true, "none");
}

char *dh_detector_list_watching(const char *list)
{
    return of_sort(list, false, "");
}
