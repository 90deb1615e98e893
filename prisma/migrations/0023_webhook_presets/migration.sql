-- How a webhook authenticates its deliveries. Those that exist keep the signature and token of the API contract.
ALTER TABLE "webhook_subscriptions"
    ADD COLUMN "preset" TEXT NOT NULL DEFAULT 'baton',
    ADD COLUMN "username" TEXT,
    ADD COLUMN "has_secret" BOOLEAN NOT NULL DEFAULT true;
