/* deadheat record: run a program and keep what happened in it. */
#include "cmd/command.h"
#include "cmd/launch.h"
#include "host/supervise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    FILE *out;
    uint64_t events, accesses;
    bool only_count;
};

static void *begin(void *arg, const struct dh_meta *meta)
{
    struct recording *r = arg;
    fprintf(r->out, "# process %u %s\n", meta->pid, meta->program ? meta->program : "?");
    return r;
}

static void event(void *process, const struct dh_event *e)
{
    struct recording *r = process;
    r->events++;
    r->accesses += dh_event_is_access(e);
    if (r->only_count)
        return;
    fprintf(r->out, "%u %s 0x%llx flags=%u arg=%llu site=%d ctx=%u seq=%llu\n", e->thread, dh_event_info(e->kind)->name,
            (unsigned long long)e->addr, e->flags, (unsigned long long)e->arg, (int)e->site, e->ctx,
            (unsigned long long)e->seq);
}

static void end(void *process, uint64_t lost)
{
    struct recording *r = process;
    if (r->only_count)
        fprintf(stderr, "%llu events, %llu accesses, %llu lost\n", (unsigned long long)r->events,
                (unsigned long long)r->accesses, (unsigned long long)lost);
    fprintf(r->out, "# end, %llu events, %llu lost\n", (unsigned long long)r->events, (unsigned long long)lost);
}

static int record_with(const struct dh_parsed *p)
{
    struct dh_launch l = {.command = "record", .plan = dh_option_get(p, "plan"), .detect = "none"};
    if (dh_operands(p, &l.argv) < 1 || !dh_option_given(p, "-o")) {
        dh_complain("record: name a file and a program: deadheat record -o run.dht -- PROG args");
        return DH_EXIT_USAGE;
    }
    struct recording r = {.out = fopen(dh_option_get(p, "-o"), "w")};
    r.only_count = strcmp(dh_option_get(p, "-o"), "/dev/null") == 0;
    struct dh_live_sink sink = {begin, event, end, &r};
    struct dh_err err = {0};
    l.live = dh_live_open(&sink, &err);
    if (!l.live)
        return dh_fail(&err, DH_EXIT_FAILURE);
    int status = 0;
    struct dh_import stored = {0};
    int code = dh_launch(&l, &status, &stored);
    dh_live_close(l.live);
    fclose(r.out);
    dh_import_release(&stored);
    if (code == DH_EXIT_OK)
        dh_end_like(status);
    return code;
}

static int run_record(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = done ? DH_EXIT_OK : record_with(p);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"-o", DH_OPTION_STRING, "FILE", NULL, "the trace to write"},
    {"plan", DH_OPTION_STRING, "CLASS,...", "lockset", "which hooks the variant carries"},
    {0}};

const struct dh_command dh_command_record = {
    .name = "record",
    .usage = "-o FILE [OPTION...] -- PROG [ARG...]",
    .summary = "run a program and keep what happened in it",
    .description = "Runs the program and writes its events to a trace.",
    .options = options,
    .run = run_record,
};
