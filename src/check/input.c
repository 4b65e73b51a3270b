#include "check/input.h"

#include "base/str.h"
#include "host/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_all(int to, const char *at, size_t n)
{
    while (n) {
        ssize_t k = write(to, at, n);
        if (k <= 0)
            return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

/* The copy is written before the program gets the bytes: it may end as soon as it has them. */
static _Noreturn void copy(int to, int kept)
{
    char block[1 << 16];
    ssize_t n;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    while ((n = read(STDIN_FILENO, block, sizeof block)) > 0)
        if (!write_all(kept, block, (size_t)n) || !write_all(to, block, (size_t)n))
            break;
    _exit(0);
}

static bool keep_meanwhile(struct dh_check_input *in, const char *folder, struct dh_err *err)
{
    int ends[2];
    if (!dh_mkdir_parents(folder, 0777, err))
        return false;
    in->path = dh_format("%s/stdin-%ld", folder, (long)getpid());
    int kept = open(in->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (kept < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return dh_err_errno(err, "%s", in->path);
    in->is_kept = true;
    in->copying = fork();
    if (in->copying == 0) {
        close(ends[0]);
        copy(ends[1], kept);
    }
    close(kept);
    close(ends[1]);
    in->descriptor = ends[0];
    return in->copying > 0 || dh_err_errno(err, "cannot fork");
}

bool dh_check_input_open(struct dh_check_input *in, const char *given, const char *folder, struct dh_err *err)
{
    struct stat st;
    *in = (struct dh_check_input){.descriptor = -1};
    if (given) {
        in->path = dh_path_absolute(given);
        in->descriptor = open(given, O_RDONLY | O_CLOEXEC);
        return in->descriptor >= 0 || dh_err_errno(err, "%s", given);
    }
    if (fstat(STDIN_FILENO, &st) != 0)
        return true;
    if (S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
        in->path = dh_path_real("/proc/self/fd/0");
    else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
        return keep_meanwhile(in, folder, err);
    return true;
}

void dh_check_input_end(struct dh_check_input *in)
{
    if (in->descriptor >= 0)
        close(in->descriptor);
    in->descriptor = -1;
    if (in->copying <= 0)
        return;
    kill(in->copying, SIGKILL);
    waitpid(in->copying, NULL, 0);
    in->copying = 0;
    if (dh_file_size(in->path))
        return;
    unlink(in->path);
    free(in->path);
    in->path = NULL;
}

void dh_check_input_release(struct dh_check_input *in)
{
    dh_check_input_end(in);
    free(in->path);
    in->path = NULL;
}
