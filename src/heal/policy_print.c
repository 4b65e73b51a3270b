/* A draft as the text of a policy, with the reasons beside it. */
#include "heal/policy.h"

#include <string.h>

static void put_word(struct dh_str *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:#-+*<>()[]~&=";
    static const char *const clauses[] = {"vars", "entry", "end", "exit"};
    bool bare = *word && *word != '#' && !word[strspn(word, plain)];
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        bare = bare && strcmp(word, clauses[i]) != 0;
    if (bare) {
        dh_str_add(out, word);
        return;
    }
    dh_str_add(out, "\"");
    for (; *word; word++)
        dh_str_addf(out, *word == '"' || *word == '\\' ? "\\%c" : "%c", *word);
    dh_str_add(out, "\"");
}

static void put_clause(struct dh_str *out, const char *clause, const char *word, const char *more)
{
    dh_str_addf(out, "    %s ", clause);
    put_word(out, word);
    dh_str_addf(out, "%s;\n", more);
}

static void put_section(struct dh_str *out, const struct dh_draft *d, const struct dh_draft_section *s)
{
    const struct dh_draft_group *g = &d->groups.at[s->group];
    dh_str_addf(out, "# %s\nsection %s {\n    vars ", s->why, s->name);
    for (size_t i = 0; i < g->variables.n; i++) {
        dh_str_add(out, i ? ", " : "");
        put_word(out, g->variables.at[i]);
    }
    dh_str_add(out, ";\n");
    put_clause(out, "entry", s->entry, "");
    for (size_t i = 0; i < s->ends.n; i++)
        put_clause(out, "end", s->ends.at[i], i < 64 && s->reads_pass >> i & 1 ? " allow R" : "");
    for (size_t i = 0; i < s->exits.n; i++)
        put_clause(out, "exit", s->exits.at[i], "");
    dh_str_add(out, "}\n");
}

static void put_group(struct dh_str *out, const struct dh_draft *d, size_t group)
{
    static const char *const means[] = {
        [DH_HEAL_LOCK] = "lock", [DH_HEAL_SCHEDULE] = "schedule", [DH_HEAL_ORDER] = "order"};
    const struct dh_draft_group *g = &d->groups.at[group];
    bool any = false;
    for (size_t i = 0; i < d->sections.n; i++)
        any |= d->sections.at[i].group == group;
    if (!any)
        return;
    dh_str_addf(out, "\n# ---- %s:", g->name);
    for (size_t i = 0; i < g->variables.n; i++)
        dh_str_addf(out, " %s", g->variables.at[i]);
    dh_str_add(out, " ----\n");
    if (g->weaker[0])
        dh_str_addf(out, "# by %s, because with a lock %s\n", means[g->means], g->weaker);
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            put_section(out, d, &d->sections.at[i]);
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group)
            dh_str_addf(out, "heal %s by %s group %s%s%s;\n", d->sections.at[i].name, means[g->means], g->name,
                        d->sections.at[i].because[0] ? " because " : "", d->sections.at[i].because);
}

char *dh_draft_print(const struct dh_draft *d, const char *program)
{
    struct dh_str out = {0};
    dh_str_addf(&out, "# Healing of %s, written by 'deadheat heal'. Review it; docs/healing.md says what it means.\n",
                program);
    for (size_t i = 0; i < d->rest.n; i++)
        dh_str_addf(&out, "# %.8s is not healed: %s\n", d->rest.at[i].id, d->rest.at[i].why);
    for (size_t g = 0; g < d->groups.n; g++)
        put_group(&out, d, g);
    return dh_str_take(&out);
}
