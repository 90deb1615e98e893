/**
 * Returns the results of `work` for each item, in their order. `width` calls are in progress, and the oldest is awaited before the next one
 * starts: the order of the calls must not depend on which call ends first, because peers number them.
 */
export async function inOrder(items, width, work) {
  const results = [];
  const pending = [];
  for (const item of items) {
    if (pending.length === width) results.push(await pending.shift());
    pending.push(work(item));
  }
  for (const last of pending) results.push(await last);
  return results;
}
