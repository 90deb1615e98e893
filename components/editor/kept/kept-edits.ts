import { parseJson } from '@/server/platform/json-text.ts';
import { type DraftGraph, parseGraph } from '../graph-text.ts';

/** Edits of a draft that the server does not have, as one editor of one person left them. */
export type KeptEdits = {
  /** Where they are in the storage. */
  key: string;
  /** When they were kept, in ms since the epoch. */
  at: number;
  /** The draft that they were made to. */
  base: { etag: string; graph: DraftGraph };
  graph: DraftGraph;
  /** JSON of the graph that does not parse yet. */
  text: string | null;
  /** Texts of fields that cannot be read yet, by step and field. */
  fields: readonly (readonly [string, string])[];
};

/** The part of `localStorage` that is used, so that a browser without room can be tried. */
export type EditStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const PREFIX = 'baton:edits:';
/** Edits that were not restored by then are removed. */
export const MAX_AGE_MS = 30 * 24 * 3_600_000;
/** Browsers give a site five million characters. A draft has a million at most, and is kept with what it was made from. */
export const MAX_CHARACTERS = 2_200_000;
const MAX_ENTRIES = 40;

const prefixOf = (user: string, workflow = '') => `${PREFIX}${user}:${workflow}${workflow === '' ? '' : ':'}`;

/** Returns a key for the edits of one more editor: no two tabs share one, also not a tab and its copy. */
export function newKey(user: string, workflow: string): string {
  return `${prefixOf(user, workflow)}${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
}

/**
 * The edits kept in this browser. Reading and writing never throws: a browser may refuse storage, or have no room, and another
 * tab may change anything at any time. Each person sees their own alone.
 */
export class EditsInBrowser {
  readonly #storage: () => EditStorage;
  readonly #now: () => number;

  constructor(storage: () => EditStorage = () => window.localStorage, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Keeps edits. `base` is the JSON of what they were made to. Returns false where the browser has no room or refuses. */
  keep(key: string, { base, ...edits }: Omit<KeptEdits, 'key' | 'at' | 'base'> & { base: string }): boolean {
    const rest = JSON.stringify({ at: this.#now(), ...edits });
    // The base is large and seldom changes, so the caller has its text.
    const text = `{"base":${base},${rest.slice(1)}`;
    try {
      const storage = this.#storage();
      const isFull = text.length > MAX_CHARACTERS || (storage.getItem(key) === null && this.#isFull());
      if (!isFull) storage.setItem(key, text);
      else storage.removeItem(key);
      return !isFull;
    } catch {
      // Those of before would be taken for the latest.
      this.forget(key);
      return false;
    }
  }

  /** Removes edits. Returns their text, for `putBack`. */
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
      // There was room a moment ago; what another tab has kept since comes first.
    }
  }

  /** Returns what a person's editors of a workflow have kept, the latest first. */
  list(user: string, workflow: string): KeptEdits[] {
    return this.#keys(prefixOf(user, workflow))
      .flatMap(key => this.#read(key) ?? [])
      .sort((a, b) => b.at - a.at);
  }

  /** Returns in how many workflows a person has edits that are not saved. */
  countWorkflows(user: string): number {
    const prefix = prefixOf(user);
    return new Set(this.#keys(prefix).map(key => key.slice(prefix.length).split(':')[0])).size;
  }

  /** Removes everything of a person. */
  forgetAll(user: string): void {
    for (const key of this.#keys(prefixOf(user))) this.forget(key);
  }

  /** Removes what is too old, of anybody. Returns whether there is no place for more. */
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

  /** Reads an entry; removes what is too old or makes no sense. */
  #read(key: string): KeptEdits | null {
    try {
      const edits = readEdits(key, this.#storage().getItem(key) ?? '');
      if (edits !== null && this.#now() - edits.at < MAX_AGE_MS) return edits;
      this.#storage().removeItem(key);
    } catch {
      // It cannot be read now.
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
