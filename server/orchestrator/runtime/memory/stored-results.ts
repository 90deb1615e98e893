import { readJson } from '../../../platform/json-text.ts';
import type { JsonValue, StoredValue } from '../../core/index.ts';
import type { LargeResult } from '../../log/index.ts';
import { ByteBudget } from './byte-budget.ts';
import type { MemoryLimits } from './memory-limits.ts';

/** Reads the JSON texts of stored values; those that the log does not have are absent. */
export type ReadStored = (runId: string, ids: readonly string[]) => Promise<Map<string, string>>;

/** The results to load: the stored results that an attempt may read, by step. */
export type Wanted = { runId: string; tenantId: string; results: ReadonlyMap<string, StoredValue> };

/** A stored result that the log does not have: it can never be read. */
export class ResultMissing extends Error {}

/** The results that an attempt needs are larger than what may be loaded at a time. */
export class ResultsTooLarge extends Error {}

/** Stored results in memory for one attempt, until they are released. */
export class LoadedResults {
  readonly #texts: Map<string, string>;
  readonly #values = new Map<string, JsonValue>();
  readonly #onRelease: () => void;
  #released = false;

  constructor(texts: Map<string, string>, onRelease: () => void) {
    this.#texts = texts;
    this.#onRelease = onRelease;
  }

  /** The JSON text of a step's result. Throws an Error if it was not loaded or was released. */
  text(step: string): string {
    const text = this.#texts.get(step);
    if (text === undefined) throw new Error(`the result of "${step}" is not loaded`);
    return text;
  }

  /** The value, parsed once however many templates refer to it. Throws like `text`. */
  value(step: string): JsonValue {
    const known = this.#values.get(step);
    if (known !== undefined) return known;
    const value = readJson(this.text(step));
    this.#values.set(step, value);
    return value;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#texts.clear();
    this.#values.clear();
    this.#onRelease();
  }
}

/**
 * Loads large results when attempts need them. Both the results that attempts hold and those that are cached
 * are limited in bytes. Results that were just committed are cached, because the steps that read them
 * usually follow immediately.
 */
export class StoredResults {
  readonly #read: ReadStored;
  readonly #cache: TextCache;
  readonly #loading: ByteBudget;
  readonly #limits: MemoryLimits;

  constructor(read: ReadStored, limits: MemoryLimits) {
    this.#read = read;
    this.#limits = limits;
    this.#cache = new TextCache(limits.cacheBytes);
    this.#loading = new ByteBudget(limits.loadingBytes, { isShared: true });
  }

  /** Bytes in the cache. */
  get cachedBytes(): number {
    return this.#cache.size;
  }

  /** Bytes that attempts hold. */
  get loadedBytes(): number {
    return this.#loading.used;
  }

  /** Attempts that wait for room. */
  get waiting(): number {
    return this.#loading.waiting;
  }

  /** Caches results that were just committed. */
  keep(results: readonly LargeResult[]): void {
    for (const { id, json } of results) this.#cache.put(id, json);
  }

  /** Loads without waiting, if everything is in memory and there is room; otherwise null. Throws ResultsTooLarge. */
  loadCached({ tenantId, results }: Wanted): LoadedResults | null {
    const bytes = this.#bytesOf(results);
    const texts = new Map<string, string>();
    for (const [step, { id }] of results) {
      const text = this.#cache.get(id);
      if (text === undefined) return null;
      texts.set(step, text);
    }
    return this.#loading.tryTake(tenantId, bytes) ? this.#loaded(tenantId, bytes, texts) : null;
  }

  /** Waits for room, then reads what is not in memory. Rejects with ResultsTooLarge, ResultMissing, the abort or the database's error. */
  async load({ runId, tenantId, results }: Wanted, signal: AbortSignal): Promise<LoadedResults> {
    const bytes = this.#bytesOf(results);
    await this.#loading.take(tenantId, bytes, signal);
    try {
      const texts = new Map<string, string>();
      for (const [step, { id }] of results) {
        const text = this.#cache.get(id);
        if (text !== undefined) texts.set(step, text);
      }
      const missing = [...results].filter(([step]) => !texts.has(step));
      const read =
        missing.length === 0
          ? null
          : await this.#read(
              runId,
              missing.map(([, { id }]) => id),
            );
      for (const [step, { id }] of missing) {
        const text = read?.get(id);
        if (text === undefined) throw new ResultMissing(`the result of "${step}" is missing in the log`);
        this.#cache.put(id, text);
        texts.set(step, text);
      }
      return this.#loaded(tenantId, bytes, texts);
    } catch (error) {
      this.#loading.give(tenantId, bytes);
      throw error;
    }
  }

  #loaded(tenantId: string, bytes: number, texts: Map<string, string>): LoadedResults {
    return new LoadedResults(texts, () => this.#loading.give(tenantId, bytes));
  }

  #bytesOf(results: ReadonlyMap<string, StoredValue>): number {
    let bytes = 0;
    for (const result of results.values()) bytes += result.bytes;
    const { loadingBytes } = this.#limits;
    if (bytes <= loadingBytes) return bytes;
    throw new ResultsTooLarge(
      `The results that the step reads have ${bytes} bytes; at most ${loadingBytes} can be loaded at a time.`,
    );
  }
}

/** JSON texts by id, limited in their total length; the least recently used are dropped first. */
class TextCache {
  readonly #limit: number;
  readonly #texts = new Map<string, string>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The length of all texts together. */
  get size(): number {
    return this.#size;
  }

  get(id: string): string | undefined {
    const text = this.#texts.get(id);
    if (text === undefined) return undefined;
    this.#texts.delete(id);
    this.#texts.set(id, text);
    return text;
  }

  /** A text longer than the limit is not kept. */
  put(id: string, text: string): void {
    if (this.#texts.has(id) || text.length > this.#limit) return;
    this.#texts.set(id, text);
    this.#size += text.length;
    for (const [oldest, dropped] of this.#texts) {
      if (this.#size <= this.#limit) return;
      this.#texts.delete(oldest);
      this.#size -= dropped.length;
    }
  }
}
