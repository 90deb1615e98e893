-- The commit of runs adds what it charges to one number. The ledger has it in one entry for all that was charged since the
-- entry before (at the latest by the hour): with an entry for each commit, and the accounts split there, charging took 100 us of
-- PostgreSQL's CPU for each commit beside 175 for all the rest of it, and the ledger outgrew the usage. It takes 40 now.
--
-- charged: all that was ever charged; posted: how much of it the ledger and the other accounts have.
ALTER TABLE "credit_accounts" ADD COLUMN "charged" "microcredits" NOT NULL DEFAULT 0,
  ADD COLUMN "posted" "microcredits" NOT NULL DEFAULT 0;
UPDATE "credit_accounts" a SET "charged" = l."charged", "posted" = l."charged"
FROM (SELECT "tenant_id", sum("consumed") AS "charged" FROM "credit_ledger" WHERE "kind" = 'charge' GROUP BY "tenant_id") l
WHERE l."tenant_id" = a."tenant_id";
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
