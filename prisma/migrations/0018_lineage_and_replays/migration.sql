-- Which token made a token: revoking one revokes what it made. Null for those made in the console, and for all from before.
ALTER TABLE "pats" ADD COLUMN "created_by_pat_id" UUID;
CREATE INDEX "pats_created_by_pat_id_idx" ON "pats"("created_by_pat_id");

-- Signatures of deliveries that a webhook has taken, and the run that each stands for: the Idempotency-Key is not signed, so a recorded
-- delivery could be sent again under another one. Kept until the signature is refused anyway.
CREATE TABLE "webhook_signatures" (
    "subscription_id" UUID NOT NULL,
    "signature" BYTEA NOT NULL,
    "run_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_signatures_pkey" PRIMARY KEY ("subscription_id", "signature"),
    CONSTRAINT "webhook_signatures_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "webhook_subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "webhook_signatures_expires_at_idx" ON "webhook_signatures"("expires_at");
