-- An address belongs to an account only once the account was confirmed through it (docs/adr/0014-confirmed-addresses.md). Whoever
-- accepted an invitation owned its address for good before, and that may have been the person who made the invitation. Accounts that
-- exist become unconfirmed, because nothing says who made them; the first one was made by the operator.
ALTER TABLE "users"
    ADD COLUMN "confirmed_at" TIMESTAMPTZ(3),
    ADD COLUMN "replaced_at" TIMESTAMPTZ(3);
UPDATE "users" SET "confirmed_at" = "created_at"
    WHERE "id" = (SELECT "id" FROM "users" ORDER BY "created_at", "id" LIMIT 1);
DROP INDEX "users_email_key";
CREATE INDEX "users_email_idx" ON "users"("email");
CREATE UNIQUE INDEX "users_confirmed_email_key" ON "users"("email") WHERE "confirmed_at" IS NOT NULL;

-- Links that confirm an address or reset a password: hashed, for one use, until they expire.
CREATE TABLE "account_tokens" (
    "token_hash" BYTEA NOT NULL,
    "purpose" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "user_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_tokens_pkey" PRIMARY KEY ("token_hash")
);
CREATE INDEX "account_tokens_email_idx" ON "account_tokens"("email");
CREATE INDEX "account_tokens_expires_at_idx" ON "account_tokens"("expires_at");

-- Sessions that were signed out before their cookie expired. A row is needed no longer than the last cookie of its session is valid.
CREATE TABLE "ended_sessions" (
    "id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ended_sessions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ended_sessions_expires_at_idx" ON "ended_sessions"("expires_at");
