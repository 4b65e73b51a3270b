/* The linker that clang calls under the name deadheat-ld. Not a command people type. */
#include "cmd/command.h"
#include "driver/link.h"

int dh_main_ld(int argc, char **argv)
{
    struct dh_err err = {0};
    int code = dh_link(argc - 1, argv + 1, &err);
    return code < 0 ? dh_fail(&err, DH_EXIT_FAILURE) : code;
}
