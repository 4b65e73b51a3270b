/* Nodes of std::map, std::set and std::list: libstdc++ links them in functions that are not templates and so are not in
 * the program. What they do is reported as the standard has it: linking or removing a node writes the container, whose
 * end is the node that the container holds itself. */
#include "runtime/interpose/memory/containers.h"

#include "runtime/interpose/interpose.h"
#include "runtime/interpose/library_access.h"

#include <dlfcn.h>
#include <stdbool.h>

/* The layouts are part of libstdc++'s ABI. */
struct dh_tree_node {
    int colour;
    struct dh_tree_node *parent, *left, *right; /* of a header: the root, the first and the last node */
};

struct dh_list_node {
    struct dh_list_node *next, *before;
};

#define DH_CONTAINER(result, name, parameters) extern result name parameters;
#include "runtime/interpose/memory/containers_list.def"
#undef DH_CONTAINER

static struct {
#define DH_CONTAINER(result, name, parameters) __typeof__(name) *name;
#include "runtime/interpose/memory/containers_list.def"
#undef DH_CONTAINER
} real;

/* Weak: there when the library is part of the program. */
__attribute__((weak, visibility("default"), noreturn)) extern void _ZSt17__throw_bad_allocv(void);

void dh_real_containers_init(void)
{
    if (!_ZSt17__throw_bad_allocv)
        return;
#define DH_CONTAINER(result, name, parameters) real.name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);
#include "runtime/interpose/memory/containers_list.def"
#undef DH_CONTAINER
}

#define REAL(name)                                                                                                     \
    (__builtin_expect(real.name != NULL, 1) ? real.name : (__typeof__(real.name))dh_real_of_caller(#name, DH_CALL_SLOT))

#define R(at) dh_access_read(&(at), sizeof(at), slot)
#define W(at) dh_access_write(&(at), sizeof(at), slot)
/* First in each of them. */
#define WANTED(slot) (dh_interpose_ready(), __builtin_expect(dh_access_wanted(slot), 0))

/* ---- trees ---- */

#define TREE_STEP(name, type)                                                                                          \
    static type *dh_interposed_##name(type *node)                                                                      \
    {                                                                                                                  \
        const uintptr_t *slot = DH_CALL_SLOT;                                                                          \
        if (WANTED(slot))                                                                                              \
            R(*node);                                                                                                  \
        return REAL(name)(node);                                                                                       \
    }                                                                                                                  \
    DH_INTERPOSE(name);

TREE_STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, struct dh_tree_node)
TREE_STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, const struct dh_tree_node)
TREE_STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, struct dh_tree_node)
TREE_STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, const struct dh_tree_node)

static void dh_interposed__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left,
                                                                                            struct dh_tree_node *node,
                                                                                            struct dh_tree_node *parent,
                                                                                            struct dh_tree_node *header)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot)) {
        W(*header);
        W(*node);
        if (parent != header && left)
            W(parent->left);
        else if (parent != header)
            W(parent->right);
    }
    REAL(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_)(left, node, parent, header);
}
DH_INTERPOSE(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_);

static struct dh_tree_node *
dh_interposed__ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct dh_tree_node *node,
                                                                           struct dh_tree_node *header)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot)) {
        W(*header);
        W(*node);
        if (node->parent != header && node->parent->left == node)
            W(node->parent->left);
        else if (node->parent != header)
            W(node->parent->right);
    }
    return REAL(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_)(node, header);
}
DH_INTERPOSE(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_);

/* ---- lists: the program reads the links of nodes itself ---- */

static void dh_interposed__ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct dh_list_node *node,
                                                                       struct dh_list_node *at)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot)) {
        W(at->before);
        W(at->before->next);
        W(*node);
    }
    REAL(_ZNSt8__detail15_List_node_base7_M_hookEPS0_)(node, at);
}
DH_INTERPOSE(_ZNSt8__detail15_List_node_base7_M_hookEPS0_);

static void dh_interposed__ZNSt8__detail15_List_node_base9_M_unhookEv(struct dh_list_node *node)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot)) {
        R(*node);
        W(node->next->before);
        W(node->before->next);
    }
    REAL(_ZNSt8__detail15_List_node_base9_M_unhookEv)(node);
}
DH_INTERPOSE(_ZNSt8__detail15_List_node_base9_M_unhookEv);

static void dh_interposed__ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct dh_list_node *at,
                                                                               struct dh_list_node *first,
                                                                               struct dh_list_node *last)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot) && at != last) {
        W(last->before->next);
        W(first->before->next);
        W(at->before->next);
        W(at->before);
        W(last->before);
        W(first->before);
    }
    REAL(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_)(at, first, last);
}
DH_INTERPOSE(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_);

static void dh_interposed__ZNSt8__detail15_List_node_base10_M_reverseEv(struct dh_list_node *list)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot))
        W(*list);
    REAL(_ZNSt8__detail15_List_node_base10_M_reverseEv)(list);
}
DH_INTERPOSE(_ZNSt8__detail15_List_node_base10_M_reverseEv);

static void dh_interposed__ZNSt8__detail15_List_node_base4swapERS0_S1_(struct dh_list_node *a, struct dh_list_node *b)
{
    const uintptr_t *slot = DH_CALL_SLOT;
    if (WANTED(slot)) {
        W(*a);
        W(*b);
    }
    REAL(_ZNSt8__detail15_List_node_base4swapERS0_S1_)(a, b);
}
DH_INTERPOSE(_ZNSt8__detail15_List_node_base4swapERS0_S1_);
