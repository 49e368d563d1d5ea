CREATE TABLE record (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    memory TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL
);
CREATE INDEX record_by_namespace ON record (memory, key, kind, seq);
