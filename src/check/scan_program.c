#include "check/scan_program.h"

#include "base/str.h"
#include "driver/whole_program.h"
#include "host/activity.h"
#include "host/deadline.h"
#include "host/file.h"
#include "host/notice.h"

#include <stdlib.h>

/* A part of the time is for storing and printing. */
static uint64_t time_to_analyse(uint64_t until_ns)
{
    uint64_t now = dh_now_ns();
    return !until_ns ? 0 : until_ns > now ? now + (until_ns - now) / 6 * 5 : 1;
}

bool dh_scan_read_models(struct dh_library_models *m, const char *path, struct dh_err *err)
{
    struct dh_bytes b;
    dh_library_models_init(m);
    if (!path)
        return true;
    if (!dh_file_read(path, &b, err))
        return false;
    char *text = dh_format("%.*s", (int)b.n, (const char *)b.at);
    bool ok = dh_library_models_read(m, path, text, err);
    free(text);
    dh_bytes_release(&b);
    return ok;
}

void dh_scan_notice_left(const struct dh_scan *scan)
{
    struct dh_str left = {0};
    dh_scan_print_left(scan, &left);
    if (left.n)
        dh_notice("scan: %s", left.at);
    dh_str_release(&left);
}

static void show_pass(const char *pass)
{
    dh_activity_say("%s", pass);
}

static bool analyse(const struct dh_scan_request *q, struct dh_whole_program *w,
                    bool (*use)(void *, struct dh_scan_results *, struct dh_err *), void *arg, struct dh_err *err)
{
    struct dh_scan_options options = q->options;
    options.until_ns = time_to_analyse(options.until_ns);
    options.entered = show_pass;
    struct dh_scan scan;
    dh_scan_run(&scan, &w->program, &w->sites, &options);
    struct dh_scan_results r = {.scan = &scan,
                                .subject = {.symex = &scan.symex, .program = q->path},
                                .suppressions = q->suppressions,
                                .all = q->all};
    dh_id_text(&w->id, r.subject.build);
    dh_scan_results_gather(&r);
    bool ok = use(arg, &r, err);
    dh_scan_results_release(&r);
    dh_scan_release(&scan);
    return ok;
}

bool dh_scan_program(const struct dh_scan_request *q,
                     bool (*use)(void *arg, struct dh_scan_results *r, struct dh_err *), void *arg, struct dh_err *err)
{
    struct dh_library_models models;
    struct dh_whole_program w = {0};
    dh_activity_say("reading the program");
    bool ok = dh_scan_read_models(&models, q->models, err) &&
              dh_whole_program_read(&w, q->path, &models, q->library, err) && analyse(q, &w, use, arg, err);
    dh_whole_program_release(&w);
    dh_library_models_release(&models);
    return ok;
}
