/* What an assertion says before it ends the program. */
#include "runtime/engine/engine.h"

#include "runtime/interpose.h"
#include "runtime/print.h"

static void dh_interposed___assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    char text[DH_ENGINE_TEXT];
    dh_interpose_ready();
    if (dh_engine_on) {
        dh_print_text(text, sizeof text, "%s:%u: %s: %s", file, line, function ? function : "?", expression);
        dh_found_text(text);
    }
    dh_real.__assert_fail(expression, file, line, function);
}
DH_INTERPOSE(__assert_fail);
