/** The error when a workspace has used up its memory for responses. */
export class ResponseMemoryUsedUp extends Error {
  constructor() {
    super('Too many large responses arrive at the same time.');
    this.name = 'ResponseMemoryUsedUp';
  }
}

/**
 * Limits the bytes of responses that arrive at the same time, for each workspace: thousands of requests may be in flight,
 * and each may bring a large body.
 */
export class ResponseMemory {
  readonly #limit: number;
  readonly #used = new Map<string, number>();

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Counts bytes that have arrived. Throws ResponseMemoryUsedUp beyond the limit. */
  take(tenantId: string, bytes: number): void {
    const used = (this.#used.get(tenantId) ?? 0) + bytes;
    if (used > this.#limit) throw new ResponseMemoryUsedUp();
    this.#used.set(tenantId, used);
  }

  /** Frees bytes that were taken. */
  free(tenantId: string, bytes: number): void {
    const used = (this.#used.get(tenantId) ?? 0) - bytes;
    if (used > 0) this.#used.set(tenantId, used);
    else this.#used.delete(tenantId);
  }
}
