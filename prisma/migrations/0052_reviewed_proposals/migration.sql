-- Who has changed a proposal, what its author had read before, and which requests of it a person has let happen.
ALTER TABLE "autopilot_proposals"
    ADD COLUMN "changes" JSON NOT NULL DEFAULT '[]',
    ADD COLUMN "written_after_reading" TEXT,
    ADD COLUMN "seen_requests" JSON NOT NULL DEFAULT '[]';
-- What an agent had read for an older proposal is not known.
UPDATE "autopilot_proposals" SET "written_after_reading" = 'unknown' WHERE "message_id" IS NOT NULL;

-- How many answers in succession have left errors or refused edits, for each run whose agent makes proposals.
CREATE TABLE "autopilot_rounds" (
    "run_id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "rounds" INTEGER NOT NULL,
    "asked_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "autopilot_rounds_pkey" PRIMARY KEY ("run_id")
);
CREATE INDEX "autopilot_rounds_updated_at_idx" ON "autopilot_rounds"("updated_at");
