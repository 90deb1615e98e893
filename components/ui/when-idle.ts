/** The longest time that work waits on a page that is never idle. */
const LATEST_MS = 2_000;

/** Calls `work` once the page has nothing else to do, each in a turn of its own: a phone can answer a tap in between. */
export function whenIdle(work: () => void): void {
  // Safari has no idle callbacks.
  if (typeof window.requestIdleCallback === 'function') window.requestIdleCallback(work, { timeout: LATEST_MS });
  else setTimeout(work, 200);
}
