/** A call that was sent before the new session was there is answered within this time. */
const LATE_MS = 10_000;

let renewal: Promise<boolean> = Promise.resolve(false);
let renewedAt = Number.NEGATIVE_INFINITY;

/** Announces that the session is about to end and to be replaced; `work` resolves to whether it was. */
export function renewSession(work: Promise<boolean>): void {
  renewal = work.then(renewed => {
    if (renewed) renewedAt = performance.now();
    return renewed;
  });
}

/** Resolves to whether a 401 was only for the session that has just been replaced. */
export async function wasRenewed(): Promise<boolean> {
  await renewal;
  return performance.now() - renewedAt < LATE_MS;
}
