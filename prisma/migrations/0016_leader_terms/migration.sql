-- One row for each time that a process began to lead. An attempt carries the term in which it began, so that the next leader can tell
-- whether what interrupted it was a process that died, or one that is known to have outlived its term.
CREATE TABLE "leader_terms" (
    "term" SERIAL NOT NULL,
    "process_id" UUID NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "survived_at" TIMESTAMPTZ(3),

    CONSTRAINT "leader_terms_pkey" PRIMARY KEY ("term")
);
