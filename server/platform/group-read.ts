/**
 * Groups reads that are asked for at the same time, as group commit does with writes: while one is on its way, what is asked for
 * collects and goes in the next one, each different key once. A lone read waits for nobody and no timer is involved. Every answer
 * comes from a read that began after it was asked for, so nothing is ever older than a read of one's own would be: it is no
 * cache, and needs no invalidation.
 *
 * `read` gets keys that differ by `id`, at most `maxKeys` of them, and returns their values in the same order; where it rejects, so does
 * everybody who waits for it.
 */
export function groupReads<Key, Value>(
  id: (key: Key) => string,
  read: (keys: readonly Key[]) => Promise<readonly Value[]>,
  maxKeys = 200,
): (key: Key) => Promise<Value> {
  let waiting = new Map<string, Waiting<Key, Value>>();
  let reading = false;

  const readAll = async () => {
    reading = true;
    while (waiting.size > 0) {
      const group = [...waiting.values()].slice(0, maxKeys);
      if (group.length === waiting.size) waiting = new Map();
      else for (const { key } of group) waiting.delete(id(key));
      await settle(group, read);
    }
    reading = false;
  };

  return key => {
    const known = waiting.get(id(key));
    if (known) return known.promise;
    const asked: Waiting<Key, Value> = { key, ...Promise.withResolvers<Value>() };
    waiting.set(id(key), asked);
    if (!reading) void readAll();
    return asked.promise;
  };
}

type Waiting<Key, Value> = {
  key: Key;
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
};

async function settle<Key, Value>(
  group: readonly Waiting<Key, Value>[],
  read: (keys: readonly Key[]) => Promise<readonly Value[]>,
): Promise<void> {
  try {
    const values = await read(group.map(({ key }) => key));
    if (values.length !== group.length) throw new Error(`${group.length} keys were read as ${values.length} values.`);
    for (const [at, { resolve }] of group.entries()) resolve(values[at] as Value);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
