-- The person whose credits of the day a run counts towards: of an answer in a chat, the sender of the message; of a trial, who
-- started it. Null: nobody's.
ALTER TABLE "runs" ADD COLUMN "spender_id" UUID;
UPDATE "runs" r SET "spender_id" = m."sent_by" FROM "chat_messages" m WHERE m."run_id" = r."id";
CREATE INDEX "runs_spender" ON "runs"("tenant_id", "spender_id", "started_at") WHERE "spender_id" IS NOT NULL;

-- The part of a task's instructions that suffices for the decision, for people who may answer it and not read its run. Null: nothing
-- is shown to them. Approvals that wait have what was said before the call in the middle of their instructions.
ALTER TABLE "human_tasks" ADD COLUMN "to_decide" TEXT;
UPDATE "human_tasks" t SET "to_decide" = split_part(t."instructions", E'\n\nWhat the agent said before the call:', 1)
  FROM "chat_messages" m WHERE m."run_id" = t."run_id" AND t."state" = 'pending' AND t."step_id" LIKE '%.ok'
   AND t."instructions" LIKE 'The agent wants to call the tool %';
