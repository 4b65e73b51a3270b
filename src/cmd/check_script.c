#include "cmd/check_script.h"

#include "cmd/check_table.h"
#include "cmd/subjects.h"
#include "host/file.h"
#include "launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST_NS 1000000000ull /* less than this is no chain */

struct script {
    struct dh_check *c;
    const struct dh_parsed *parsed;
    const char *argv0; /* as the user called it */
    struct dh_subject_records records;
    DH_VEC(struct dh_check_part) parts; /* of those with threads, in the order of their turns */
    DH_VEC(const struct dh_subject_record *) of_part;
    int code;
};

/* ---- parts ---- */

static bool is_found_in(const struct dh_found *found, const struct dh_subject_record *r)
{
    for (size_t i = 0; i < found->at.n; i++)
        if (found->at.at[i]->level >= DH_LEVEL_OBSERVED && strcmp(found->at.at[i]->program, r->program) == 0)
            return true;
    return false;
}

static void add_part(struct script *s, const struct dh_subject_record *r)
{
    char *cwd = getcwd(NULL, 0), *folder = dh_path_absolute(s->c->db);
    struct dh_check_part p = {.check = *s->c, .words = dh_subject_record_words(r), .result = dh_strdup("")};
    p.folder = cwd && strcmp(cwd, r->folder) == 0 ? NULL : r->folder;
    p.check.argv = r->argv.at;
    p.check.program = r->program;
    p.check.is_searchable = true;
    p.check.input = (struct dh_check_input){.descriptor = -1, .path = r->input[0] ? r->input : NULL};
    p.check.db = dh_strdup(p.folder ? folder : s->c->db);
    p.check.policy = dh_format("%.*s%s.dhp", (int)(dh_basename(folder) - folder), folder, dh_basename(r->program));
    dh_vec_push(&s->parts, p);
    dh_vec_push(&s->of_part, r);
    free(folder);
    free(cwd);
}

/* Those in which the script's own run showed something come first. */
static void add_parts(struct script *s, const struct dh_found *seen)
{
    for (int later = 0; later < 2; later++)
        for (size_t i = 0; i < s->records.at.n; i++) {
            const struct dh_subject_record *r = &s->records.at.at[i];
            if (r->threads && is_found_in(seen, r) != later)
                add_part(s, r);
        }
}

static void release_parts(struct script *s)
{
    for (size_t i = 0; i < s->parts.n; i++) {
        free(s->parts.at[i].words);
        free(s->parts.at[i].result);
        free((char *)s->parts.at[i].check.db);
        free(s->parts.at[i].check.policy);
    }
    dh_vec_release(&s->parts);
    dh_vec_release(&s->of_part);
    dh_subject_records_release(&s->records);
}

/* ---- the chain for each ---- */

static void set_result(struct dh_check_part *p, const char *text)
{
    free(p->result);
    p->result = dh_strdup(text);
}

static void run_part(struct script *s, size_t i, uint64_t budget_ns)
{
    struct dh_str out = {0};
    struct dh_check_part *p = &s->parts.at[i];
    const struct dh_subject_record *r = s->of_part.at[i];
    fprintf(stderr, "check: %zu of %zu: %s%s%s\n", i + 1, s->parts.n, p->words, r->note[0] ? "  without input: " : "",
            r->note);
    int code = dh_subject_run(s->parsed, &dh_command_check, r, budget_ns, &out);
    if (out.n && out.at[out.n - 1] == '\n')
        out.at[--out.n] = 0;
    const char *last = out.n ? strrchr(out.at, '\n') : NULL;
    set_result(p, last ? last + 1 : out.n ? out.at : code == DH_EXIT_FAILURE ? "could not be searched, see above" : "");
    if (code == DH_EXIT_FINDINGS || s->code == DH_EXIT_OK)
        s->code = code;
    dh_str_release(&out);
}

static void run_parts(struct script *s)
{
    const struct dh_check *c = s->c;
    uint64_t until = c->began_ns + c->budget_ns;
    for (size_t i = 0; i < s->parts.n && !c->only_run; i++) {
        uint64_t now = dh_now_ns(), left = now < until ? until - now : 0, share = left / (s->parts.n - i);
        if (left < LEAST_NS || dh_stage_interrupted())
            set_result(&s->parts.at[i], "not searched: no time was left for it");
        else
            run_part(s, i, share < LEAST_NS ? LEAST_NS : share);
    }
}

/* ---- the result ---- */

static bool find_all(const struct dh_check *c, struct dh_found *out, struct dh_err *err)
{
    struct dh_check any = *c;
    any.program = NULL;
    return dh_check_found(&any, out, err);
}

static bool is_seen(const struct dh_found *found)
{
    for (size_t i = 0; i < found->at.n; i++)
        if (found->at.at[i]->level >= DH_LEVEL_OBSERVED)
            return true;
    return false;
}

/* Its time was over before it had started everything. */
static bool is_cut(const struct dh_check *c)
{
    return c->status_is_ours && !c->interrupted;
}

static void say_rest(const struct script *s)
{
    size_t quiet = s->records.at.n - s->parts.n;
    if (quiet)
        printf("%zu more program%s built with 'deadheat cc' made no thread\n", quiet, quiet == 1 ? "" : "s");
    if (is_cut(s->c))
        printf("%s was ended after %.1f of %.0f s: what it had not started by then was not looked at; a longer "
               "--budget goes further\n",
               s->argv0, (double)s->c->run_ns / 1e9, (double)s->c->budget_ns / 1e9);
}

static void print_document(const struct dh_report_format *format, const struct dh_found *found)
{
    struct dh_str out = {0};
    format->begin(&out);
    for (size_t i = 0; i < found->at.n; i++)
        format->finding(&out, i, found->at.at[i]);
    format->end(&out);
    fputs(out.at, stdout);
    dh_str_release(&out);
}

static int report(struct script *s, const struct dh_report_format *format, bool suspected)
{
    struct dh_err err = {0};
    struct dh_found found;
    if (!find_all(s->c, &found, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    fflush(stdout);
    if (format->is_prose) {
        dh_check_table_print_parts(s->c, &found, suspected, s->parts.at, s->parts.n);
        say_rest(s);
    } else
        print_document(format, &found);
    bool seen = is_seen(&found), died = WIFSIGNALED(s->c->status) && !s->c->status_is_ours;
    dh_found_release(&found);
    return seen || died ? DH_EXIT_FINDINGS : is_cut(s->c) && s->code == DH_EXIT_OK ? DH_EXIT_FAILURE : s->code;
}

/* ---- all of it ---- */

static void say_nothing(const char *stage, uint64_t took_ns, const char *said)
{
    (void)stage, (void)took_ns, (void)said;
}

/* Its output stands for itself: the stages that are reported are those of its parts. Programs run as they were built,
 * since a variant with every detector would be made for each that the script starts, most of which make no thread;
 * parts get theirs. */
static enum dh_stage_result run_script(struct dh_check *c)
{
    struct dh_check_host host = *c->host;
    host.ended = say_nothing;
    c->host = &host;
    c->in_haste = !c->only_run;
    dh_runtime_option_add("exitcode", "0"); /* that of a finding would change the script's way */
    return dh_check_chain(c);
}

static int check_subjects(struct script *s, const struct dh_report_format *format, bool suspected)
{
    struct dh_err err = {0};
    struct dh_found seen;
    if (!s->records.at.n && is_cut(s->c))
        say_rest(s);
    if (!s->records.at.n)
        return dh_no_subjects("check", s->argv0);
    if (!find_all(s->c, &seen, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    add_parts(s, &seen);
    dh_found_release(&seen);
    run_parts(s);
    return report(s, format, suspected);
}

int dh_check_script(struct dh_check *c, const struct dh_parsed *p, const struct dh_report_format *format,
                    bool suspected)
{
    struct dh_err err = {0};
    struct script s = {.c = c, .parsed = p};
    static const int codes[] = {
        [DH_STAGE_DONE] = DH_EXIT_OK, [DH_STAGE_USAGE] = DH_EXIT_USAGE, [DH_STAGE_FAILED] = DH_EXIT_FAILURE};
    char *folder = dh_subject_records_begin(&err);
    if (!folder)
        return dh_fail(&err, DH_EXIT_FAILURE);
    char **words;
    dh_operands(p, &words);
    s.argv0 = words[0];
    int code = codes[run_script(c)];
    bool ok = dh_subjects_read(p, folder, &s.records, &err);
    if (code == DH_EXIT_OK)
        code = ok ? check_subjects(&s, format, suspected) : dh_fail(&err, DH_EXIT_FAILURE);
    release_parts(&s);
    dh_remove_tree(folder);
    free(folder);
    return code;
}
