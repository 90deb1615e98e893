-- An agent is a workflow of one step, whose graph has what the agent is told and may do; here is the rest.
CREATE TABLE "agents" (
    "id" UUID NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "project_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "starters" TEXT[],

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "agents_id_fkey" FOREIGN KEY ("id") REFERENCES "workflows"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
