/* The stage of check that heals: 'deadheat heal' for what matters, with what it says kept for the line of the stage. */
#include "check/chain.h"
#include "cmd/command.h"
#include "host/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What others lead to is tried along with them: it must not happen any more. */
static bool is_tried(const struct dh_finding *f)
{
    return dh_check_is_healable(f) || (dh_found_is_failure(f) && f->witness[0] && strcmp(f->healing, "verified") != 0);
}

/* What it prints goes into a file that is read afterwards. */
static int heal_into(const struct dh_check_heal *h, const struct dh_found *found, bool verifies, const char *file)
{
    struct dh_argv words = {0};
    int to = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), code;
    dh_argv_add(&words, "heal");
    dh_argv_addf(&words, "--db=%s", h->c->db);
    if (verifies)
        dh_argv_addf(&words, "--budget=%llums", (unsigned long long)(h->budget_ns / 1000000u));
    else
        dh_argv_add(&words, "--no-verify");
    dh_argv_add(&words, "-o");
    dh_argv_add(&words, h->c->policy);
    for (size_t i = 0; i < found->at.n; i++)
        if (is_tried(found->at.at[i]))
            dh_argv_add(&words, found->at.at[i]->id);
    dh_argv_add(&words, "--");
    for (char **a = h->c->argv; *a; a++)
        dh_argv_add(&words, *a);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    code = dh_command_heal.run(&dh_command_heal, words.n, words.at);
    fflush(stdout);
    dh_argv_release(&words);
    return code;
}

static void tell(struct dh_talk *t, const struct dh_check *c, unsigned asked, const char *file)
{
    struct dh_found now;
    struct dh_bytes said = {0};
    struct dh_err err = {0};
    unsigned verified = 0, offered = 0;
    if (!dh_check_found(c, &now, &err)) {
        dh_err_release(&err);
        return;
    }
    for (size_t i = 0; i < now.at.n; i++) {
        verified += strcmp(now.at.at[i]->healing, "verified") == 0;
        offered += strcmp(now.at.at[i]->healing, "offered") == 0;
    }
    if (offered)
        dh_talk_say(t, "%u of %u verified, %u offered without", verified, asked, offered);
    else if (verified)
        dh_talk_say(t, "%u of %u verified", verified, asked);
    else if (dh_file_read(file, &said, &err) && said.n) {
        size_t n = 0;
        while (n < said.n && said.at[n] != '\n')
            n++;
        dh_talk_say(t, "nothing is healed: %.*s", (int)n, (const char *)said.at);
    }
    dh_bytes_release(&said);
    dh_err_release(&err);
    dh_found_release(&now);
}

void dh_check_heal(void *arg, struct dh_talk *t)
{
    const struct dh_check_heal *h = arg;
    struct dh_found found;
    struct dh_err err = {0};
    unsigned asked = 0;
    char *folder = dh_temp_folder(&err), *file = folder ? dh_format("%s/said", folder) : NULL;
    if (!folder || !dh_check_found(h->c, &found, &err)) {
        dh_fail(&err, 0);
        return;
    }
    for (size_t i = 0; i < found.at.n; i++)
        asked += is_tried(found.at.at[i]);
    dh_talk_now(t, "a policy for %u findings, tried on their witnesses and by searches", asked);
    t->code = heal_into(h, &found, false, file); /* so that there is one, whatever time is left */
    if (t->code == DH_EXIT_OK || t->code == DH_EXIT_FINDINGS)
        t->code = heal_into(h, &found, true, file);
    tell(t, h->c, asked, file);
    dh_found_release(&found);
    dh_remove_tree(folder);
    free(folder);
    free(file);
}
