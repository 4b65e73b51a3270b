/* File descriptors as means of synchronisation. Layer: runtime. A channel is what bytes travel through: a pipe, a
 * connection, the counter of an eventfd, an epoll instance. Both ends of one within this process share the channel.
 * Lock-free; any thread, signal handlers, after fork. Channels are numbers, bounded in number and used again. */
#ifndef DH_RUNTIME_INTERPOSE_IO_CHANNELS_H
#define DH_RUNTIME_INTERPOSE_IO_CHANNELS_H

#include <stdint.h>

typedef uint32_t dh_channel;

#define DH_CHANNEL_NONE 0
/* Descriptors from here on are looked up anew with each use. */
#define DH_CHANNEL_DESCRIPTORS 65536

/* A new one, without a past. */
dh_channel dh_channel_new(void);
/* The descriptor now stands for this channel; NONE: for what it is found to be when it is used. */
void dh_channel_set(int fd, dh_channel c);
/* The same for a descriptor that the kernel just made: the close of this number before happens before. */
void dh_channel_opened(int fd, dh_channel c);
/* Before it is closed. */
void dh_channel_closing(int fd);
/* NONE for files, terminals, and what is not connected. */
dh_channel dh_channel_of(int fd);

/* Before the program shuts itself in: asks what the open descriptors are, as later nobody may. */
void dh_channels_settle(void);

/* What the caller did happens before a read of bytes (or their end) out of it. errno stays. */
void dh_channel_out(int fd);
void dh_channel_in(int fd);
/* The same, for one that is known. */
void dh_channel_release(dh_channel c);
/* `watcher`, an epoll instance, wakes threads that wait for bytes out of `c`; and a thread was woken by it. */
void dh_channel_watch(dh_channel c, dh_channel watcher);
void dh_channel_woken(dh_channel watcher);

#endif
