-- Skips that were decided together are one row of the type 'steps_skipped', which takes as many numbers as it has steps
-- (docs/adr/0030). Statements that look for skips, or count events, read this view, which has a row for each event.
CREATE VIEW expanded_run_events AS
  SELECT run_id, seq, event_type, step_id, attempt, data, created_at FROM run_events WHERE event_type <> 'steps_skipped'
  UNION ALL
  SELECT e.run_id, e.seq + s.before, 'step_completed', s.step_id, NULL::int,
         json_build_object('skipped', true, 'reason', s.reason), e.created_at
    FROM run_events e
   CROSS JOIN LATERAL (
     SELECT skips.value->>'reason' AS reason, skipped.step_id,
            (row_number() OVER (ORDER BY skips.place, skipped.place) - 1)::int AS before
       FROM json_array_elements(e.data->'skips') WITH ORDINALITY AS skips(value, place)
      CROSS JOIN LATERAL json_array_elements_text(skips.value->'steps') WITH ORDINALITY AS skipped(step_id, place)) s
   WHERE e.event_type = 'steps_skipped';

-- The same, of logs that PostgreSQL cannot read as they are (0046_readable_json).
CREATE VIEW readable_expanded_run_events AS
  SELECT run_id, seq, event_type, step_id, attempt, readable_json(data) AS data, created_at FROM expanded_run_events;

-- The runs beneath a run: those that its steps called or started by a request to this service, and those that these did.
-- How many there are is limited for each run at the top (docs/adr/0030).
CREATE TABLE "run_descendants" (
    "run_id" UUID NOT NULL,
    "root_run_id" UUID NOT NULL,

    CONSTRAINT "run_descendants_pkey" PRIMARY KEY ("run_id")
);
CREATE INDEX "run_descendants_root_run_id_idx" ON "run_descendants"("root_run_id");
