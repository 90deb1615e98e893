import { parseArgs } from 'node:util';
import type { Workload } from './system/system.ts';
import { baton, type Candidate, checkout, free, peers } from './systems.ts';
import { workloads } from './workloads/index.ts';

export type Options = {
  workloads: readonly Workload[];
  /** Baton first. */
  systems: readonly Candidate[];
  repeat: number | undefined;
  sizes: ReadonlyMap<string, number>;
  profile: boolean;
  statements: boolean;
  /** Whether the results go into docs/benchmarks.md. */
  publish: boolean;
};

/** What takes too long for every day: `--full`. */
const FULL: readonly [string, number][] = [
  ['blocked', 10_000],
  ['old-runs', 1_000_000],
];

/** Reads the command line. Throws with a message for the person at the terminal. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    // Alone it means all of them; a value must be joined with `=`, so that a workload may follow.
    args: args.map(arg => (arg === '--peers' ? '--peers=all' : arg)),
    options: {
      peers: { type: 'string', default: '' },
      repeat: { type: 'string' },
      size: { type: 'string', multiple: true, default: [] },
      full: { type: 'boolean', default: false },
      free: { type: 'boolean', default: false },
      beside: { type: 'string' },
      profile: { type: 'boolean', default: false },
      statements: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  for (const name of positionals) known('workload', name, workloads);
  const repeat = values.repeat === undefined ? undefined : wholeNumber('--repeat', values.repeat);
  const sizes = values.size.map((text): [string, number] => {
    const [name = '', size = ''] = text.split('=');
    known('workload', name, workloads);
    return [name, wholeNumber(`--size ${name}`, size)];
  });
  return {
    workloads: workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    systems: [
      baton,
      ...(values.free ? [free] : []),
      ...(values.beside === undefined ? [] : [checkout(values.beside)]),
      ...chosenPeers(values.peers),
    ],
    repeat,
    sizes: new Map([...(values.full ? FULL : []), ...sizes]),
    profile: values.profile,
    statements: values.statements,
    publish: values.publish,
  };
}

function chosenPeers(names: string): readonly Candidate[] {
  if (names === 'all') return peers;
  const list = names.split(',').filter(Boolean);
  for (const name of list) known('peer', name, peers);
  return peers.filter(({ name }) => list.includes(name));
}

function known(kind: string, name: string, all: readonly { name: string }[]): void {
  if (all.some(each => each.name === name)) return;
  throw new Error(`There is no ${kind} "${name}". Known: ${all.map(each => each.name).join(', ')}`);
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${option} takes a whole number above 0, not "${text}".`);
}
