import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { parseArguments } from '../bin/command-line.mjs';
import type { Workload } from './system/system.ts';
import { baton, type Candidate, checkout, free, peers } from './systems.ts';
import { workloads } from './workloads/index.ts';

export type Options = {
  workloads: readonly Workload[];
  /** The systems, with Baton first. */
  systems: readonly Candidate[];
  repeat: number | undefined;
  sizes: ReadonlyMap<string, number>;
  profile: boolean;
  statements: boolean;
  /** Whether to write the results to docs/benchmarks.md. */
  publish: boolean;
};

/** The sizes for `--full`, which take a long time to measure. */
const FULL: readonly [string, number][] = [
  ['blocked', 10_000],
  ['old-runs', 1_000_000],
];

const NO_SIZES: readonly [string, number][] = [];
const NO_PEERS: readonly Candidate[] = [];

/** Reads the command line. `exit` is called with the exit code and a message for --help and for wrong arguments. */
export function readOptions(args: readonly string[], exit?: (code: number, message: string) => never): Options {
  const command = new Command('npm run bench --')
    .description('Measures workloads (docs/benchmarks.md).')
    .argument('[workload...]', `of ${namesOf(workloads)}; default: all`, (name, list: string[] = []) => [
      ...list,
      checkKnown('workload', name, workloads),
    ])
    .option('--peers [names]', `beside all peers, or (--peers=…) some of ${namesOf(peers)}`, readPeers, NO_PEERS)
    .option('--free', 'beside Baton without prices, which shows what charging costs', false)
    .option('--beside <folder>', 'beside another checkout of Baton')
    .option('--repeat <number>', 'how many repetitions', wholeNumber)
    .option('--size <workload=number>', 'another size of a workload; may be repeated', readSize, NO_SIZES)
    .option('--full', 'also what takes too long for every day', false)
    .option('--profile', "where the server's CPU time goes", false)
    .option('--statements', 'which statements the database spends its time on', false)
    .option('--publish', 'write the results into docs/benchmarks.md', false);
  // `--peers` without a value means all peers; a value must be joined with `=`, so that a workload may follow.
  const joined = args.map(arg => (arg === '--peers' ? '--peers=all' : arg));
  const parsed = parseArguments(command, joined, exit);
  const [chosen = []] = parsed.processedArgs;
  const { peers: beside, size, ...values } = parsed.opts();
  return {
    workloads: workloads.filter(({ name }) => chosen.length === 0 || chosen.includes(name)),
    systems: [
      baton,
      ...(values.free ? [free] : []),
      ...(values.beside === undefined ? [] : [checkout(values.beside)]),
      ...(beside === true ? peers : beside),
    ],
    repeat: values.repeat,
    sizes: new Map([...(values.full ? FULL : []), ...size]),
    profile: values.profile,
    statements: values.statements,
    publish: values.publish,
  };
}

function readSize(text: string, sizes: readonly [string, number][]): readonly [string, number][] {
  const [name = '', size = ''] = text.split('=');
  return [...sizes, [checkKnown('workload', name, workloads), wholeNumber(size)]];
}

function readPeers(names: string): readonly Candidate[] {
  if (names === 'all') return peers;
  const list = names.split(',').filter(Boolean);
  for (const name of list) checkKnown('peer', name, peers);
  return peers.filter(({ name }) => list.includes(name));
}

const namesOf = (all: readonly { name: string }[]) => all.map(({ name }) => name).join(', ');

function checkKnown(kind: string, name: string, all: readonly { name: string }[]): string {
  if (all.some(each => each.name === name)) return name;
  throw new InvalidArgumentError(`There is no ${kind} "${name}". Known: ${namesOf(all)}`);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`It takes a whole number above 0, not "${text}".`);
}
