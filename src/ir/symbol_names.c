#include "ir/symbol_names.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One length-prefixed identifier; NULL when there is none. */
static const char *take_identifier(struct dh_arena *a, const char **at)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return NULL;
    unsigned long n = strtoul(*at, &end, 10);
    if (!n || n > strlen(end))
        return NULL;
    *at = end + n;
    if (dh_starts_with(end, "_GLOBAL__N_"))
        return "";
    return dh_arena_text(a, end, n);
}

static const char *nested_name(struct dh_arena *a, const char **at)
{
    const char *text = "";
    if (dh_starts_with(*at, "St")) {
        text = "std::";
        *at += 2;
    }
    bool nested = **at == 'N';
    if (nested)
        ++*at;
    for (const char *part; (part = take_identifier(a, at));) {
        text = dh_arena_join(a, text, part, isdigit((unsigned char)**at) && *part && nested ? "::" : "", NULL);
        if (!nested)
            break;
    }
    if (nested && **at == 'E')
        ++*at;
    return text;
}

static const char *entity(struct dh_arena *a, const char *at)
{
    /* Local to a function: its name is what follows the function's encoding. */
    if (*at == 'Z') {
        const char *end = strrchr(at, 'E');
        at = end ? end + 1 : at;
    }
    const char *name = nested_name(a, &at);
    return *at && *at != '_' && *at != 'B' ? "" : name;
}

const char *dh_symbol_source_name(struct dh_arena *a, const char *symbol, bool *artificial)
{
    static const struct {
        const char *prefix, *word;
    } made[] = {{"_ZGV", "guard of "},
                {"_ZTV", "vtable of "},
                {"_ZTT", "vtable of "},
                {"_ZTI", "type of "},
                {"_ZTS", "type of "}};
    if (!dh_starts_with(symbol, "_Z"))
        return symbol;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (dh_starts_with(symbol, made[i].prefix)) {
            const char *name = entity(a, symbol + 4);
            *artificial = true;
            return dh_arena_join(a, made[i].word, *name ? name : symbol, NULL);
        }
    const char *name = entity(a, symbol + 2);
    return *name ? name : symbol;
}
