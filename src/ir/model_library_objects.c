/* Objects of the C++ library as wholes: a call of a member function reads or writes the object it is called on, and its
 * reference arguments, as its name says. The bodies of the library are left out of symbolic execution
 * (analysis/symex_calls.c): so a queue is what is accessed, by the function that uses it and under its locks, not the
 * nodes of a queue. Strict mode, for proofs, does without. */
#include "base/str.h"
#include "host/demangle.h"
#include "ir/access_names.h"
#include "ir/model_internal.h"
#include "model/library_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of what is accessed ---- */

/* The source's name of an argument, kept with the place of the instruction, as it has no site. */
void dh_read_name_argument(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef pointer, uint32_t bytes)
{
    struct dh_access_name name;
    r->temporary = false;
    if (r->strict || r->site != DH_NO_SITE || !r->place)
        return;
    if (!r->namer)
        r->namer = dh_namer_new(r->module, r->di);
    if (r->named != r->function)
        dh_namer_enter(r->namer, r->named = r->function);
    struct dh_address a = {.instruction = call, .pointer = pointer, .bytes = bytes, .order = UINT32_MAX};
    dh_namer_find(r->namer, &a, &name);
    r->temporary = strcmp(name.variable, "(temporary)") == 0;
    struct dh_source_location place = r->p->places.at[r->place];
    place.variable = dh_build_string(r->p, name.variable);
    place.type = dh_build_string(r->p, name.type);
    r->place = dh_build_place(r->p, &place);
}

/* ---- effects by the name of a function ---- */

struct words {
    char *text;
    char *method;     /* name without template and call arguments, within `text` */
    char *parameters; /* after the bracket */
};

static int depth_change(char c)
{
    return c == '<' || c == '(' || c == '[' || c == '{' ? 1 : c == '>' || c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* Symbols after "operator" are no brackets. */
static const char *skip_operator(const char *at)
{
    if (!dh_starts_with(at, "operator"))
        return at;
    static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=",
                                        "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "&&", "||", "++", "--",
                                        "->",  "<",   ">",   "=",   "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^"};
    const char *end = at + strlen("operator");
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (dh_starts_with(end, signs[i]))
            return end + strlen(signs[i]);
    return end;
}

static bool split(struct words *w)
{
    int depth = 0;
    char *name = w->text;
    for (char *at = w->text; *at;) {
        char *behind = (char *)skip_operator(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (!depth && *at == '(') {
            w->method = name;
            w->parameters = at + 1;
        }
        if (!depth && (at[0] == ':' || at[0] == ' '))
            name = at + 1;
        depth += depth_change(*at++);
    }
    if (!w->method)
        return false;
    w->parameters[-1] = '\0';
    w->method[strcspn(skip_operator(w->method), "<") + (size_t)(skip_operator(w->method) - w->method)] = '\0';
    return true;
}

/* Functions that do not write although they are not const. */
static bool only_looks(const char *method, const char *name)
{
    static const char *const looks[] = {
        "begin", "end",  "rbegin",      "rend",        "data",        "front",        "back",     "top",
        "at",    "find", "lower_bound", "upper_bound", "equal_range", "count",        "contains", "size",
        "empty", "get",  "operator->",  "operator*",   "value",       "before_begin", "c_str",    "operator[]"};
    if (strcmp(method, "operator[]") == 0 && strstr(name, "mapI"))
        return false; /* inserts missing elements */
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (strcmp(method, looks[i]) == 0)
            return true;
    return false;
}

static bool is_const(const char *name)
{
    return name[strcspn(name + 3, "SK0123456789") + 3] == 'K';
}

/* ---- accesses ---- */

static uint64_t attribute(LLVMValueRef callee, unsigned argument, const char *word)
{
    LLVMAttributeRef a =
        LLVMGetEnumAttributeAtIndex(callee, argument + 1, LLVMGetEnumAttributeKindForName(word, strlen(word)));
    return a ? LLVMGetEnumAttributeValue(a) : 0;
}

static bool is_result(LLVMValueRef callee)
{
    return LLVMCountParams(callee) &&
           LLVMGetEnumAttributeAtIndex(callee, 1, LLVMGetEnumAttributeKindForName("sret", 4));
}

static void emit_access(struct dh_model_reader *r, LLVMValueRef call, unsigned argument, dh_value address, bool writes,
                        uint64_t bytes)
{
    uint32_t place = r->place;
    if (!dh_is_register(address) && dh_program_constant(r->p, address)->kind <= DH_CONST_INT)
        return;
    dh_read_name_argument(r, call, LLVMGetOperand(call, argument), (uint32_t)bytes);
    if (!r->temporary) {
        struct dh_inst *i = dh_emit1(r, writes ? DH_I_STORE : DH_I_LOAD, DH_NONE, address);
        i->flags |= DH_INST_LIBRARY;
        i->size = (uint32_t)bytes;
        if (writes)
            dh_build_operand(r->p, r->data);
    }
    r->place = place;
}

/* The next parameter that is a reference: 'r' read, 'w' written, 0 = there is none. */
static char next_reference(char **parameters, bool exchanges)
{
    int depth = 0;
    while (**parameters && depth >= 0) {
        char *at = (*parameters)++;
        if (!depth && (*at == ',' || *at == ')') && at[-1] == '&')
            return at[-2] == '&' || (exchanges && !dh_starts_with(at - 6, "const&")) ? 'w' : 'r';
        depth += depth_change(*at);
    }
    return 0;
}

static void touch_arguments(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, unsigned first,
                            const dh_value *at, struct words *w)
{
    bool exchanges =
        strcmp(w->method, "swap") == 0 || strcmp(w->method, "merge") == 0 || strcmp(w->method, "splice") == 0;
    for (unsigned n = first; n < LLVMCountParams(callee); n++) {
        uint64_t bytes = attribute(callee, n, "dereferenceable");
        if (bytes && bytes < UINT32_MAX)
            emit_access(r, call, n, at[n], next_reference(&w->parameters, exchanges) == 'w', bytes);
    }
}

/* Code that uses library objects: the program's own functions, and library algorithms. */
static bool uses_objects(struct dh_model_reader *r)
{
    size_t length;
    const char *name = LLVMGetValueName2(r->function, &length);
    return !dh_is_library_function(name) || dh_starts_with(name, "_ZS");
}

void dh_read_object_call(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, const dh_value *at,
                         unsigned n)
{
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    enum dh_library_class class = dh_library_class_of_member(name);
    unsigned self = is_result(callee) ? 1 : 0;
    uint64_t bytes = attribute(callee, self, "dereferenceable");
    if (r->strict || !dh_library_is_object(class) || n < LLVMCountParams(callee) || !uses_objects(r))
        return;
    struct words w = {.text = dh_demangle(name)};
    if (split(&w)) {
        bool looks = is_const(name) || only_looks(w.method, name);
        bool points = class == DH_LIBRARY_VALUE &&
                      only_looks(w.method, name); /* returns a pointer to the inside without reading it */
        if (bytes && bytes < UINT32_MAX && !points)
            emit_access(r, call, self, at[self], !looks, bytes);
        touch_arguments(r, call, callee, self + 1, at, &w);
    }
    free(w.text);
}

/* ---- elements ---- */

static const char *name_of(LLVMValueRef callee)
{
    size_t length;
    return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
}

/* Elements of vectors and arrays are selected by an index, which points-to and symbolic execution interpret. */
bool dh_read_element(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, const dh_value *at, unsigned n)
{
    const char *name = name_of(callee);
    bool vector = strstr(name, "St6vectorI"), array = strstr(name, "St5arrayI");
    unsigned kind = LLVMGetEnumAttributeKindForName("dereferenceable", 15);
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeReturnIndex, kind);
    if (r->strict || n != 2 || !a || dh_library_class_of_member(name) == DH_LIBRARY_OTHER || !(vector || array) ||
        !(dh_ends_with(name, "EixEm") || dh_ends_with(name, "E2atEm")))
        return false;
    uint32_t place = r->place, result = dh_read_result(r, call);
    dh_read_name_argument(r, call, LLVMGetOperand(call, 0), (uint32_t)attribute(callee, 0, "dereferenceable"));
    dh_value base = vector ? dh_emit_load(r, at[0]) : at[0];
    r->place = place;
    dh_emit2(r, DH_I_INDEX, result, base, at[1])->size = (uint32_t)LLVMGetEnumAttributeValue(a);
    return true;
}

/* Bodies of string functions are inlined or not, at the compiler's choice; they store pointers into the string itself,
 * so that moving text between strings would unify the two objects. */
bool dh_read_model_replaces_body(struct dh_model_reader *r, const char *name, const struct dh_library_function *known)
{
    return known && ((known->instead && !(known->loosely && r->strict)) ||
                     (!r->strict && strstr(name, "St7__cxx1112basic_stringI") &&
                      dh_library_class_of_member(name) == DH_LIBRARY_OWNER));
}

/* ---- guards that lock again, or unlock early ---- */

/* Functions that keep the mutex pointer of a guard. */
static bool keeps_reference(const char *name)
{
    static const char *const ends[] = {"E4lockEv", "E6unlockEv",    "E8try_lockEv", "D1Ev",
                                       "D2Ev",     "E9owns_lockEv", "EcvbEv",       "E5mutexEv"};
    if (dh_starts_with(name, "llvm.") || dh_starts_with(name, "_ZNSt18condition_variable"))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (dh_ends_with(name, ends[i]))
            return true;
    return false;
}

/* The lock that a local guard was constructed with and keeps; NULL: unknown. */
static LLVMValueRef lock_of_guard(LLVMValueRef guard)
{
    LLVMValueRef lock = NULL;
    if (!LLVMIsAAllocaInst(guard))
        return NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(guard); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
            return NULL;
        const char *name = name_of(LLVMGetCalledValue(user));
        if (keeps_reference(name))
            continue;
        bool makes = dh_library_class_of_member(name) == DH_LIBRARY_LOCK_GUARD &&
                     (strstr(name, "EC2ER") || strstr(name, "EC1ER"));
        if (!makes || lock || LLVMGetOperand(user, 0) != guard || LLVMGetNumArgOperands(user) != 2)
            return NULL;
        lock = LLVMGetOperand(user, 1);
    }
    return lock;
}

/* The guard holds its lock when it is destroyed: it is never unlocked before. */
static bool holds_to_the_end(LLVMValueRef guard)
{
    for (LLVMUseRef u = LLVMGetFirstUse(guard); u; u = LLVMGetNextUse(u))
        if (dh_ends_with(name_of(LLVMGetCalledValue(LLVMGetUser(u))), "E6unlockEv"))
            return false;
    return true;
}

bool dh_read_relock(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee)
{
    const char *name = name_of(callee);
    bool shared = strstr(name, "11shared_lockI");
    bool gives_back = dh_ends_with(name, "D1Ev") || dh_ends_with(name, "D2Ev") || dh_ends_with(name, "E6unlockEv");
    if (r->strict || dh_library_class_of_member(name) != DH_LIBRARY_LOCK_GUARD || !LLVMGetNumArgOperands(call) ||
        !(dh_ends_with(name, "E4lockEv") || gives_back))
        return false;
    LLVMValueRef guard = LLVMGetOperand(call, 0), lock = lock_of_guard(guard);
    if (!lock || (!dh_ends_with(name, "E6unlockEv") && gives_back && !holds_to_the_end(guard)))
        return false;
    dh_read_name_argument(r, call, lock, 0);
    if (gives_back)
        dh_emit1(r, DH_I_UNLOCK, DH_NONE, dh_read_value(r, lock));
    else
        dh_emit1(r, shared ? DH_I_RDLOCK : DH_I_LOCK, DH_NONE, dh_read_value(r, lock))->extra = DH_SUCCESS_ALWAYS;
    return true;
}
