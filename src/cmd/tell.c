#include "cmd/tell.h"

#include "report/text.h"

#include <unistd.h>

void dh_teller_init(struct dh_teller *t, const char *suppressions, bool quiet)
{
    struct dh_err ignored = {0};
    *t = (struct dh_teller){.quiet = quiet};
    if (suppressions)
        dh_suppressions_read(&t->suppressions, suppressions, &ignored);
    dh_err_release(&ignored);
}

void dh_teller_release(struct dh_teller *t)
{
    dh_suppressions_release(&t->suppressions);
}

/* With one call, so that it does not mix with what the program prints. */
static void print(const struct dh_finding *f)
{
    struct dh_str out = {0};
    dh_text_finding(&out, f);
    for (size_t done = 0; done < out.n;) {
        ssize_t n = write(STDERR_FILENO, out.at + done, out.n - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    dh_str_release(&out);
}

static bool found(void *arg, const struct dh_finding *f)
{
    struct dh_teller *t = arg;
    if (dh_suppressions_find(&t->suppressions, f)) {
        t->suppressed++;
        return false;
    }
    if (!t->quiet)
        print(f);
    return true;
}

struct dh_suspicions_sink dh_teller_sink(struct dh_teller *t)
{
    return (struct dh_suspicions_sink){found, t};
}
