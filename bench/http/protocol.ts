/** Messages between the processes of these measurements; each process is a child with an IPC channel. */

/** Sent to the service's process. */
export type ServerRequest = { ask: 'usage' | 'stamps' | 'stop' };
/**
 * Sent by the service's process. `stamps`: when the process learned of the commit of each event, `<run
 * id>:<seq>` → monotonic ms.
 */
export type ServerAnswer =
  | { kind: 'listening'; url: string }
  | { kind: 'usage'; cpuSeconds: number; rss: number }
  | { kind: 'stamps'; stamps: [key: string, at: number][] };

/** One request, repeated. */
export type LoadOrder = {
  url: string;
  token: string;
  method: 'GET' | 'POST';
  path: string;
  body: string | null;
  /** Whether each request has a separate Idempotency-Key. */
  keyed: boolean;
  connections: number;
  requests: number;
};
export type LoadReport = {
  seconds: number;
  cpuSeconds: number;
  /** The duration of each answer in ms, ascending. */
  latencies: number[];
  /** The number of answers by status. */
  statuses: Record<string, number>;
};

export type SocketsOrder = {
  url: string;
  token: string;
  workflowId: string;
  sockets: number;
  runs: number;
  /** ms between a run's last frame and the next start. */
  pauseMs: number;
  /** The number of frames that each socket receives for one run. */
  framesPerRun: number;
};
export type SocketsReport = {
  /** Every frame of every socket: its event, and when it arrived (monotonic ms). */
  frames: [key: string, at: number[]][];
  /** When the answer to each start arrived, by run id. */
  answers: [runId: string, at: number][];
  cpuSeconds: number;
  seconds: number;
};

export type ChatOrder = {
  url: string;
  token: string;
  /** The number of messages, which are sent one after the other. */
  messages: number;
  streams: number;
  tokensPerStream: number;
  /** ms between the tokens of a stream. */
  pauseMs: number;
  /** The number of characters of the answer to which clients reconnect, and the number of reconnections. */
  answerChars: number;
  reconnects: number;
};
/** Durations in ms, ascending. */
export type ChatReport = {
  /** Time from sending a message until the provider gets the request for it. */
  toRequest: number[];
  /** Time from the provider writing a token until the client receives it. */
  perToken: number[];
  /** Time from a client's reconnection until it has received the last character written so far. */
  reconnect: number[];
  cpuSeconds: number;
  seconds: number;
};

/** Returns ms of CLOCK_MONOTONIC, which all processes of a machine share; `performance.now()` starts at 0 in each. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Returns the CPU seconds of this process so far. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Sends a message to the parent and settles when it has been written; throws if there is no parent. */
export function tellParent(message: ServerAnswer | LoadReport | SocketsReport | ChatReport): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) throw new Error('This is to be started by bench/http, with an IPC channel.');
    process.send(message, undefined, undefined, error => (error ? reject(error) : resolve()));
  });
}
