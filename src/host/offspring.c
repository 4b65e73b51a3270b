#include "host/offspring.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct relative {
    pid_t pid, parent;
};

static bool read_relative(const char *name, struct relative *r)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    const char *rest = strrchr(text, ')'); /* the name of a program may hold anything */
    int parent;
    if (!rest || sscanf(rest + 1, " %*c %d", &parent) != 1)
        return false;
    *r = (struct relative){(pid_t)atoi(name), parent};
    return true;
}

void dh_offspring(pid_t of, dh_pids *out)
{
    DH_VEC(struct relative) all = {0};
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct relative r;
        if (isdigit((unsigned char)e->d_name[0]) && read_relative(e->d_name, &r))
            dh_vec_push(&all, r);
    }
    if (d)
        closedir(d);
    dh_vec_push(out, of);
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < all.n; k++)
            if (all.at[k].parent == out->at[i])
                dh_vec_push(out, all.at[k].pid);
    dh_vec_release(&all);
}

void dh_threads_of(pid_t process, dh_pids *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]))
            dh_vec_push(out, (pid_t)atoi(e->d_name));
    if (d)
        closedir(d);
}
