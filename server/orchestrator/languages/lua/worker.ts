import { parentPort, workerData } from 'node:worker_threads';
import { kernelThreadId } from './priority.ts';
import { Claim, type LuaBatch, type LuaJob, type LuaReply, type LuaWorkerData } from './protocol.ts';
import { type LuaOutcome, LuaSandbox } from './sandbox.ts';

/**
 * The thread that runs scripts and evaluates expressions, one at a time. The pool kills it if a script does not end in
 * time.
 */
const { memoryLimit, thread, ...binary } = workerData as LuaWorkerData;
thread[0] = kernelThreadId();
/** Loaded with the first expression: most workers never evaluate one, and starting a worker must be quick. */
let expressions: typeof import('./expression-job.ts') | undefined;
let sandbox = new LuaSandbox(binary, memoryLimit);

function perform(job: LuaJob): LuaOutcome {
  if (job.language === 'cel') return evaluate(job);
  try {
    return job.data === null ? sandbox.check(job.script) : sandbox.run(job.script, job.data);
  } catch {
    // After a trap inside the interpreter (a stack overflow, a forbidden call), the instance cannot be trusted any
    // more.
    sandbox = new LuaSandbox(binary, memoryLimit);
    return { ok: false, code: 'lua_error', message: 'the script broke the Lua interpreter', log: [] };
  }
}

function evaluate(job: LuaJob & { language: 'cel' }): LuaOutcome {
  if (!expressions) throw new Error('expressions are not loaded');
  return expressions.evaluateApart(job.script, job.data, job.wants);
}

parentPort?.on('message', async ({ jobs, claims }: LuaBatch) => {
  if (jobs.some(({ language }) => language === 'cel')) expressions ??= await import('./expression-job.ts');
  const reply = (message: LuaReply) => parentPort?.postMessage(message);
  let done = false;
  for (const [index, job] of jobs.entries()) {
    if (Atomics.compareExchange(claims, index, Claim.free, Claim.taken) !== Claim.free) continue;
    const outcome = perform(job);
    done = index === jobs.length - 1;
    // Sent immediately: results must not wait for the next job, which may be endless.
    reply({ outcomes: [[index, outcome]], done });
  }
  if (!done) reply({ outcomes: [], done: true });
});
