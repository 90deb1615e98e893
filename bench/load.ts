/** Calls `once` `count` times, with `inFlight` calls in parallel. */
export async function keepInFlight(count: number, inFlight: number, once: () => Promise<void>): Promise<void> {
  let left = count;
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      await once();
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, loop));
}

/** Calls `once` `count` times, one after another. Returns their durations in ms, ascending. */
export async function oneByOne(count: number, once: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    await once();
    times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b);
}

export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
