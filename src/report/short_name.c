#include "report/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

enum { LONG_NAME = 60, LONG_ARGUMENTS = 14 };

static const char standard_string[] = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

static bool starts(const char *at, const char *with)
{
    return strncmp(at, with, strlen(with)) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The signs behind the word `operator` are part of its name and open no arguments; 0: no operator begins here. */
static size_t operator_length(const char *name, const char *at)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (!starts(at, word) || (at > name && is_word(at[-1])) || is_word(at[n]))
        return 0;
    static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (starts(at + n, signs[i]))
            return n + strlen(signs[i]);
    return n;
}

/* Length of the arguments that begin at `<`, with both brackets; 0: they are not closed. */
static size_t arguments_length(const char *at)
{
    size_t depth = 0;
    for (size_t i = 0; at[i];) {
        size_t skip = operator_length(at, at + i);
        if (skip) {
            i += skip;
            continue;
        }
        bool is_arrow = i && at[i] == '>' && at[i - 1] == '-';
        depth += at[i] == '<';
        depth -= at[i] == '>' && !is_arrow;
        i++;
        if (!depth)
            return i;
    }
    return 0;
}

static size_t add_arguments(struct dh_str *out, const char *at)
{
    size_t n = arguments_length(at);
    if (n <= LONG_ARGUMENTS)
        n = 1;
    dh_str_addf(out, "%.*s", n > 1 ? 4 : 1, n > 1 ? "<..>" : "<");
    return n;
}

static size_t add_part(struct dh_str *out, const char *name, const char *at)
{
    size_t n = operator_length(name, at);
    if (!n && starts(at, standard_string)) {
        dh_str_add(out, "std::string");
        return sizeof standard_string - 1;
    }
    if (!n && *at == '<')
        return add_arguments(out, at);
    n = n ? n : 1;
    dh_str_addf(out, "%.*s", (int)n, at);
    return n;
}

char *dh_short_name(const char *name)
{
    if (strlen(name) <= LONG_NAME)
        return dh_strdup(name);
    struct dh_str out = {0};
    for (const char *at = name; *at;)
        at += add_part(&out, name, at);
    return dh_str_take(&out);
}
