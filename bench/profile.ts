import { mkdir, writeFile } from 'node:fs/promises';
import { Session, type Profiler as V8 } from 'node:inspector/promises';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The CPU profiler of this thread, sampling every 200 µs. Lua's worker threads are not included. */
export class Profiler {
  readonly #session = new Session();

  private constructor() {
    this.#session.connect();
  }

  static async start(): Promise<Profiler> {
    const profiler = new Profiler();
    await profiler.#session.post('Profiler.enable');
    await profiler.#session.post('Profiler.setSamplingInterval', { interval: 200 });
    await profiler.#session.post('Profiler.start');
    return profiler;
  }

  /** Writes `file` (for the browser's developer tools) and prints the functions with the most time. */
  async stop(file: string): Promise<void> {
    const { profile } = await this.#session.post('Profiler.stop');
    this.#session.disconnect();
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(profile));
    process.stdout.write(`${selfTimes(profile, 40)}\n${file}\n`);
  }
}

type Line = { name: string; place: string; self: number; total: number };

/** Returns a table of the functions with the most time: their own time, and the total including all functions that they called. */
export function selfTimes(profile: V8.Profile, rows: number): string {
  // The profiler's own start and stop are not part of the measurement.
  const lines = byFunction(profile).filter(({ place }) => !place.startsWith('node:inspector'));
  const sum = lines.reduce((all, { self }) => all + self, 0);
  const idle = lines.find(({ name }) => name === '(idle)')?.self ?? 0;
  const busy = sum - idle;
  const share = (time: number) => `${((time / busy) * 100).toFixed(1).padStart(6)} %`;
  const milliseconds = (time: number) => `${(time / 1000).toFixed(0).padStart(7)} ms`;
  const shown = lines
    .filter(({ name }) => name !== '(idle)')
    .sort((a, b) => b.self - a.self)
    .slice(0, rows)
    .map(({ self, total, name, place }) => `${share(self)} ${milliseconds(self)} ${share(total)}  ${name}  ${place}`);
  return [
    `busy ${milliseconds(busy).trim()} of ${milliseconds(sum).trim()}; shares are of the busy time`,
    '    self       self    total  function',
    ...shown,
  ].join('\n');
}

function byFunction(profile: V8.Profile): Line[] {
  const nodes = new Map(profile.nodes.map(node => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(node => (node.children ?? []).map(child => [child, node.id] as const)));
  const self = new Map<number, number>();
  for (const [index, id] of (profile.samples ?? []).entries()) {
    self.set(id, (self.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0));
  }
  const lines = new Map<string, Line>();
  const keyOf = (id: number): string => {
    const frame = nodes.get(id)?.callFrame;
    return frame ? `${frame.functionName}|${frame.url}|${frame.lineNumber}` : '';
  };
  for (const [id, time] of self) {
    // A recursive function counts once in its own total.
    const seen = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const key = keyOf(at);
      if (seen.has(key)) continue;
      seen.add(key);
      const line = lines.get(key) ?? { ...nameOf(nodes.get(at)), self: 0, total: 0 };
      line.total += time;
      if (at === id) line.self += time;
      lines.set(key, line);
    }
  }
  return [...lines.values()];
}

function nameOf(node: V8.ProfileNode | undefined): { name: string; place: string } {
  const { functionName = '', url = '', lineNumber = -1 } = node?.callFrame ?? {};
  const path = url.startsWith('file:') ? relative(process.cwd(), fileURLToPath(url)) : url;
  return { name: functionName || '(anonymous)', place: path ? `${path}:${lineNumber + 1}` : '' };
}
