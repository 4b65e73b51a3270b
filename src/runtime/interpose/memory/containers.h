/* The real functions of libstdc++ behind std::map, std::set and std::list. Layer: runtime. */
#ifndef DH_RUNTIME_INTERPOSE_MEMORY_CONTAINERS_H
#define DH_RUNTIME_INTERPOSE_MEMORY_CONTAINERS_H

/* Part of dh_real_init. */
void dh_real_containers_init(void);

#endif
