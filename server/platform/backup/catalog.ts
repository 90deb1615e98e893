import type { ClientBase } from 'pg';
import pg from 'pg';
import { listPartitions } from '../postgres/partitions.ts';
import { StartupError } from '../postgres/startup-error.ts';
import type { Layout } from './manifest.ts';

type Client = Pick<ClientBase, 'query'>;

/** Objects of extensions come with the extension. */
const OWN = `n.nspname = current_schema()
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

export async function readServerVersion(client: Client): Promise<string> {
  const { rows } = await client.query<{ version: string }>(`SELECT current_setting('server_version') AS version`);
  return rows[0]?.version ?? '';
}

/** Returns the tables that hold rows, in the order of their names: a partitioned table holds none itself. */
export async function readTables(client: Client): Promise<Layout['tables']> {
  type Row = { name: string; columns: string[]; is_partition: boolean; is_default: boolean };
  const { rows } = await client.query<Row>(
    `SELECT c.relname AS name, c.relispartition AS is_partition, coalesce(p.partdefid = c.oid, false) AS is_default,
            (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_partitioned_table p ON p.partrelid = i.inhparent
     WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${OWN} ORDER BY c.relname COLLATE "C"`,
  );
  const months = new Map((await listPartitions(client as ClientBase)).map(month => [month.name, month]));
  return rows.map(({ name, columns, is_partition, is_default }) => {
    if (!is_partition || is_default) return { name, columns };
    const month = months.get(name);
    if (month === undefined) throw new StartupError(`The partition ${name} has bounds that no version of Baton makes.`);
    const from = Number.isFinite(month.from) ? month.from : null;
    return { name, columns, partition: { of: month.table, from, to: month.to } };
  });
}

/** Returns the sequences. Their numbers are not part of a snapshot; they are never lower than those in its rows. */
export async function readSequences(client: Client): Promise<Layout['sequences']> {
  const names = await readSequenceNames(client);
  const sequences: Layout['sequences'] = [];
  for (const name of names) {
    const { rows } = await client.query<{ value: string; called: boolean }>(
      `SELECT last_value::text AS value, is_called AS called FROM ${pg.escapeIdentifier(name)}`,
    );
    const [row] = rows;
    if (row !== undefined) sequences.push({ name, ...row });
  }
  return sequences;
}

export async function readSequenceNames(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'S' AND ${OWN} ORDER BY c.relname COLLATE "C"`,
  );
  return rows.map(({ name }) => name);
}

/** Returns the name of something in the schema that a restore would collide with; null if it is empty. */
export async function findObject(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND ${OWN} ORDER BY c.relname LIMIT 1`,
  );
  return rows[0]?.name ?? null;
}

/** A foreign key: dropped while rows are loaded, so that their order is free, and then checked all at once. */
export type ForeignKey = { table: string; name: string; definition: string };

export async function readForeignKeys(client: Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `SELECT c.relname AS table, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE k.contype = 'f' AND k.conparentid = 0 AND n.nspname = current_schema() ORDER BY 1, 2`,
  );
  return rows;
}

/** Returns the tables with triggers of Baton's own, which would write rows that the backup holds as well. */
export async function readTriggeredTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT c.relname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE NOT t.tgisinternal AND n.nspname = current_schema() ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}
