-- What people write comes back as they wrote it: jsonb sorts the keys of an object, which would rearrange a draft under
-- its editor, the fields of an input form and those of a task's form.
ALTER TABLE "workflows" ALTER COLUMN "graph" SET DATA TYPE JSON USING "graph"::json;
ALTER TABLE "workflows" ALTER COLUMN "run_setup" SET DATA TYPE JSON USING "run_setup"::json;
ALTER TABLE "workflow_versions" ALTER COLUMN "graph_snapshot" SET DATA TYPE JSON USING "graph_snapshot"::json;
ALTER TABLE "workflow_versions" ALTER COLUMN "run_setup" SET DATA TYPE JSON USING "run_setup"::json;
ALTER TABLE "human_tasks" ALTER COLUMN "form" SET DATA TYPE JSON USING "form"::json;
