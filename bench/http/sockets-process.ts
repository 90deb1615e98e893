import { request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs, ownCpuSeconds, type SocketsOrder, tellParent } from './protocol.ts';

/**
 * Sockets on one workflow, and the starts that they watch, in one process, so that one clock times both the answer to a start and every
 * frame. Frames are recorded as they arrive and parsed after the measurement, on raw upgraded connections: a WebSocket client costs more
 * per frame than the server does, and the last of 200 sockets would wait for the client.
 */
process.once('message', (order: SocketsOrder) => void run(order));

type Frame = { at: number; data: Buffer };

async function run(order: SocketsOrder): Promise<void> {
  const frames: Frame[] = [];
  let whenEnough: { count: number; resolve(): void } | null = null;
  const onFrame = (frame: Frame) => {
    frames.push(frame);
    if (whenEnough && frames.length >= whenEnough.count) whenEnough.resolve();
  };
  const sockets = await Promise.all(Array.from({ length: order.sockets }, () => open(order, onFrame)));
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
  for (const socket of sockets) socket.destroy();
  await tellParent({ frames: byEvent(frames), answers, cpuSeconds, seconds });
  process.disconnect();
}

/** Opens a connection and waits for its `ready` frame; `onFrame` gets every later text frame. */
function open({ url, token, workflowId }: SocketsOrder, onFrame: (frame: Frame) => void): Promise<Duplex> {
  const handshake = httpRequest(`${url}/v1/workflows/${workflowId}/stream`, {
    headers: {
      authorization: `Bearer ${token}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  });
  return new Promise((resolve, reject) => {
    handshake.once('error', reject);
    handshake.once('response', response => reject(new Error(`The stream was refused: ${response.statusCode}`)));
    handshake.once('upgrade', (_, socket, head) => {
      let ready = false;
      const readFrame = frameReader(data => {
        if (ready) onFrame({ at: monotonicMs(), data });
        else resolve(socket);
        ready = true;
      });
      socket.on('data', readFrame);
      if (head.length > 0) readFrame(head);
    });
    handshake.end();
  });
}

/**
 * Splits the server's data (unmasked frames) into text frames; pings are not answered, because the
 * server waits for at least 20 s.
 */
function frameReader(onText: (data: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return chunk => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const short = (rest[1] ?? 0) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (rest.length < head) return;
      const length = head === 2 ? short : head === 4 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
      if (rest.length < head + length) return;
      if ((rest[0] ?? 0) === 0x81) onText(rest.subarray(head, head + length));
      rest = rest.subarray(head + length);
    }
  };
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
