/* Effects of library functions, expanded to instructions of the abstract program by their models. */
#include "ir/model_internal.h"

#include "model/library_names.h"

#include <string.h>

struct effects {
    struct dh_model_reader *r;
    const struct dh_library_models *m;
    const struct dh_arguments *a;
    bool has_result, returns;
    bool result_is_dropped; /* by the program */
    dh_value given;         /* as result */
};

/* ---- expressions ---- */
static dh_value argument(const struct effects *e, int64_t n)
{
    return n >= 0 && n < (int64_t)e->a->n ? e->a->at[n] : e->r->data;
}

static dh_value evaluate(struct effects *e, uint32_t expr);

static dh_value known_global(struct effects *e, const char *name)
{
    LLVMValueRef g = LLVMGetNamedGlobal(e->r->module, name);
    if (g)
        return dh_read_constant(e->r, g);
    return dh_build_constant(e->r->p, DH_CONST_GLOBAL, dh_read_library_variable(e->r, name, false), 0);
}

static dh_value allocate(struct effects *e, const struct dh_model_expr *x, uint32_t result)
{
    dh_value size = evaluate(e, x->child);
    int64_t bytes = 0;
    struct dh_inst *i = dh_emit1(e->r, DH_I_ALLOC, result, size);
    i->flags |= x->zeroed ? DH_INST_ZEROED : 0;
    if (dh_value_int(e->r->p, size, &bytes) && bytes > 0 && bytes < UINT32_MAX)
        i->size = (uint32_t)bytes;
    return result;
}

/* Data that a library object owns may lie inside of the object (short strings): in strict mode, assume so. */
static dh_value allocate_inside(struct effects *e, const struct dh_model_expr *x)
{
    dh_value made = allocate(e, x, dh_emit_register(e->r));
    struct dh_arguments all = {.at = &made, .n = 1, .result = DH_NONE, .name = e->a->name};
    if (e->r->strict)
        dh_read_unknown_call(e->r, &all);
    return made;
}

static dh_value evaluate(struct effects *e, uint32_t expr)
{
    const struct dh_model_expr *x = &e->m->exprs.at[expr];
    switch (x->kind) {
    case DH_MODEL_EXPR_ARGUMENT:
        return argument(e, x->number);
    case DH_MODEL_EXPR_INT:
        return dh_build_int(e->r->p, x->number);
    case DH_MODEL_EXPR_UNKNOWN:
        return e->r->unknown;
    case DH_MODEL_EXPR_RESULT:
        return e->has_result || e->result_is_dropped ? e->given : e->r->data;
    case DH_MODEL_EXPR_HIDDEN:
        return dh_build_constant(e->r->p, DH_CONST_GLOBAL,
                                 dh_read_library_variable(e->r, dh_library_models_string(e->m, x->text), x->tls), 0);
    case DH_MODEL_EXPR_GLOBAL:
        return known_global(e, dh_library_models_string(e->m, x->text));
    case DH_MODEL_EXPR_LOAD:
        return dh_emit_load(e->r, evaluate(e, x->child));
    case DH_MODEL_EXPR_ADD:
        return dh_emit_offset(e->r, evaluate(e, x->child), x->number);
    case DH_MODEL_EXPR_NEW:
        return allocate_inside(e, x);
    default:
        return e->r->data;
    }
}

static dh_value operand(struct effects *e, const struct dh_effect *f, uint32_t n)
{
    return n < f->n_exprs ? evaluate(e, e->m->roots.at[f->expr + n]) : e->r->data;
}

/* ---- results ---- */
static void give_result(struct effects *e, const struct dh_effect *f)
{
    const struct dh_model_expr *x = &e->m->exprs.at[e->m->roots.at[f->expr]];
    if (e->has_result || e->a->result == DH_NONE) {
        e->given = operand(e, f, 0);
        e->result_is_dropped = true;
        return;
    }
    e->has_result = true;
    e->given = e->a->result;
    if (x->kind == DH_MODEL_EXPR_NEW)
        allocate(e, x, e->a->result);
    else
        dh_emit1(e->r, DH_I_COPY, e->a->result, operand(e, f, 0));
}

static void give_default(struct effects *e)
{
    if (!e->has_result && e->a->result != DH_NONE)
        dh_emit1(e->r, DH_I_COPY, e->a->result, e->a->pointer ? e->r->unknown : e->r->data);
}

/* ---- accesses ---- */
/* Bytes accessed: the constant length, else by the type of the address, else unknown. */
static uint32_t touched(struct effects *e, const struct dh_effect *f, uint32_t length)
{
    int64_t bytes;
    if (f->n_exprs > length && dh_value_int(e->r->p, operand(e, f, length), &bytes) && bytes > 0 && bytes < UINT32_MAX)
        return (uint32_t)bytes;
    const struct dh_model_expr *x = &e->m->exprs.at[e->m->roots.at[f->expr]];
    if (x->kind != DH_MODEL_EXPR_ARGUMENT || !e->a->values || x->number >= (int64_t)e->a->n)
        return 0;
    uint64_t extent = dh_read_extent(e->r, e->a->values[x->number]);
    return extent > UINT32_MAX ? 0 : (uint32_t)extent;
}

static bool is_nothing(struct effects *e, dh_value v)
{
    return !dh_is_register(v) && dh_program_constant(e->r->p, v)->kind <= DH_CONST_INT;
}

static void emit_access(struct effects *e, dh_value address, bool writes, uint32_t size)
{
    bool temporary = e->r->temporary && e->a->n && address == e->a->at[0];
    if (is_nothing(e, address) || temporary)
        return;
    struct dh_inst *i = dh_emit1(e->r, writes ? DH_I_STORE : DH_I_LOAD, DH_NONE, address);
    i->flags |= DH_INST_LIBRARY;
    i->size = size;
    if (writes)
        dh_build_operand(e->r->p, e->r->data);
}

/* The characters of a string are modelled as the string object. */
static bool is_inside(struct effects *e, const struct dh_effect *f)
{
    return !e->r->strict && e->m->exprs.at[e->m->roots.at[f->expr]].kind == DH_MODEL_EXPR_LOAD &&
           dh_library_class_of_member(e->a->name) == DH_LIBRARY_OWNER;
}

static void touch_one(struct effects *e, const struct dh_effect *f)
{
    if (is_inside(e, f))
        return;
    uint32_t size = touched(e, f, 1);
    emit_access(e, operand(e, f, 0), f->kind == DH_EFFECT_WRITE, size);
}

static bool is_pointer(struct effects *e, unsigned n)
{
    if (e->a->values)
        return LLVMGetTypeKind(LLVMTypeOf(e->a->values[n])) == LLVMPointerTypeKind;
    dh_value v = e->a->at[n];
    if (!dh_is_register(v))
        return dh_program_constant(e->r->p, v)->kind >= DH_CONST_GLOBAL;
    return e->r->p->registers.at[e->r->p->functions.at[e->r->index].registers + v] == DH_REG_POINTER;
}

static void touch_all(struct effects *e, const struct dh_effect *f)
{
    for (unsigned n = (unsigned)f->number; n < e->a->n; n++) {
        if (!is_pointer(e, n))
            continue;
        uint64_t extent = e->a->values ? dh_read_extent(e->r, e->a->values[n]) : 0;
        emit_access(e, e->a->at[n], f->kind == DH_EFFECT_WRITE_FROM, extent > UINT32_MAX ? 0 : (uint32_t)extent);
    }
}

static void emit_copy(struct effects *e, const struct dh_effect *f)
{
    uint32_t size = touched(e, f, 2);
    dh_value to = operand(e, f, 0), from = operand(e, f, 1), length = operand(e, f, 2);
    struct dh_inst *i = dh_emit2(e->r, f->kind == DH_EFFECT_SET ? DH_I_MEMSET : DH_I_MEMCPY, DH_NONE, to, from);
    i->flags |= DH_INST_LIBRARY;
    i->size = size;
    dh_build_operand(e->r->p, length);
}

static void store(struct effects *e, const struct dh_effect *f)
{
    dh_value address = operand(e, f, 0);
    if (!is_nothing(e, address))
        dh_emit_store(e->r, address, operand(e, f, 1), 8);
}

/* ---- calls ---- */
static void call(struct effects *e, const struct dh_effect *f, uint32_t first)
{
    DH_VEC(dh_value) all = {0};
    for (uint32_t n = first; n < f->n_exprs; n++)
        dh_vec_push(&all, operand(e, f, n));
    if (all.n && !is_nothing(e, all.at[0])) {
        dh_emit(e->r, DH_I_CALL, DH_NONE)->flags |= DH_INST_LIBRARY;
        for (size_t n = 0; n < all.n; n++)
            dh_build_operand(e->r->p, all.at[n]);
    }
    dh_vec_release(&all);
}

/* A loop with any number of iterations around the call. */
static void call_often(struct effects *e, const struct dh_effect *f)
{
    struct dh_model_reader *r = e->r;
    uint32_t head = r->n_blocks;
    dh_emit_jump(r, head);
    dh_emit_block(r);
    dh_emit1(r, DH_I_BRANCH, DH_NONE, r->data)->flags |= DH_INST_SYNTHETIC;
    dh_build_edge(r->p, head + 1);
    dh_build_edge(r->p, head + 2);
    dh_emit_block(r);
    call(e, f, 0);
    dh_emit_jump(r, head);
    dh_emit_block(r);
}

static void call_once(struct effects *e, const struct dh_effect *f)
{
    struct dh_model_reader *r = e->r;
    dh_value control = operand(e, f, 0);
    uint32_t mine = dh_build_register(r->p, DH_REG_DATA);
    dh_emit1(r, DH_I_ONCE_ENTER, mine, control)->extra = DH_SUCCESS_NOT_ZERO;
    dh_emit1(r, DH_I_BRANCH, DH_NONE, mine)->flags |= DH_INST_SYNTHETIC;
    uint32_t run = r->n_blocks;
    dh_build_edge(r->p, run);
    dh_build_edge(r->p, run + 1);
    dh_emit_block(r);
    call(e, f, 1);
    dh_emit1(r, DH_I_ONCE_LEAVE, DH_NONE, control);
    dh_emit_jump(r, run + 1);
    dh_emit_block(r);
}

void dh_read_unknown_call(struct dh_model_reader *r, const struct dh_arguments *a)
{
    uint32_t name = dh_build_string(r->p, a->name);
    dh_emit(r, DH_I_FOREIGN, a->result)->extra = name;
    for (unsigned n = 0; n < a->n; n++)
        dh_build_operand(r->p, a->at[n]);
}

static void anything(struct effects *e, const struct dh_effect *f)
{
    DH_VEC(dh_value) all = {0};
    uint32_t result = e->has_result ? DH_NONE : e->a->result;
    for (uint32_t n = 0; n < f->n_exprs; n++)
        dh_vec_push(&all, operand(e, f, n));
    struct dh_arguments some = {.at = all.at, .n = (unsigned)all.n, .result = result, .name = e->a->name};
    dh_read_unknown_call(e->r, f->n_exprs ? &some : e->a);
    e->has_result |= result != DH_NONE;
    dh_vec_release(&all);
}

/* ---- instructions as they are ---- */
static bool may_give_result(enum dh_inst_op op)
{
    switch (op) {
    case DH_I_LOAD:
    case DH_I_RMW:
    case DH_I_CAS:
    case DH_I_REALLOC:
    case DH_I_LOCK:
    case DH_I_RDLOCK:
    case DH_I_TRYLOCK:
    case DH_I_TRYRDLOCK:
    case DH_I_WAIT:
    case DH_I_SEM_WAIT:
    case DH_I_SEM_TRYWAIT:
    case DH_I_BARRIER_WAIT:
    case DH_I_ONCE_ENTER:
    case DH_I_CREATE:
    case DH_I_JOIN:
    case DH_I_SELF:
    case DH_I_FORK:
        return true;
    default:
        return false;
    }
}

static void instruction(struct effects *e, const struct dh_effect *f)
{
    DH_VEC(dh_value) all = {0};
    for (uint32_t n = 0; n < f->n_exprs; n++)
        dh_vec_push(&all, operand(e, f, n));
    /* NULL arguments: no handler, fewer locks than parameters. */
    bool needed = f->op == DH_I_REGISTER || dh_inst_info(f->op)->class == DH_CLASS_SYNC;
    bool pointless = needed && all.n && is_nothing(e, all.at[0]);
    bool gives = !pointless && !e->has_result && may_give_result(f->op);
    if (!pointless) {
        struct dh_inst *i = dh_emit(e->r, f->op, gives ? e->a->result : DH_NONE);
        i->flags |= f->flags;
        i->order = f->order;
        i->extra = f->extra;
        i->size = dh_inst_info(f->op)->class == DH_CLASS_MEMORY ? 8 : 0;
        for (size_t n = 0; n < all.n; n++)
            dh_build_operand(e->r->p, all.at[n]);
    }
    e->has_result |= gives && e->a->result != DH_NONE;
    dh_vec_release(&all);
}

static void apply(struct effects *e, const struct dh_effect *f)
{
    switch ((enum dh_effect_kind)f->kind) {
    case DH_EFFECT_INST:
        instruction(e, f);
        break;
    case DH_EFFECT_RESULT:
        give_result(e, f);
        break;
    case DH_EFFECT_STORE:
        store(e, f);
        break;
    case DH_EFFECT_COPY:
    case DH_EFFECT_SET:
        emit_copy(e, f);
        break;
    case DH_EFFECT_READ:
    case DH_EFFECT_WRITE:
        touch_one(e, f);
        break;
    case DH_EFFECT_READ_FROM:
    case DH_EFFECT_WRITE_FROM:
        touch_all(e, f);
        break;
    case DH_EFFECT_CALL:
        call(e, f, 0);
        break;
    case DH_EFFECT_CALLS:
        call_often(e, f);
        break;
    case DH_EFFECT_ONCE:
        call_once(e, f);
        break;
    case DH_EFFECT_FOREIGN:
        anything(e, f);
        break;
    case DH_EFFECT_THROWS:
        e->r->throws = true;
        e->returns = false;
        break;
    case DH_EFFECT_STOPS:
        e->returns = false;
        break;
    case DH_EFFECT_FOLD:
    case DH_EFFECT_OVERRIDES_BODY:
    case DH_EFFECT_APPROXIMATE:
        break;
    }
}

bool dh_read_effects(struct dh_model_reader *r, const struct dh_library_function *f, const struct dh_arguments *a)
{
    struct effects e = {.r = r, .m = r->models, .a = a, .returns = true};
    for (uint32_t n = 0; n < f->n_effects; n++)
        apply(&e, &r->models->effects.at[f->effect + n]);
    if (e.returns)
        give_default(&e);
    return e.returns;
}
