export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the variables that are not blank. An empty variable means an unset one: `docker run -e NAME` and compose
 * files with `${NAME:-}` pass empty strings, which a number would read as 0.
 */
export function withoutEmpty(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || value.trim() === '' ? [] : [[name, value]])),
  );
}

/** Returns the known name that is most similar to `name`, or undefined if no name is similar. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // A third of the letters may differ: a higher limit suggests unrelated names.
  let least = Math.floor(name.length / 3) + 1;
  for (const candidate of known) {
    // BATON_PORT is a natural guess for PORT.
    const distance = `BATON_${candidate}` === name ? 1 : editDistance(name, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Returns the Levenshtein distance: how many letters must be inserted, deleted or replaced to turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
