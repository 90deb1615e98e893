import { parseJson } from '@/server/platform/json-text.ts';
import { type DraftGraph, parseGraph } from '../graph-text.ts';

/** Unsaved edits of a draft by one user in one editor. */
export type KeptEdits = {
  /** The storage key of the edits. */
  key: string;
  /** The time when the edits were kept, in ms since the epoch. */
  at: number;
  /** The draft that the edits are based on. */
  base: { etag: string; graph: DraftGraph };
  graph: DraftGraph;
  /** JSON of the graph that does not parse yet. */
  text: string | null;
  /** Texts of fields that do not parse yet, by step and field. */
  fields: readonly (readonly [string, string])[];
};

/** The used part of `localStorage`, so that a test can simulate a full storage. */
export type EditStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const PREFIX = 'baton:edits:';
/** Unrestored edits are removed after this time. */
export const MAX_AGE_MS = 30 * 24 * 3_600_000;
/**
 * A site can store five million characters in a browser. A draft has at most one million, and is kept together with its
 * base.
 */
export const MAX_CHARACTERS = 2_200_000;
const MAX_ENTRIES = 40;

const prefixOf = (user: string, workflow = '') => `${PREFIX}${user}:${workflow}${workflow === '' ? '' : ':'}`;

/** Returns a new storage key for an editor. No two tabs share a key, not even a tab and its duplicate. */
export function newKey(user: string, workflow: string): string {
  return `${prefixOf(user, workflow)}${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
}

/**
 * The edits kept in this browser. Reading and writing never throws: a browser may refuse storage, the storage may be
 * full, and another tab may change entries at any time. Users see only their own edits.
 */
export class EditsInBrowser {
  readonly #storage: () => EditStorage;
  readonly #now: () => number;

  constructor(storage: () => EditStorage = () => window.localStorage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Keeps edits. `base` is the JSON of their base. Returns false if the browser is full or refuses storage. */
  keep(key: string, { base, ...edits }: Omit<KeptEdits, 'key' | 'at' | 'base'> & { base: string }): boolean {
    const rest = JSON.stringify({ at: this.#now(), ...edits });
    // The base is large and seldom changes, so the caller passes it as JSON text.
    const text = `{"base":${base},${rest.slice(1)}`;
    try {
      const storage = this.#storage();
      const isFull = text.length > MAX_CHARACTERS || (storage.getItem(key) === null && this.#isFull());
      if (!isFull) storage.setItem(key, text);
      else storage.removeItem(key);
      return !isFull;
    } catch {
      // Remaining older edits would be mistaken for the latest.
      this.forget(key);
      return false;
    }
  }

  /** Removes edits. Returns the removed text for `putBack`. */
  forget(key: string): string | null {
    try {
      const storage = this.#storage();
      const text = storage.getItem(key);
      storage.removeItem(key);
      return text;
    } catch {
      return null;
    }
  }

  putBack(key: string, text: string): void {
    try {
      this.#storage().setItem(key, text);
    } catch {
      // There was space a moment ago; entries that another tab has stored since then have priority.
    }
  }

  /** Returns the edits that a user's editors of a workflow have kept, latest first. */
  list(user: string, workflow: string): KeptEdits[] {
    return this.#keys(prefixOf(user, workflow))
      .flatMap(key => this.#read(key) ?? [])
      .sort((a, b) => b.at - a.at);
  }

  /** Returns the number of workflows in which a user has unsaved edits. */
  countWorkflows(user: string): number {
    const prefix = prefixOf(user);
    return new Set(this.#keys(prefix).map(key => key.slice(prefix.length).split(':')[0])).size;
  }

  /** Removes all edits of a user. */
  forgetAll(user: string): void {
    for (const key of this.#keys(prefixOf(user))) this.forget(key);
  }

  /** Removes expired edits of all users. Returns whether the storage is full. */
  #isFull(): boolean {
    const keys = this.#keys(PREFIX);
    return keys.length >= MAX_ENTRIES && keys.filter(key => this.#read(key) !== null).length >= MAX_ENTRIES;
  }

  #keys(prefix: string): string[] {
    try {
      const storage = this.#storage();
      return Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '').filter(key =>
        key.startsWith(prefix),
      );
    } catch {
      return [];
    }
  }

  /** Reads an entry; removes it if it is expired or invalid. */
  #read(key: string): KeptEdits | null {
    try {
      const edits = readEdits(key, this.#storage().getItem(key) ?? '');
      if (edits !== null && this.#now() - edits.at < MAX_AGE_MS) return edits;
      this.#storage().removeItem(key);
    } catch {
      // The entry cannot be read now.
    }
    return null;
  }
}

function readEdits(key: string, text: string): KeptEdits | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return null;
  }
  if (!hasFields(value, 'at', 'base', 'graph', 'text', 'fields') || !hasFields(value.base, 'etag', 'graph'))
    return null;
  const { at, base, fields } = value;
  const graph = asGraph(value.graph);
  const baseGraph = asGraph(base.graph);
  if (typeof at !== 'number' || typeof base.etag !== 'string' || graph === null || baseGraph === null) return null;
  return {
    key,
    at,
    base: { etag: base.etag, graph: baseGraph },
    graph,
    text: typeof value.text === 'string' ? value.text : null,
    fields: Array.isArray(fields) ? fields.filter(isField) : [],
  };
}

function asGraph(value: unknown): DraftGraph | null {
  const parsed = parseGraph(JSON.stringify(value) ?? '');
  return 'graph' in parsed ? parsed.graph : null;
}

const isField = (entry: unknown): entry is [string, string] =>
  Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'string';

function hasFields<K extends string>(value: unknown, ...names: K[]): value is Record<K, unknown> {
  return typeof value === 'object' && value !== null && names.every(name => name in value);
}
