CREATE TABLE partition (
    id INTEGER PRIMARY KEY,
    env TEXT NOT NULL,
    task TEXT NOT NULL,
    encoder TEXT NOT NULL,
    last TEXT NOT NULL,
    UNIQUE (env, task)
);
CREATE TABLE fact (
    partition INTEGER NOT NULL,
    number INTEGER NOT NULL,
    live INTEGER NOT NULL,
    embedding BLOB,
    subject TEXT NOT NULL,
    relation TEXT NOT NULL,
    object TEXT NOT NULL,
    PRIMARY KEY (partition, number)
) WITHOUT ROWID;
CREATE TABLE event (
    partition INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    t INTEGER NOT NULL,
    fact INTEGER NOT NULL,
    retired_by TEXT NOT NULL,
    PRIMARY KEY (partition, seq)
) WITHOUT ROWID;
CREATE TABLE observation (
    partition INTEGER NOT NULL,
    number INTEGER NOT NULL,
    t INTEGER NOT NULL,
    text TEXT NOT NULL,
    action TEXT NOT NULL,
    facts TEXT NOT NULL,
    PRIMARY KEY (partition, number)
) WITHOUT ROWID;
CREATE TABLE mention (
    partition INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    fact INTEGER NOT NULL,
    observation INTEGER NOT NULL,
    first INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    PRIMARY KEY (partition, seq)
) WITHOUT ROWID;
