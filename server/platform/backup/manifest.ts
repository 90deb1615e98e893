import { z } from 'zod';

/** The version of the file's format, in its first line. A reader refuses any other one. */
export const FORMAT = 1;

const Name = z.string().min(1).max(63);
const Hex = z.string().regex(/^(?:[0-9a-f]{2})+$/);
/** ms since the epoch; null for the partition that has no lower bound. */
const Bound = z.number().int().nullable();

const Partition = z.strictObject({
  of: z.enum(['run_events', 'run_payloads', 'run_usage']),
  from: Bound,
  to: z.number().int(),
});

const Table = z.strictObject({
  name: Name,
  columns: z.array(Name).min(1),
  /** Set for a partition of a month: the migrations do not create it. */
  partition: Partition.optional(),
});

const Sequence = z.strictObject({ name: Name, value: z.string().regex(/^-?\d{1,19}$/), called: z.boolean() });

/** Everything about a database except its rows. */
export const Layout = z.strictObject({
  /** The server's version, such as `18.4`. */
  postgres: z.string().max(100),
  /** The migrations that were applied, in their order. */
  migrations: z.array(z.strictObject({ name: z.string().min(1).max(255), checksum: Hex })).min(1),
  tables: z.array(Table).min(1),
  sequences: z.array(Sequence),
});

export type Layout = z.output<typeof Layout>;

/** The master key, encrypted with a key that scrypt derives from a passphrase. */
export const SealedKey = z.strictObject({
  salt: Hex,
  // Bounded, because a reader spends 128 * N * r bytes and the time that they imply.
  log2N: z.number().int().min(14).max(20),
  r: z.literal(8),
  p: z.literal(1),
  sealed: Hex,
});

export type SealedKey = z.output<typeof SealedKey>;

/** The description of a backup, which the file holds after its rows. */
export const Manifest = z.strictObject({
  /** The instant of the snapshot. */
  created_at: z.iso.datetime(),
  /** The version of Baton that made the backup. */
  baton: z.string().max(100),
  layout: Layout,
  /** The number of rows by table. */
  rows: z.record(Name, z.number().int().min(0)),
  master_key: z.strictObject({
    fingerprint: Hex,
    /** The key itself, if the operator asked for it. */
    key: SealedKey.optional(),
  }),
});

export type Manifest = z.output<typeof Manifest>;

/** One table's rows, in COPY's text format; the chunks end anywhere. */
export type TableRows = { name: string; rows: AsyncIterable<Buffer> };

/** A database or a file from which rows are read. `tables` yields the tables of the layout, in its order. */
export type RowSource = {
  layout: Layout;
  /** Reads each table once; the rows of one have to be read before the next one. */
  tables(): AsyncIterable<TableRows>;
  /** Returns how many rows a table has. A database knows it once they were read. */
  rowsOf(table: string): number | undefined;
};

export const totalRows = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0);
