/* Programs of a build tree that libtool keeps behind a script of its own, which only sets LD_LIBRARY_PATH. Layer: host.
 */
#ifndef DH_HOST_LIBTOOL_WRAPPER_H
#define DH_HOST_LIBTOOL_WRAPPER_H

/* The program that the script `path` starts, owned by the caller; libraries are looked for from here on where the
 * script says. NULL: it is none of libtool's, or must link the program first. */
char *dh_libtool_program(const char *path);

#endif
