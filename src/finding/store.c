#include "finding/store.h"

#include "base/str.h"
#include "finding/details.h"
#include "host/file.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define APPLICATION 0x44485331 /* "DHS1" */
#define VERSION 1
#define BUSY_SECONDS 30

#define SMALLEST 512 /* page of SQLite */

#define TEXT_OF(x) #x
#define DIGITS(x) TEXT_OF(x)

struct dh_store {
    sqlite3 *db;
    char *path;
    struct sigaction before; /* of SIGXFSZ */
};

static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, program TEXT NOT NULL, arguments TEXT NOT NULL, started INTEGER NOT "
    "NULL);"
    "CREATE TABLE finding (id TEXT PRIMARY KEY, kind TEXT NOT NULL, detector TEXT NOT NULL, level TEXT NOT NULL,"
    " verdict TEXT NOT NULL, healing TEXT NOT NULL, witness TEXT NOT NULL, first_seen INTEGER NOT NULL,"
    " last_seen INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE evidence (finding TEXT NOT NULL REFERENCES finding(id), build TEXT NOT NULL, seen INTEGER NOT NULL,"
    " details TEXT NOT NULL, PRIMARY KEY (finding, build)) WITHOUT ROWID;"
    "CREATE TABLE sighting (finding TEXT NOT NULL REFERENCES finding(id), run INTEGER NOT NULL REFERENCES run(id),"
    " PRIMARY KEY (finding, run)) WITHOUT ROWID;"
    "PRAGMA application_id = " DIGITS(APPLICATION) ";"
                                                   "PRAGMA user_version = " DIGITS(VERSION) ";";

static bool failed(struct dh_store *s, struct dh_err *err, const char *what)
{
    int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return dh_err_set(err, "%s is damaged or no store of findings (%s); remove it or name another with --db",
                          s->path, sqlite3_errmsg(s->db));
    return dh_err_set(err, "%s: cannot %s: %s%s", s->path, what, sqlite3_errmsg(s->db),
                      code == SQLITE_BUSY ? "; another program has held it for " DIGITS(BUSY_SECONDS) " s" : "");
}

static bool execute(struct dh_store *s, const char *sql, const char *what, struct dh_err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(s, err, what);
}

static bool ask_number(struct dh_store *s, const char *sql, long long *out, struct dh_err *err)
{
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    if (ok)
        *out = sqlite3_column_int64(q, 0);
    else
        failed(s, err, "read");
    sqlite3_finalize(q);
    return ok;
}

/* Under the lock of a transaction, so that one of two makers comes first. */
static bool make_or_check(struct dh_store *s, enum dh_store_mode mode, struct dh_err *err)
{
    long long application, version, tables;
    if (!ask_number(s, "PRAGMA application_id", &application, err) ||
        !ask_number(s, "PRAGMA user_version", &version, err) ||
        !ask_number(s, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    if (!tables && !application)
        return mode == DH_STORE_WRITE ? execute(s, schema, "make the tables", err)
                                      : dh_err_set(err, "%s holds no findings yet", s->path);
    if (application != APPLICATION)
        return dh_err_set(err, "%s is a database of another program; name another with --db", s->path);
    return version == VERSION ||
           dh_err_set(err, "%s has version %lld of the store, this deadheat knows %d", s->path, version, VERSION);
}

/* A page that is damaged would otherwise be met in the middle of a run's findings. */
static bool is_sound(struct dh_store *s, struct dh_err *err)
{
    sqlite3_stmt *q = NULL;
    bool ok =
        sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    const char *answer = ok ? (const char *)sqlite3_column_text(q, 0) : NULL;
    if (!ok)
        failed(s, err, "read");
    else if (strcmp(answer, "ok") != 0) {
        const char *last = strrchr(answer, '\n');
        ok = dh_err_set(err, "%s is damaged (%s); remove it or name another with --db", s->path,
                        last ? last + 1 : answer);
    }
    sqlite3_finalize(q);
    return ok;
}

static bool prepare(struct dh_store *s, enum dh_store_mode mode, struct dh_err *err)
{
    sqlite3_busy_timeout(s->db, BUSY_SECONDS * 1000);
    if (!execute(s, mode == DH_STORE_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", "open it", err))
        return false;
    bool ok = make_or_check(s, mode, err) && is_sound(s, err);
    return ok ? execute(s, "COMMIT", "write", err) : (sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL), false);
}

static bool make_folder(const char *path, struct dh_err *err)
{
    int n = (int)(dh_basename(path) - path);
    char *folder = dh_format("%.*s", n, path);
    bool ok = n <= 1 || dh_file_exists(folder);
    while (n > 1 && folder[n - 1] == '/')
        folder[--n] = 0;
    ok = ok || dh_mkdir_parents(folder, 0777, err);
    free(folder);
    return ok;
}

/* SQLite says only that it cannot open; the system says why. */
static bool can_be_opened(const char *path, enum dh_store_mode mode, struct dh_err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return dh_err_set(err, "%s is not a file", path);
    /* SQLite would take one of a byte or so for an empty one, and write over it. */
    if (there && st.st_size && st.st_size < SMALLEST)
        return dh_err_set(err, "%s is no store of findings", path);
    FILE *f = fopen(path, mode == DH_STORE_WRITE ? "ae" : "re");
    if (!f)
        return dh_err_errno(err, "%s", path);
    fclose(f);
    return true;
}

struct dh_store *dh_store_open(const char *path, enum dh_store_mode mode, struct dh_err *err)
{
    if ((mode == DH_STORE_WRITE && !make_folder(path, err)) || !can_be_opened(path, mode, err)) {
        dh_err_while(err, "opening the store of findings; --db=FILE names another");
        return NULL;
    }
    struct dh_store *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->path = dh_strdup(path);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &s->before);
    /* Reading may have to take back what a killed writer left half done. */
    if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        dh_err_set(err, "cannot open the store of findings %s: %s", path, sqlite3_errmsg(s->db));
    } else if (prepare(s, mode, err))
        return s;
    dh_store_close(s);
    return NULL;
}

void dh_store_close(struct dh_store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    sigaction(SIGXFSZ, &s->before, NULL);
    free(s->path);
    free(s);
}

bool dh_store_make(const char *path, struct dh_err *err)
{
    struct dh_store *s = dh_store_open(path, DH_STORE_WRITE, err);
    dh_store_close(s);
    return s;
}

/* ---- writing ---- */

/* Binds the texts in order and runs a statement that answers nothing. */
static bool run_with(struct dh_store *s, const char *sql, const char *const *texts, const long long *numbers,
                     struct dh_err *err)
{
    sqlite3_stmt *q = NULL;
    int i = 1;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK;
    for (; ok && *texts; texts++)
        ok = sqlite3_bind_text(q, i++, *texts, -1, SQLITE_STATIC) == SQLITE_OK;
    for (; ok && i <= sqlite3_bind_parameter_count(q); numbers++)
        ok = sqlite3_bind_int64(q, i++, *numbers) == SQLITE_OK;
    ok = (ok && sqlite3_step(q) == SQLITE_DONE) || failed(s, err, "write");
    sqlite3_finalize(q);
    return ok;
}

/* Logs are removed right after they were stored, so what is older is never asked for. */
static const char remember[] =
    "CREATE TABLE IF NOT EXISTS imported (log TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;"
    "DELETE FROM imported WHERE at < unixepoch() - 30 * 86400;"
    "CREATE TABLE IF NOT EXISTS classification (finding TEXT NOT NULL REFERENCES finding(id), build TEXT NOT NULL,"
    " at INTEGER NOT NULL, details TEXT NOT NULL, PRIMARY KEY (finding, build)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS healing (finding TEXT NOT NULL REFERENCES finding(id), build TEXT NOT NULL,"
    " at INTEGER NOT NULL, details TEXT NOT NULL, PRIMARY KEY (finding, build)) WITHOUT ROWID;";

bool dh_store_begin(struct dh_store *s, const struct dh_store_run *run, long long *id, struct dh_err *err)
{
    const char *texts[] = {run->program, run->arguments, NULL};
    if (!execute(s, "BEGIN IMMEDIATE", "write", err) || !execute(s, remember, "write", err) ||
        !run_with(s, "INSERT INTO run(program, arguments, started) VALUES (?1, ?2, ?3)", texts, &run->started, err))
        return false;
    *id = sqlite3_last_insert_rowid(s->db);
    return true;
}

bool dh_store_claim(struct dh_store *s, const char *log, bool *fresh, struct dh_err *err)
{
    const char *texts[] = {log, NULL};
    bool ok = run_with(s, "INSERT OR IGNORE INTO imported(log, at) VALUES (?1, unixepoch())", texts, NULL, err);
    *fresh = ok && sqlite3_changes(s->db) > 0;
    return ok;
}

/* Levels in the order of what they say. */
#define RANK(x) "(CASE " x " WHEN 'suspected' THEN 0 WHEN 'proven' THEN 2 ELSE 1 END)"
#define RISES RANK("excluded.level") " > " RANK("level")
#define LEVEL_OF(row) "(CASE WHEN json_valid(" row ".details) THEN json_extract(" row ".details, '$.level') END)"

static const char add_finding[] =
    "INSERT INTO finding(id, kind, detector, level, verdict, healing, witness, first_seen, last_seen)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(id) DO UPDATE SET"
    " detector = CASE WHEN " RISES " THEN excluded.detector ELSE detector END,"
    " level = CASE WHEN " RISES " THEN excluded.level ELSE level END,"
    " witness = CASE WHEN excluded.witness <> '' THEN excluded.witness ELSE witness END,"
    " first_seen = min(first_seen, excluded.first_seen), last_seen = max(last_seen, excluded.last_seen)";

/* What was seen is not replaced by what is suspected. Times are in seconds, and a run may be stored a little after one
 * that began later: of builds within a minute, what is stored last is the newest. */
static const char add_evidence[] =
    "WITH other(seen) AS (SELECT max(seen) FROM evidence WHERE finding = ?1 AND build <> ?2)"
    " INSERT INTO evidence(finding, build, details, seen) SELECT ?1, ?2, ?3,"
    " CASE WHEN seen - ?4 BETWEEN 0 AND 60 THEN seen + 1 ELSE ?4 END FROM other WHERE true"
    " ON CONFLICT(finding, build) DO UPDATE SET details = excluded.details, seen = excluded.seen"
    " WHERE " RANK(LEVEL_OF("excluded")) " >= " RANK(LEVEL_OF("evidence"));

bool dh_store_add(struct dh_store *s, long long run, const struct dh_finding *f, struct dh_err *err)
{
    const char *row[] = {f->id,
                         dh_finding_kind_name(f->kind),
                         f->detector,
                         dh_finding_level_name(f->level),
                         dh_finding_verdict_name(f->verdict),
                         dh_finding_healing_name(f->healing),
                         f->witness,
                         NULL};
    const long long seen[] = {f->first_seen, f->last_seen};
    if (!run_with(s, add_finding, row, seen, err))
        return false;
    char *details = dh_details_write(f);
    const char *evidence[] = {f->id, f->build, details, NULL};
    const char *sighting[] = {f->id, NULL};
    bool ok = run_with(s, add_evidence, evidence, &f->last_seen, err) &&
              run_with(s, "INSERT OR IGNORE INTO sighting(finding, run) VALUES (?1, ?2)", sighting, &run, err);
    free(details);
    return ok;
}

bool dh_store_classify(struct dh_store *s, const char *id, const char *build, enum dh_finding_verdict verdict,
                       const char *details, struct dh_err *err)
{
    const char *row[] = {id, build, details, NULL}, *what[] = {dh_finding_verdict_name(verdict), id, NULL};
    return run_with(s,
                    "INSERT OR REPLACE INTO classification(finding, build, details, at) VALUES (?1, ?2, ?3,"
                    " unixepoch())",
                    row, NULL, err) &&
           run_with(s, "UPDATE finding SET verdict = ?1 WHERE id = ?2", what, NULL, err);
}

bool dh_store_heal(struct dh_store *s, const char *id, enum dh_finding_healing healing, struct dh_err *err)
{
    const char *what[] = {dh_finding_healing_name(healing), id, NULL};
    return run_with(s, "UPDATE finding SET healing = ?1 WHERE id = ?2", what, NULL, err);
}

bool dh_store_healed(struct dh_store *s, const char *id, const char *build, const char *details, struct dh_err *err)
{
    const char *row[] = {id, build, details, NULL};
    return run_with(s, "INSERT OR REPLACE INTO healing(finding, build, details, at) VALUES (?1, ?2, ?3, unixepoch())",
                    row, NULL, err);
}

bool dh_store_heal_failed(struct dh_store *s, const char *id, const char *build, struct dh_err *err)
{
    const char *row[] = {id, build, NULL}, *what[] = {id, NULL};
    return run_with(s,
                    "INSERT OR IGNORE INTO healing(finding, build, details, at)"
                    " SELECT ?1, ?2, '{}', unixepoch() FROM finding WHERE id = ?1",
                    row, NULL, err) &&
           run_with(s,
                    "UPDATE healing SET details = json_set(details, '$.given_up',"
                    " coalesce(json_extract(details, '$.given_up'), 0) + 1) WHERE finding = ?1 AND build = ?2",
                    row, NULL, err) &&
           run_with(s, "UPDATE finding SET healing = 'offered' WHERE id = ?1", what, NULL, err);
}

bool dh_store_commit(struct dh_store *s, struct dh_err *err)
{
    return execute(s, "COMMIT", "write", err);
}

char *dh_store_arguments(char *const *argv)
{
    struct dh_str s = {0};
    for (int i = 1; argv[i]; i++)
        dh_str_addf(&s, "%s%s", i > 1 ? " " : "", argv[i]);
    return dh_str_take(&s);
}

bool dh_store_put(const char *path, const struct dh_store_run *run, const struct dh_finding *f, struct dh_err *err)
{
    struct dh_store *s = dh_store_open(path, DH_STORE_WRITE, err);
    long long id;
    bool ok = s && dh_store_begin(s, run, &id, err) && dh_store_add(s, id, f, err) && dh_store_commit(s, err);
    dh_store_close(s);
    return ok;
}

/* ---- reading ---- */

bool dh_store_last_run(struct dh_store *s, long long *id, struct dh_err *err)
{
    return ask_number(s, "SELECT coalesce(max(id), 0) FROM run", id, err);
}

static const char *column_text(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? text : "";
}

static void set_column(sqlite3_stmt *q, int column, char **field)
{
    dh_finding_set(field, column_text(q, column));
}

static bool read_row(sqlite3_stmt *q, struct dh_finding *f)
{
    const char *details = (const char *)sqlite3_column_text(q, 10);
    if (!dh_details_read(details ? details : "", f))
        return false;
    set_column(q, 0, &f->id);
    f->kind = dh_finding_kind_parse(column_text(q, 1));
    set_column(q, 2, &f->detector);
    f->level = dh_finding_level_parse(column_text(q, 3));
    f->verdict = dh_finding_verdict_parse(column_text(q, 4));
    f->healing = dh_finding_healing_parse(column_text(q, 5));
    set_column(q, 6, &f->witness);
    f->first_seen = sqlite3_column_int64(q, 7);
    f->last_seen = sqlite3_column_int64(q, 8);
    f->runs = sqlite3_column_int64(q, 9);
    set_column(q, 11, &f->build);
    return true;
}

static const char query[] =
    "SELECT f.id, f.kind, f.detector, f.level, f.verdict, f.healing, f.witness, f.first_seen, f.last_seen,"
    " (SELECT count(*) FROM sighting WHERE finding = f.id),"
    " e.details, e.build FROM finding f"
    " JOIN evidence e ON e.finding = f.id AND e.build ="
    "  (SELECT build FROM evidence WHERE finding = f.id ORDER BY seen DESC, build LIMIT 1)"
    " WHERE substr(f.id, 1, length(?1)) = ?1 AND (?2 = 0 OR EXISTS (SELECT 1 FROM sighting"
    "  WHERE finding = f.id AND run = ?2))"
    " AND (?3 = '' OR instr(',' || ?3 || ',', ',' || f.kind || ','))"
    " AND (?4 = '' OR instr(',' || ?4 || ',', ',' || f.level || ','))"
    " AND (?5 = '' OR instr(',' || ?5 || ',', ',' || f.detector || ','))"
    " AND ((?6 = 0 AND ?7 = '') OR EXISTS (SELECT 1 FROM sighting g JOIN run r ON r.id = g.run"
    "  WHERE g.finding = f.id AND r.id > ?6 AND (?7 = '' OR r.program = ?7))) ORDER BY f.first_seen, f.id";

/* Stores of before there were any have no such table. */
static void read_more(struct dh_store *s, const struct dh_finding *f, const char *sql, char **out)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK) {
        sqlite3_bind_text(q, 1, f->id, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, f->build, -1, SQLITE_STATIC);
        if (sqlite3_step(q) == SQLITE_ROW)
            set_column(q, 0, out);
    }
    sqlite3_finalize(q);
}

bool dh_store_each(struct dh_store *s, const struct dh_store_choice *choice,
                   void (*fn)(void *arg, const struct dh_finding *f), void *arg, struct dh_err *err)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, query, -1, &q, NULL) != SQLITE_OK)
        return failed(s, err, "read");
    const char *const lists[] = {choice->kinds, choice->levels, choice->detectors};
    sqlite3_bind_text(q, 1, choice->id ? choice->id : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, choice->run);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_text(q, 3 + i, lists[i] ? lists[i] : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 6, choice->since);
    sqlite3_bind_text(q, 7, choice->program ? choice->program : "", -1, SQLITE_STATIC);
    int step;
    bool ok = true;
    while (ok && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct dh_finding f;
        ok = read_row(q, &f) ||
             dh_err_set(err, "%s is damaged (the details of finding %s)", s->path, sqlite3_column_text(q, 0));
        if (ok) {
            read_more(s, &f, "SELECT details FROM classification WHERE finding = ?1 AND build = ?2", &f.classification);
            read_more(s, &f, "SELECT details FROM healing WHERE finding = ?1 AND build = ?2", &f.healed);
            fn(arg, &f);
        }
        dh_finding_release(&f);
    }
    ok = ok && (step == SQLITE_DONE || failed(s, err, "read"));
    sqlite3_finalize(q);
    return ok;
}
