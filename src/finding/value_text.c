#include "finding/value_text.h"

#include "base/str.h"

#include <string.h>

enum reading { SIGNED, UNSIGNED, POINTER, FLOATING, UNKNOWN };

/* By words in the type's name; typedefs of the program stay unknown. */
static enum reading reading_of(const char *type)
{
    static const struct {
        const char *word;
        enum reading reading;
    } table[] = {
        {"*", POINTER},       {"double", FLOATING}, {"float", FLOATING}, {"unsigned", UNSIGNED},  {"uint", UNSIGNED},
        {"size_t", UNSIGNED}, {"_Bool", UNSIGNED},  {"bool", UNSIGNED},  {"uintptr_t", UNSIGNED}, {"int", SIGNED},
        {"long", SIGNED},     {"short", SIGNED},    {"char", SIGNED},    {"enum", SIGNED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(type, table[i].word))
            return strcmp(type, "ssize_t") == 0 ? SIGNED : table[i].reading;
    return UNKNOWN;
}

static char *bytes_text(const uint8_t *bytes, size_t n)
{
    struct dh_str s = {0};
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&s, "%s%02x", i ? " " : "bytes ", bytes[i]);
    return dh_str_take(&s);
}

static char *floating_text(const uint8_t *bytes, size_t n)
{
    float f;
    double d;
    if (n == sizeof f) {
        memcpy(&f, bytes, n);
        return dh_format("%g", (double)f);
    }
    if (n != sizeof d)
        return bytes_text(bytes, n);
    memcpy(&d, bytes, n);
    return dh_format("%g", d);
}

/* An array of characters as a string literal. */
static char *characters_text(const uint8_t *bytes, size_t n)
{
    struct dh_str s = {0};
    dh_str_add(&s, "\"");
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&s, bytes[i] >= ' ' && bytes[i] < 127 && bytes[i] != '"' && bytes[i] != '\\' ? "%c" : "\\x%02x",
                    bytes[i]);
    dh_str_add(&s, "\"");
    return dh_str_take(&s);
}

char *dh_value_text(const uint8_t *bytes, size_t n, const char *type)
{
    uint64_t value = 0;
    enum reading reading = reading_of(type);
    if (strchr(type, '['))
        return dh_starts_with(type, "char[") ? characters_text(bytes, n) : bytes_text(bytes, n);
    if (n != 1 && n != 2 && n != 4 && n != 8)
        return bytes_text(bytes, n);
    if (reading == FLOATING)
        return floating_text(bytes, n);
    memcpy(&value, bytes, n);
    if (reading == POINTER)
        return dh_format("0x%llx", (unsigned long long)value);
    unsigned shift = 64 - 8 * (unsigned)n;
    if (reading == SIGNED)
        return dh_format("%lld", (long long)(value << shift) >> shift);
    if (reading == UNSIGNED || value < 10)
        return dh_format("%llu", (unsigned long long)value);
    return dh_format("%llu (0x%llx)", (unsigned long long)value, (unsigned long long)value);
}
