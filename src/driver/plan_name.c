#include "driver/plan_name.h"

#include "base/str.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned classes;
} plan_names[] = {{"race", DH_CLASS_RACE},
                  {"lockset", DH_CLASS_LOCKSET},
                  {"view", DH_CLASS_VIEW},
                  {"consistency", DH_CLASS_CONSISTENCY},
                  {"atomrace", DH_CLASS_ATOMRACE},
                  {"engine", DH_CLASS_ENGINE},
                  {"stale", DH_CLASS_STALE},
                  {"heal", DH_CLASS_HEAL},
                  {"scope", DH_CLASS_SCOPE},
                  {"production", DH_CLASS_HEAL | DH_CLASS_PRODUCTION},
                  {"none", 0}};

static const struct {
    const char *name;
    enum dh_degree degree;
} degree_names[] = {{"all", DH_DEGREE_ALL},
                    {"conflict", DH_DEGREE_CONFLICT},
                    {"conflict-self", DH_DEGREE_CONFLICT_SELF},
                    {"optimized", DH_DEGREE_OPTIMIZED}};

static const struct {
    const char *name;
    enum dh_count_mode tally;
} tally_names[] = {{"count-events", DH_COUNT_EVENTS}, {"count-checks", DH_COUNT_CHECKS}};

static bool is_word(const char *name, const char *at, size_t n)
{
    return strlen(name) == n && strncmp(name, at, n) == 0;
}

static bool parse_manner(const char *at, size_t n, struct dh_plan *plan)
{
    if (is_word("no-arrays", at, n))
        return plan->no_arrays = true;
    if (is_word("no-copies", at, n))
        return plan->no_copies = true;
    for (size_t i = 0; i < sizeof degree_names / sizeof *degree_names; i++)
        if (is_word(degree_names[i].name, at, n)) {
            plan->degree = degree_names[i].degree;
            return plan->degree_given = true;
        }
    for (size_t i = 0; i < sizeof tally_names / sizeof *tally_names; i++)
        if (is_word(tally_names[i].name, at, n)) {
            plan->tally = (uint8_t)tally_names[i].tally;
            return true;
        }
    return false;
}

bool dh_plan_names_classes(const char *name)
{
    struct dh_plan ignored;
    for (const char *at = name; at; at = at[strcspn(at, ",")] ? at + strcspn(at, ",") + 1 : NULL)
        if (!parse_manner(at, strcspn(at, ","), &ignored))
            return true;
    return false;
}

static bool complain(const char *at, size_t n, struct dh_err *err)
{
    struct dh_str known = {0};
    for (size_t i = 0; i < sizeof plan_names / sizeof *plan_names; i++)
        dh_str_addf(&known, "%s%s", i ? ", " : "", plan_names[i].name);
    for (size_t i = 0; i < sizeof degree_names / sizeof *degree_names; i++)
        dh_str_addf(&known, ", %s", degree_names[i].name);
    dh_err_set(err, "no plan '%.*s'; there are: %s, no-arrays, no-copies, count-events, count-checks", (int)n, at,
               known.at);
    dh_str_release(&known);
    return false;
}

bool dh_plan_parse(const char *name, struct dh_plan *plan, struct dh_err *err)
{
    *plan = (struct dh_plan){0};
    for (const char *at = name; at;) {
        size_t whole = strcspn(at, ","), n = strcspn(at, ",@"), i = 0, rows = sizeof plan_names / sizeof *plan_names;
        while (i < rows && !is_word(plan_names[i].name, at, n))
            i++;
        if (i < rows)
            plan->everywhere |= plan_names[i].classes;
        else if (!parse_manner(at, n, plan))
            return complain(at, n, err);
        at = at[whole] ? at + whole + 1 : NULL;
    }
    return true;
}
