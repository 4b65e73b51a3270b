// Two threads write to one database, in buffers so small that the background thread has to compact.
#include "leveldb/db.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

static leveldb::DB *open_at(const std::string &folder)
{
    leveldb::DB *db = nullptr;
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    leveldb::Status s = leveldb::DB::Open(options, folder, &db);
    if (!s.ok())
        std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return db;
}

static void write_keys(leveldb::DB *db, const char *prefix, int n)
{
    std::string value(4096, *prefix);
    for (int i = 0; i < n; i++)
        db->Put(leveldb::WriteOptions(), prefix + std::to_string(i), value);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/leveldb-writers-XXXXXX";
    int n = argc > 1 ? std::atoi(argv[1]) : 12;
    leveldb::DB *db = mkdtemp(folder) ? open_at(folder) : nullptr;
    if (!db)
        return 1;
    std::thread first(write_keys, db, "a", n), second(write_keys, db, "b", n);
    first.join();
    second.join();
    std::string last;
    leveldb::Status s = db->Get(leveldb::ReadOptions(), "a" + std::to_string(n - 1), &last);
    std::printf("%s %zu\n", s.ToString().c_str(), last.size());
    delete db;
    leveldb::DestroyDB(folder, leveldb::Options());
    return s.ok() ? 0 : 1;
}
