#include "cmd/open_program.h"

#include "cmd/launch.h"
#include "cmd/prove_goals.h"
#include "heal/use.h"

#include <stdlib.h>
#include <unistd.h>

static bool open_with(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                      int *code)
{
    struct dh_launch l = {.command = command, .plan = plan, .detect = "none", .argv = argv};
    struct dh_err err = {0};
    char *program, *variant = dh_launch_variant(&l, &program, code);
    if (!variant)
        return false;
    bool ok = dh_subject_open(s, program, variant, argv, input, &err);
    if (!ok) {
        dh_subject_release(s);
        *code = dh_fail(&err, DH_EXIT_USAGE);
    }
    free(variant);
    free(program);
    return ok;
}

bool dh_open_words(const char *command, char **argv, const char *input, struct dh_subject *s, int *code)
{
    return open_with("engine", command, argv, input, s, code);
}

bool dh_open_program(const char *command, const struct dh_parsed *p, struct dh_subject *s, char **folder, int *code)
{
    const char *input = dh_option_get(p, "input");
    char **argv;
    *code = DH_EXIT_USAGE;
    if (dh_operands(p, &argv) < 1) {
        dh_complain("%s: name a program: deadheat %s [OPTION...] -- PROG args", command, command);
        return false;
    }
    if (input && access(input, R_OK) != 0) {
        dh_complain("%s: --input=%s cannot be read", command, input);
        return false;
    }
    char *plan = dh_heal_plan(p, command, "engine", argv[0]);
    bool ok = plan && open_with(plan, command, argv, input, s, code);
    free(plan);
    if (!ok)
        return false;
    *folder = dh_option_given(p, "-o") ? dh_strdup(dh_option_get(p, "-o")) : dh_witness_folder(dh_option_get(p, "db"));
    return true;
}
