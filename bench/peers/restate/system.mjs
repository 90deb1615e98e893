import { createServer } from 'node:http2';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { Folder } from '../../system/folder.ts';
import { serve } from '../../system/serve.ts';
import { comparedWorkloads } from '../../workloads/compared.ts';
import { versionOf } from '../version.mjs';
import { inOrder } from '../window.mjs';
import { startRestate } from './server.mjs';

const STEPS = 10;
const AT_A_TIME = 100;
const PARTITIONS = process.env.BENCH_RESTATE_PARTITIONS;

const step = (ctx, name, n) => ctx.run(name, () => n > 0);
const list = (ctx, count) => ctx.run('list', () => Array.from({ length: count }, (_, index) => index + 1));

const called = restate.service({
  name: 'called',
  handlers: { one: (ctx, n) => step(ctx, 's0', n) },
});

const service = restate.service({
  name: 'bench',
  handlers: {
    chain: async (ctx, n) => {
      for (let index = 0; index < STEPS; index += 1) await step(ctx, `s${index}`, n);
    },
    fanOut: async (ctx, { n, width }) => {
      // The steps are awaited one by one: RestatePromise.all checks all of them whenever one ends.
      for (const ended of Array.from({ length: width }, (_, index) => step(ctx, `p${index}`, n))) await ended;
      await step(ctx, 'join', n);
    },
    forEach: async (ctx, count) => {
      const results = await inOrder(await list(ctx, count), AT_A_TIME, item => ctx.run('item', () => item + 1));
      await ctx.run('join', () => results);
    },
    callRuns: async (ctx, count) => {
      const results = await inOrder(await list(ctx, count), AT_A_TIME, n => ctx.serviceClient(called).one(n));
      await ctx.run('join', () => results);
    },
    requests: async (ctx, url) => {
      for (let index = 0; index < STEPS; index += 1) await ctx.run(`r${index}`, async () => (await fetch(url)).json());
    },
  },
});
const question = restate.workflow({
  name: 'question',
  // A workflow that waits for a person releases its slot and its memory early: by default it keeps them for a minute.
  options: { inactivityTimeout: { seconds: 1 } },
  handlers: {
    run: async (ctx, n) => {
      await ctx.promise('answer');
      await step(ctx, 'after', n);
    },
    answer: async (ctx, answer) => {
      await ctx.promise('answer').resolve(answer);
    },
  },
});

/** Restate's server, the handlers in this process, and a client over its ingress. */
await serve(comparedWorkloads, async () => {
  const folder = await Folder.make();
  const endpoint = createServer(
    restate.createEndpointHandler({ services: [service, called, question], logger: () => undefined }),
  );
  await new Promise(resolve => endpoint.listen(0, '127.0.0.1', resolve));
  const server = await startRestate(folder, PARTITIONS);
  await server.register(`http://127.0.0.1:${endpoint.address().port}`);
  const ingress = clients.connect({ url: server.ingress });
  const bench = ingress.serviceClient(service);
  return {
    versions: {
      Restate: versionOf('@restatedev/restate-server'),
      SDK: versionOf('@restatedev/restate-sdk'),
      partitions: server.partitions,
      Node: process.version,
    },
    processes: [],
    parts: async () => ({ node: process.pid, server: server.pid }),
    chain: () => bench.chain(1),
    fanOut: width => bench.fanOut({ n: 1, width }),
    forEach: count => bench.forEach(count),
    callRuns: count => bench.callRuns(count),
    requests: url => bench.requests(url),
    async block(runs) {
      const keys = Array.from({ length: runs }, () => crypto.randomUUID());
      for (let at = 0; at < runs; at += 100) {
        await Promise.all(keys.slice(at, at + 100).map(key => ingress.workflowClient(question, key).workflowSubmit(1)));
      }
      await server.untilWaiting(runs);
      return {
        async release() {
          await eachOf(keys, 100, async key => {
            const one = ingress.workflowClient(question, key);
            await one.answer({ approved: true });
          });
          await eachOf(keys, 100, key => ingress.workflowClient(question, key).workflowAttach());
        },
      };
    },
    recordedSteps: () => server.recordedSteps(),
    recordedRuns: () => server.recordedRuns(),
    async close() {
      server.stop();
      endpoint.close();
      await folder.remove();
    },
  };
});

/** Calls `work` for every item, `inFlight` at a time, because Node's fetch opens a connection for each. */
async function eachOf(all, inFlight, work) {
  const left = [...all];
  const loop = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one);
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
}
