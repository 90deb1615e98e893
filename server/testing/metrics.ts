/** Samples of a Prometheus text rendering by their series, as in `name{label="value"}`. */
export type Samples = ReadonlyMap<string, number>;

/** Reads metrics over HTTP. Throws for a line that is not in the text format. */
export async function scrape(url: string, init?: RequestInit): Promise<Samples> {
  return parseSamples(await (await fetch(url, init)).text());
}

export function parseSamples(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, series, value] = /^([a-z_:][\w:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (series === undefined || value === undefined) throw new Error(`not a sample: ${line}`);
    if (samples.has(series)) throw new Error(`a series twice: ${series}`);
    samples.set(series, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
  }
  return samples;
}
