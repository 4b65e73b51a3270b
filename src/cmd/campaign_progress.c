#include "cmd/campaign_progress.h"

#include "cmd/terminal.h"

#include <stdio.h>
#include <unistd.h>

static void print(const struct dh_campaign_state *s, const char *before, const char *after)
{
    double seconds = (double)s->elapsed_ns / 1e9;
    fprintf(stderr,
            "%sprove: %llu schedules (%.0f/s), %s, depth %u, %u threads, %llu of %llu pairs in both orders, %u "
            "proven, %.1f s left%s",
            before, (unsigned long long)s->schedules, (double)s->schedules / seconds,
            s->strategy ? s->strategy : "beginning", s->depth, s->threads, (unsigned long long)s->both,
            (unsigned long long)s->pairs, s->proven, (double)s->left_ns / 1e9, after);
    fflush(stderr);
}

void dh_campaign_progress(struct dh_campaign_line *l, const struct dh_campaign_state *s)
{
    if (dh_terminal_line_is_due())
        print(s, "deadheat: ", "\n");
    if (!isatty(STDERR_FILENO) || s->elapsed_ns < l->next_ns)
        return;
    l->next_ns = s->elapsed_ns + 200000000u;
    print(s, "\r\033[K", "");
    l->is_shown = true;
}

void dh_campaign_progress_clear(struct dh_campaign_line *l)
{
    if (l->is_shown)
        fprintf(stderr, "\r\033[K");
    l->is_shown = false;
}
