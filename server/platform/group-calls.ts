/**
 * Groups calls that are made at the same time, as group commit does with appends. While one call is in progress, new keys collect
 * and go into the next call, each distinct key once. A single call is sent immediately, and no timer is involved. Every answer
 * comes from a call that started after the request, so it is never older than the answer of a separate call would be: this is not
 * a cache, and needs no invalidation. Callers with the same key share one answer, so a write must be safe to share.
 *
 * `call` gets keys that differ by `id`, at most `maxKeys` of them, and returns their values in the same order. If it rejects, all
 * callers that wait for it are rejected too.
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
