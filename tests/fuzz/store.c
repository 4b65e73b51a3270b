/* A store of findings whose file is damaged in any way: it is refused in words, or read, or written to; its findings
 * are told. In every second input the header says that it is a store of ours. */
#include "finding/store.h"

#include "report/json.h"
#include "report/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static char path[64], journal[80];

static void remove_files(void)
{
    unlink(path);
    unlink(journal);
}

static void choose_path(void)
{
    snprintf(path, sizeof path, "/dev/shm/deadheat-fuzz-%d.db", (int)getpid());
    snprintf(journal, sizeof journal, "%s-journal", path);
    atexit(remove_files);
}

/* Places as in SQLite's file format: magic, page size, user version, application id. */
static void claim_to_be_ours(uint8_t *bytes, size_t n)
{
    static const uint8_t version[4] = {0, 0, 0, 1}, application[4] = {0x44, 0x48, 0x53, 0x31};
    if (n < 100)
        return;
    memcpy(bytes, "SQLite format 3", 16);
    memcpy(bytes + 60, version, sizeof version);
    memcpy(bytes + 68, application, sizeof application);
}

static void tell(void *arg, const struct dh_finding *f)
{
    dh_text_finding(arg, f);
    dh_report_json(arg, f);
}

static void use(enum dh_store_mode mode)
{
    struct dh_err err = {0};
    struct dh_str out = {0};
    struct dh_store *s = dh_store_open(path, mode, &err);
    struct dh_store_run run = {"program", "", 1};
    struct dh_finding f;
    long long id;
    dh_finding_init(&f);
    bool ok = s && dh_store_each(s, &(struct dh_store_choice){0}, tell, &out, &err);
    if (ok && mode == DH_STORE_WRITE)
        ok = dh_store_begin(s, &run, &id, &err) && dh_store_add(s, id, &f, &err) && dh_store_commit(s, &err);
    if (!ok && (!err.text || !*err.text))
        abort();
    dh_store_close(s);
    dh_finding_release(&f);
    dh_str_release(&out);
    dh_err_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    if (!path[0])
        choose_path();
    remove_files();
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (n % 2)
        claim_to_be_ours(bytes, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;
    if (fd >= 0)
        close(fd);
    free(bytes);
    if (!ok)
        return 0;
    use(DH_STORE_READ);
    use(DH_STORE_WRITE);
    return 0;
}
