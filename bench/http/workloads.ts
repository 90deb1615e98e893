import type { Graph } from '../../server/orchestrator/core/index.ts';
import { blocked, chain } from '../graphs.ts';
import type { LoadOrder } from './protocol.ts';
import { HttpService } from './server.ts';

const STARTS = Number(process.env.BENCH_STARTS ?? 10_000);
const CONNECTIONS = 32;
const SOCKETS = 200;
const RUNS = Number(process.env.BENCH_SOCKET_RUNS ?? 100);

type Figures = Record<string, number>;
/** Workloads for bench/run.ts that do not use its service. */
type Workload = { name: string; run(): Promise<Figures> };

/** Measures the service over HTTP in a separate process; each repetition has a new PostgreSQL. */
export const workloads: readonly Workload[] = [
  // A start, and a run of one step to its end.
  { name: 'rest-starts', run: () => measureStarts(chain('condition', 1)) },
  // Only the start: the run waits for a person.
  { name: 'rest-starts-only', run: () => measureStarts(blocked) },
  // Only the start, each with an Idempotency-Key.
  { name: 'rest-starts-keyed', run: () => measureStarts(blocked, true) },
  // A start that waits for the output of a run of two steps, one start at a time: a workflow that serves as an API.
  { name: 'rest-outputs', run: () => measureOutputs(chain('condition', 2)) },
  // A request without a run: the cost of HTTP, authentication and authorization.
  { name: 'rest-reads', run: () => measureReads('/v1/me') },
  // The same read as the console requests it.
  { name: 'trpc-reads', run: () => measureReads('/api/trpc/me_get') },
  { name: 'ws-fanout', run: () => measureFanOut() },
  { name: 'chat', run: () => measureChat() },
];

async function measureStarts(graph: Graph, keyed = false): Promise<Figures> {
  await using service = await HttpService.open();
  const id = await service.publish('start', graph);
  const body = '{"command":"start","params":{"n":1}}';
  return await measure(service, { method: 'POST', path: `/v1/workflows/${id}/command`, body, keyed });
}

async function measureOutputs(graph: Graph): Promise<Figures> {
  await using service = await HttpService.open();
  const id = await service.publish('output', graph);
  const path = `/v1/workflows/${id}/run?wait_s=60`;
  return await measure(service, { method: 'POST', path, body: '{"params":{"n":1}}', keyed: false }, 1);
}

async function measureReads(path: string): Promise<Figures> {
  await using service = await HttpService.open();
  return await measure(service, { method: 'GET', path, body: null, keyed: false });
}

/**
 * Warms the compiler, the pool and PostgreSQL's caches before the measurement. V8 continues to compile for about 25,000 starts: its share
 * is as much CPU as the starts in the first 2,500, a fifth of all up to 10,000, and 4 % from then on.
 */
async function measure(
  service: HttpService,
  request: Pick<LoadOrder, 'method' | 'path' | 'body' | 'keyed'>,
  connections = CONNECTIONS,
): Promise<Figures> {
  const order = { ...request, connections };
  const cold = await service.load({ ...order, requests: STARTS * 2 });
  const before = await service.usage();
  const { seconds, cpuSeconds, latencies } = await service.load({ ...order, requests: STARTS });
  const after = await service.usage();
  const perThousand = (spent: number) => (spent / STARTS) * 1000;
  return {
    'requests/s': STARTS / seconds,
    'requests/s, warming up': (STARTS * 2) / cold.seconds,
    'p50 ms': percentile(latencies, 0.5),
    'p99 ms': percentile(latencies, 0.99),
    'server CPU s/1,000': perThousand(after.server - before.server),
    'PostgreSQL CPU s/1,000': perThousand(after.postgres - before.postgres),
    'client CPU s/1,000': perThousand(cpuSeconds),
  };
}

/**
 * Frames of one workflow on 200 sockets. `commit → frame` begins when the service's process learns of the commit, before it creates a frame
 * (the event's own time is taken before the commit), and ends when the client's process has the frame; both use the machine's monotonic
 * clock. `answer → frame` begins at the answer to the start, and uses only the client's clock.
 */
async function measureFanOut(): Promise<Figures> {
  await using service = await HttpService.open({ BENCH_STAMPS: '1' });
  const workflowId = await service.publish('watched', chain('condition', 1));
  const order = { workflowId, sockets: SOCKETS, pauseMs: 20, framesPerRun: 4 };
  await service.watch({ ...order, runs: Math.ceil(RUNS / 4) });
  await service.stamps();
  const before = await service.usage();
  const report = await service.watch({ ...order, runs: RUNS });
  const after = await service.usage();
  const stamps = await service.stamps();
  const all: number[] = [];
  const last: number[] = [];
  const answered = new Map(report.answers);
  const sinceAnswer: number[] = [];
  for (const [key, times] of report.frames) {
    const committed = stamps.get(key);
    if (committed === undefined) throw new Error(`The service did not note the commit of ${key}.`);
    for (const at of times) all.push(at - committed);
    last.push(Math.max(...times) - committed);
    const [runId = '', seq] = key.split(':');
    if (seq === '1') for (const at of times) sinceAnswer.push(at - (answered.get(runId) ?? Number.NaN));
  }
  for (const list of [all, last, sinceAnswer]) list.sort((a, b) => a - b);
  return {
    'commit → frame p50 ms': percentile(all, 0.5),
    'commit → frame p99 ms': percentile(all, 0.99),
    'commit → last socket p50 ms': percentile(last, 0.5),
    'answer → frame p50 ms': percentile(sinceAnswer, 0.5),
    'server CPU s/1,000 frames': ((after.server - before.server) / all.length) * 1000,
    'client CPU s/1,000 frames': (report.cpuSeconds / all.length) * 1000,
  };
}

/**
 * Chats with a provider that answers immediately, so that only the service's cost remains. One token is one piece of the provider's stream.
 */
async function measureChat(): Promise<Figures> {
  await using service = await HttpService.open({
    BATON_ENABLE_AGENTS: 'true',
    BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
  });
  const order = {
    messages: 200,
    streams: 100,
    tokensPerStream: 250,
    pauseMs: 20,
    answerChars: 200_000,
    reconnects: 30,
  };
  // The compiler is warm after as many tokens as are counted. During the CPU measurement, only the streams are active.
  const streams = { ...order, messages: 0, reconnects: 0, answerChars: 100 };
  await service.chat(streams);
  const before = await service.usage();
  const { perToken, seconds, cpuSeconds } = await service.chat(streams);
  const after = await service.usage();
  const { toRequest, reconnect } = await service.chat({ ...order, streams: 0 });
  return {
    'message → provider p50 ms': percentile(toRequest, 0.5),
    'message → provider p99 ms': percentile(toRequest, 0.99),
    'token p50 ms': percentile(perToken, 0.5),
    'token p99 ms': percentile(perToken, 0.99),
    'reconnect p50 ms': percentile(reconnect, 0.5),
    'server cores': (after.server - before.server) / seconds,
    'server CPU s/1,000 tokens': ((after.server - before.server) / (order.streams * order.tokensPerStream)) * 1000,
    'client cores': cpuSeconds / seconds,
  };
}

function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
