const NAME = 'baton-editing:';

/** Tells other tabs that an editor is open, until the returned function is called or the tab closes or crashes. */
export function holdKey(key: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  locks()
    ?.request(NAME + key, () => promise)
    .catch(() => undefined);
  return resolve;
}

/**
 * Returns the keys that open editors hold. Browsers provide locks only over HTTPS and on localhost. Elsewhere, the edits of another open
 * tab are offered as well; this is harmless, because restored edits are merged.
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
