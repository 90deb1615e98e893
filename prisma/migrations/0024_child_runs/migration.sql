-- Apart from `runs`, so that a run that no step called costs nothing more.
CREATE TABLE "child_runs" (
    "run_id" UUID NOT NULL,
    "parent_run_id" UUID NOT NULL,
    "parent_workflow_id" UUID NOT NULL,
    "parent_step_id" TEXT NOT NULL,
    "detached" BOOLEAN NOT NULL,

    CONSTRAINT "child_runs_pkey" PRIMARY KEY ("run_id")
);
