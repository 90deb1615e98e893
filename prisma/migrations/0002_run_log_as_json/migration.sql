-- The log is text to the database, which never looks inside: json keeps a value exactly as it was written (the order of
-- an object's keys, which templates can show, and U+0000, which jsonb refuses), and costs no conversion.
ALTER TABLE "run_events" ALTER COLUMN "data" SET DATA TYPE JSON USING "data"::json;
ALTER TABLE "run_payloads" ALTER COLUMN "body" SET DATA TYPE JSON USING "body"::json;
