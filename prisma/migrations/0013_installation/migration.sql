-- Which master key this database belongs to: a value derived from it, from which the key cannot be found. One row, written by the
-- first start that has a key which opens the stored tenant keys. Two processes with different keys stood by for each other, and
-- after a takeover every webhook and every secret failed.
CREATE TABLE "installation" (
    "id" INTEGER NOT NULL,
    "master_key_fingerprint" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "installation_one_row" CHECK ("id" = 1)
);

-- When retention last trusted the clock. One row, written by every pass: a clock that has jumped since then deletes nothing.
CREATE TABLE "retention_progress" (
    "id" INTEGER NOT NULL,
    "trusted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retention_progress_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "retention_progress_one_row" CHECK ("id" = 1)
);
