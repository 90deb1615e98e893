-- The runs that a process is loading. A process that dies leaves its rows behind, so that the next one knows which runs it may have
-- died of. A row for each process and lane (the runs that callers wait for, and those taken up in the background); deleted when
-- everything is loaded.
CREATE TABLE "run_loads" (
    "process_id" UUID NOT NULL,
    "lane" TEXT NOT NULL,
    "run_ids" UUID[],

    CONSTRAINT "run_loads_pkey" PRIMARY KEY ("process_id", "lane")
);

-- How many processes died while they loaded a run. Empty unless one did.
CREATE TABLE "run_load_deaths" (
    "run_id" UUID NOT NULL,
    "deaths" INTEGER NOT NULL,

    CONSTRAINT "run_load_deaths_pkey" PRIMARY KEY ("run_id")
);
