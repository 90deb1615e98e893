const NAME = 'baton-editing:';

/** Tells other tabs that an editor is open, until it calls the function that is returned or its tab is gone, by a crash as well. */
export function holdKey(key: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  locks()
    ?.request(NAME + key, () => promise)
    .catch(() => undefined);
  return resolve;
}

/**
 * Returns the keys that open editors hold. Browsers have locks only over HTTPS and on the same machine; elsewhere the edits of another
 * open tab are offered as well, which does no harm: they are merged.
 */
export async function heldKeys(): Promise<ReadonlySet<string>> {
  try {
    const { held = [], pending = [] } = (await locks()?.query()) ?? {};
    return new Set([...held, ...pending].map(({ name = '' }) => name.slice(NAME.length)));
  } catch {
    return new Set();
  }
}

const locks = (): LockManager | undefined => ('locks' in navigator ? navigator.locks : undefined);
