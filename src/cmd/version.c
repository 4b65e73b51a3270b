/* deadheat version */
#include "cmd/command.h"

#include <stdio.h>

static int run_version(const struct dh_command *self, int argc, char **argv)
{
    (void)self, (void)argc, (void)argv;
    printf("deadheat %s\n", DH_VERSION);
    return DH_EXIT_OK;
}

const struct dh_command dh_command_version = {
    .name = "version",
    .usage = "",
    .summary = "print the version",
    .description = "Prints the version of deadheat.",
    .run = run_version,
};
