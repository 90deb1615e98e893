-- The usage that the commit of runs writes is the charge. It is counted into one number of its account within seconds, and posted
-- to the ledger from that by the hour. Until now the commit split it over the accounts itself and wrote an entry for each of its
-- workspaces: 100 us of PostgreSQL's CPU for each commit beside 175 for all the rest of it, a lock that commits had to wait for, and
-- a ledger that outgrew the usage.
--
-- charged: what was charged by usage up to number `counted`; posted: how much of it the ledger and the other accounts have.
ALTER TABLE "credit_accounts" ADD COLUMN "charged" "microcredits" NOT NULL DEFAULT 0,
  ADD COLUMN "counted" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "posted" "microcredits" NOT NULL DEFAULT 0;
UPDATE "credit_accounts" a SET "charged" = l."charged", "posted" = l."charged"
FROM (SELECT "tenant_id", sum("consumed") AS "charged" FROM "credit_ledger" WHERE "kind" = 'charge' GROUP BY "tenant_id") l
WHERE l."tenant_id" = a."tenant_id";

-- One row: up to this number the usage of every workspace is counted.
CREATE TABLE "credit_progress" (
    "id" INTEGER NOT NULL,
    "seq" BIGINT NOT NULL,

    CONSTRAINT "credit_progress_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "credit_progress_one_row" CHECK ("id" = 1)
);
INSERT INTO "credit_progress" SELECT 1, coalesce(max("seq"), 0) FROM "run_usage";

-- What is left of each grant is settled with every entry from now on: credits are taken from the grant that expires first, so
-- what the account holds belongs to those that expire last.
UPDATE "credit_grants" g SET "remaining" = v."remaining"
FROM (
  SELECT "tenant_id", "id", greatest(least("remaining", "held" - (sum("remaining") OVER "before" - "remaining")), 0) AS "remaining"
  FROM (
    SELECT h."tenant_id", h."id", h."account", h."expires_at", h."remaining",
           CASE h."account" WHEN 'trial' THEN a."trial" WHEN 'included' THEN a."included" ELSE a."payg" END AS "held"
    FROM "credit_grants" h JOIN "credit_accounts" a ON a."tenant_id" = h."tenant_id" WHERE h."remaining" > 0) live
  WINDOW "before" AS (PARTITION BY "tenant_id", "account" ORDER BY "expires_at" DESC NULLS FIRST, "id" DESC)) v
WHERE g."tenant_id" = v."tenant_id" AND g."id" = v."id" AND g."remaining" <> v."remaining";
UPDATE "credit_accounts" a SET "next_expiry_at" =
  (SELECT min(g."expires_at") FROM "credit_grants" g WHERE g."tenant_id" = a."tenant_id" AND g."remaining" > 0);

-- Balances are those of the accounts less what is to be posted; nothing else is to be taken for them.
DROP VIEW "credit_balances";
