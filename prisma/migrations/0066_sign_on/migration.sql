-- Sign-in through OpenID Connect (docs/sign-on.md). A person is known by issuer and subject; an address only links the
-- first sign-in to an account. An account signs in as one person of an issuer, so an address that is given to another
-- person opens nothing.
CREATE TABLE "sign_on_identities" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "refresh_token" BYTEA,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_on_identities_pkey" PRIMARY KEY ("issuer", "subject")
);
CREATE UNIQUE INDEX "sign_on_identities_issuer_user_id_key" ON "sign_on_identities"("issuer", "user_id");
CREATE INDEX "sign_on_identities_due_idx" ON "sign_on_identities"("checked_at") WHERE "refresh_token" IS NOT NULL;

-- A row is needed no longer than the session lasts.
CREATE TABLE "sign_on_sessions" (
    "session_id" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "id_token" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_on_sessions_pkey" PRIMARY KEY ("session_id")
);
CREATE INDEX "sign_on_sessions_expires_at_idx" ON "sign_on_sessions"("expires_at");

CREATE TABLE "used_sign_ons" (
    "state_hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_sign_ons_pkey" PRIMARY KEY ("state_hash")
);
CREATE INDEX "used_sign_ons_expires_at_idx" ON "used_sign_ons"("expires_at");
