import { z } from 'zod';

/**
 * The content of the secret store for a connection, as `connection/<id>`: one JSON object of credential name to secret.
 * It also has `@meta`, a name that no credential can have.
 */
export type CredentialDocument = {
  /** No prototype: a name that was not set is undefined. */
  values: Readonly<Record<string, string>>;
  /** When each secret was last set, ms since the epoch. */
  setAt: ReadonlyMap<string, number>;
  /** The row's `rotated_at` at the time of writing; null in a document that was written manually. */
  revision: number | null;
  /** The row's `origins` with which the document was written; null in a document from before connections had origins. */
  origins: readonly string[] | null;
};

const metaName = '@meta';
const Meta = z.object({
  revision: z.number(),
  set_at: z.record(z.string(), z.number()),
  origins: z.array(z.string()).optional(),
});
const Stored = z.record(z.string(), z.unknown());

/** Stands for the key of a server that requires none, since a connection has at least one credential. It is not secret. */
export const NO_SECRET = 'no-key-needed';

/** Returns the name of a connection's document in the secret store. */
export const connectionSecret = (connectionId: string) => `connection/${connectionId}`;

/**
 * Returns a document of these values, written at `revision`; values that are the same in `previous` keep
 * the time when they were set.
 */
export function documentOf(
  values: Readonly<Record<string, string>>,
  { revision, origins }: { revision: number; origins: readonly string[] },
  previous: CredentialDocument | null = null,
): CredentialDocument {
  const setAt = new Map(
    Object.entries(values).map(([name, value]) => {
      const kept = previous?.values[name] === value ? previous.setAt.get(name) : undefined;
      return [name, kept ?? revision];
    }),
  );
  return { values: withoutPrototype(values), setAt, revision, origins };
}

export function encodeDocument({ values, setAt, revision, origins }: CredentialDocument): string {
  return JSON.stringify({ ...values, [metaName]: { revision, set_at: Object.fromEntries(setAt), origins } });
}

/** Reads what `encodeDocument` wrote. Throws an Error that contains nothing of the text. */
export function decodeDocument(text: string): CredentialDocument {
  const stored = Stored.safeParse(parseJson(text));
  if (!stored.success) throw new Error('A connection in the secret store is not a JSON object.');
  const meta = Meta.safeParse(stored.data[metaName]);
  const entries = Object.entries(stored.data).filter(
    (entry): entry is [string, string] => entry[0] !== metaName && typeof entry[1] === 'string',
  );
  return {
    values: withoutPrototype(Object.fromEntries(entries)),
    setAt: new Map(meta.success ? Object.entries(meta.data.set_at) : []),
    revision: meta.success ? meta.data.revision : null,
    origins: (meta.success ? meta.data.origins : undefined) ?? null,
  };
}

/** JSON.parse quotes the text in its error, and the text is secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withoutPrototype(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.assign(Object.create(null), values);
}
