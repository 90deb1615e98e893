-- Attempts that all nodes of a cluster count together: to guess a password or a code, and mails. "key" is a digest, since it may
-- contain a mail address. A row is replaced when its window has ended, and removed some time later.
CREATE TABLE "rate_counts" (
    "kind" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "window_end" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,
    CONSTRAINT "rate_counts_pkey" PRIMARY KEY ("kind", "key")
);
CREATE INDEX "rate_counts_window_end_idx" ON "rate_counts" ("window_end");
