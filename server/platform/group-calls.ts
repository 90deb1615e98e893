/**
 * Groups calls that are made at the same time, as group commit does with appends: while one is on its way, what is asked for
 * collects and goes in the next one, each different key once. A lone call waits for nobody and no timer is involved. Every answer
 * comes from a call that began after it was asked for, so it is never older than that of a call of one's own would be: this is no
 * cache, and needs no invalidation. Several who ask with one key get one answer, so a write must be one that may be shared.
 *
 * `call` gets keys that differ by `id`, at most `maxKeys` of them, and returns their values in the same order; where it rejects, so does
 * everybody who waits for it.
 */
export function groupCalls<Key, Value>(
  id: (key: Key) => string,
  call: (keys: readonly Key[]) => Promise<readonly Value[]>,
  maxKeys = 200,
): (key: Key) => Promise<Value> {
  let waiting = new Map<string, Waiting<Key, Value>>();
  let calling = false;

  const callAll = async () => {
    calling = true;
    while (waiting.size > 0) {
      const group = [...waiting.values()].slice(0, maxKeys);
      if (group.length === waiting.size) waiting = new Map();
      else for (const { key } of group) waiting.delete(id(key));
      await settle(group, call);
    }
    calling = false;
  };

  return key => {
    const known = waiting.get(id(key));
    if (known) return known.promise;
    const asked: Waiting<Key, Value> = { key, ...Promise.withResolvers<Value>() };
    waiting.set(id(key), asked);
    if (!calling) void callAll();
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
  call: (keys: readonly Key[]) => Promise<readonly Value[]>,
): Promise<void> {
  try {
    const values = await call(group.map(({ key }) => key));
    if (values.length !== group.length) throw new Error(`${group.length} keys got ${values.length} values.`);
    for (const [at, { resolve }] of group.entries()) resolve(values[at] as Value);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
