import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { monotonicMs, ownCpuSeconds, type SocketsOrder, tellParent } from './protocol.ts';

/**
 * Sockets on one workflow, and the starts they watch, in one process, so that one clock sees the answer to a start and every frame.
 * A frame is kept as it came and parsed after the measurement.
 */
process.once('message', (order: SocketsOrder) => void run(order));

type Frame = { at: number; data: Buffer };

async function run(order: SocketsOrder): Promise<void> {
  const frames: Frame[] = [];
  let received = 0;
  let whenEnough: { count: number; resolve(): void } | null = null;
  const sockets = await Promise.all(
    Array.from({ length: order.sockets }, () =>
      open(order, data => {
        frames.push({ at: monotonicMs(), data });
        received += 1;
        if (whenEnough && received >= whenEnough.count) whenEnough.resolve();
      }),
    ),
  );
  const answers: [string, number][] = [];
  const cpuBefore = ownCpuSeconds();
  const began = monotonicMs();
  for (let n = 1; n <= order.runs; n += 1) {
    const enough = new Promise<void>(resolve => {
      whenEnough = { count: n * order.framesPerRun * order.sockets, resolve };
    });
    answers.push(await start(order));
    await enough;
    await delay(order.pauseMs);
  }
  const seconds = (monotonicMs() - began) / 1000;
  const cpuSeconds = ownCpuSeconds() - cpuBefore;
  for (const socket of sockets) socket.terminate();
  await tellParent({ frames: byEvent(frames), answers, cpuSeconds, seconds });
  process.disconnect();
}

/** An open socket after its `ready` frame; `onEvent` gets every later frame. */
function open({ url, token, workflowId }: SocketsOrder, onEvent: (data: Buffer) => void): Promise<WebSocket> {
  const target = `${url.replace('http', 'ws')}/v1/workflows/${workflowId}/stream`;
  const socket = new WebSocket(target, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('message', () => {
      socket.on('message', data => onEvent(data as Buffer));
      resolve(socket);
    });
  });
}

async function start({ url, token, workflowId }: SocketsOrder): Promise<[runId: string, at: number]> {
  const response = await fetch(`${url}/v1/workflows/${workflowId}/command`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"command":"start","params":{"n":1}}',
  });
  const at = monotonicMs();
  const { run_id } = (await response.json()) as { run_id: string };
  return [run_id, at];
}

function byEvent(frames: readonly Frame[]): [string, number[]][] {
  const times = new Map<string, number[]>();
  for (const { at, data } of frames) {
    const { event } = JSON.parse(data.toString()) as { event: { run_id: string; seq: number } };
    const key = `${event.run_id}:${event.seq}`;
    const known = times.get(key);
    if (known) known.push(at);
    else times.set(key, [at]);
  }
  return [...times];
}
