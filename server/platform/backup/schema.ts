import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { checksumOf, type Migration, readMigrations } from '../postgres/migrate.ts';
import { StartupError } from '../postgres/startup-error.ts';
import type { Layout } from './manifest.ts';

type Client = Pick<ClientBase, 'query'>;

/**
 * Prisma's table of applied migrations, as its schema engine creates it. The engine commits each migration by itself, so a restore, which
 * is one transaction, applies the scripts without the engine.
 */
const MIGRATIONS_TABLE = `
  CREATE TABLE "_prisma_migrations" (
    "id" VARCHAR(36) PRIMARY KEY NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0
  )`;

/** The migrations that a backup has, and those of this version that it does not have. */
export type Plan = { applied: Migration[]; later: Migration[] };

/** Returns the plan for a backup. Throws StartupError if it has a migration that this version does not know, or knows differently. */
export async function planMigrations(layout: Layout): Promise<Plan> {
  const known = await readMigrations();
  for (const { name, checksum } of layout.migrations) {
    const own = known.find(migration => migration.name === name);
    if (own === undefined)
      throw new StartupError(
        `The backup has migration ${name}, which this version of Baton does not know: it was made by a newer version. Restore it with that version.`,
      );
    if (checksumOf(own) !== checksum)
      throw new StartupError(
        `The backup has another migration ${name} than this version of Baton: restore it with the version that made it.`,
      );
  }
  const names = new Set(layout.migrations.map(({ name }) => name));
  return {
    applied: known.filter(({ name }) => names.has(name)),
    later: known.filter(({ name }) => !names.has(name)),
  };
}

/** Creates the schema of the backup's version in the present transaction. */
export async function createSchema(client: Client, { applied }: Plan): Promise<void> {
  await client.query(MIGRATIONS_TABLE);
  for (const { script } of applied) await client.query(script);
}

/** Applies the later migrations to the rows that were loaded, as a start of this version would. */
export async function applyLater(client: Client, { later }: Plan, at: Date): Promise<void> {
  for (const migration of later) {
    await client.query(migration.script);
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, $4, $4, 1)`,
      [randomUUID(), checksumOf(migration), migration.name, at],
    );
  }
}
