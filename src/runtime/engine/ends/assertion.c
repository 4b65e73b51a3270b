/* The text of a failed assertion, for the end that its abort becomes. */
#include "runtime/engine/engine.h"

#include "runtime/interpose/interpose.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

enum { FILE_MOST = 240, FUNCTION_MOST = 120 };

/* Of a long path the end, of a long signature the beginning identifies it. */
static void keep_text(const char *expression, const char *file, unsigned line, const char *function)
{
    char text[DH_ENGINE_TEXT], signature[FUNCTION_MOST];
    size_t n = dh_text_length(file);
    dh_text_copy(signature, sizeof signature, function ? function : "?");
    dh_print_text(text, sizeof text, "%s:%u: %s: %s", n > FILE_MOST ? file + n - FILE_MOST : file, line, signature,
                  expression);
    dh_found_ends_set_text(text);
}

static void dh_interposed___assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    dh_interpose_ready();
    if (dh_engine_on)
        keep_text(expression, file, line, function);
    dh_real.__assert_fail(expression, file, line, function);
}
DH_INTERPOSE(__assert_fail);
