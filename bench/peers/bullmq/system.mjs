import { FlowProducer, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Folder } from '../../system/folder.ts';
import { serve } from '../../system/serve.ts';
import { comparedWorkloads } from '../../workloads/compared.ts';
import { versionOf } from '../version.mjs';
import { startRedis } from './redis.mjs';

const QUEUE = 'steps';
const STEPS = 10;
const CONCURRENCY = 64;

/**
 * BullMQ on a Redis that writes every command to disk before it answers. Each job in a chain adds the next job, which
 * is faster than a flow of ten parents (4,000 against 1,000 steps/s); a fan-out is a flow. Jobs are kept after they
 * end.
 */
await serve(comparedWorkloads, async () => {
  const folder = await Folder.make();
  const redis = await startRedis(folder);
  const options = { path: redis.socket, maxRetriesPerRequest: null };
  const connection = new Redis(options);
  const queue = new Queue(QUEUE, { connection });
  const flows = new FlowProducer({ connection });
  const waiting = new Map();
  const work = async ({ data }) => {
    const value = data.url === undefined ? data.n > 0 : await (await fetch(data.url)).json();
    if (data.step < STEPS - 1) await queue.add('step', { ...data, step: data.step + 1 });
    return { value };
  };
  // A worker blocks its connection while it waits for jobs.
  const workersOwn = new Redis(options);
  const worker = new Worker(QUEUE, work, { connection: workersOwn, concurrency: CONCURRENCY });
  const last = ({ data }) => data.step === undefined || data.step === STEPS - 1;
  worker.on('completed', job => {
    if (!last(job)) return;
    waiting.get(job.data.run)?.resolve();
    waiting.delete(job.data.run);
  });
  worker.on('failed', (job, error) => waiting.get(job?.data.run)?.reject(error));
  await worker.waitUntilReady();

  const completion = async add => {
    const run = crypto.randomUUID();
    const end = Promise.withResolvers();
    waiting.set(run, end);
    await add(run);
    await end.promise;
  };

  return {
    versions: {
      BullMQ: versionOf('bullmq'),
      ioredis: versionOf('ioredis'),
      Redis: redis.version,
      Node: process.version,
    },
    processes: [],
    parts: async () => ({ node: process.pid, redis: redis.pid }),
    chain: () => completion(run => queue.add('step', { run, step: 0, n: 1 })),
    requests: url => completion(run => queue.add('step', { run, step: 0, url })),
    fanOut: width =>
      completion(run => {
        const children = Array.from({ length: width }, () => ({ name: 'step', queueName: QUEUE, data: { n: 1 } }));
        return flows.add({ name: 'join', queueName: QUEUE, data: { run, n: 1 }, children });
      }),
    recordedSteps: () => queue.getCompletedCount(),
    async close() {
      await worker.close();
      await flows.close();
      await queue.close();
      connection.disconnect();
      workersOwn.disconnect();
      await folder.remove();
    },
  };
});
