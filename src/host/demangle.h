/* Demangles C++ symbol names. Layer: host. */
#ifndef DH_HOST_DEMANGLE_H
#define DH_HOST_DEMANGLE_H

/* Readable form, or a copy of the name itself when it is no mangled name. Owned by the caller. */
char *dh_demangle(const char *name);

#endif
