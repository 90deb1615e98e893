-- To whom people have assigned a task instead of those that its workflow names. Null: nobody has.
ALTER TABLE "human_tasks"
    ADD COLUMN "assigned_to" TEXT[],
    ADD COLUMN "assigned_by" TEXT,
    ADD COLUMN "assigned_at" TIMESTAMPTZ(3);
