/* Paths of our installed files and of the tools that we call. Layer: host. Paths are owned by the caller. */
#ifndef DH_HOST_RESOURCES_H
#define DH_HOST_RESOURCES_H

#include "host/err.h"

/* This executable, links followed. */
char *dh_resource_self(struct dh_err *err);
/* A file of ours: <folder of the executable>/../lib/deadheat/NAME, or beside it in lib/deadheat. */
char *dh_resource_find(const char *name, struct dh_err *err);

/* clang-19, clang++-19, ld.lld-19; DEADHEAT_CLANG, DEADHEAT_CLANGXX, DEADHEAT_LLD name others. */
char *dh_tool_clang(struct dh_err *err);
char *dh_tool_clangxx(struct dh_err *err);
char *dh_tool_lld(struct dh_err *err);

#endif
