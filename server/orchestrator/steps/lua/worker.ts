import { parentPort, workerData } from 'node:worker_threads';
import { kernelThreadId } from './priority.ts';
import { Claim, type LuaBatch, type LuaJob, type LuaReply, type LuaWorkerData } from './protocol.ts';
import { type LuaOutcome, LuaSandbox } from './sandbox.ts';

/** The thread that runs scripts, one at a time. It is killed where a script does not end in time. */
const { memoryLimit, thread, ...binary } = workerData as LuaWorkerData;
thread[0] = kernelThreadId();
let sandbox = new LuaSandbox(binary, memoryLimit);

function perform(job: LuaJob): LuaOutcome {
  try {
    return job.data === null ? sandbox.check(job.script) : sandbox.run(job.script, job.data);
  } catch {
    // A trap inside the interpreter (its own stack, a forbidden call): that instance is not to be trusted any more.
    sandbox = new LuaSandbox(binary, memoryLimit);
    return { ok: false, code: 'lua_error', message: 'the script broke the Lua interpreter', log: [] };
  }
}

parentPort?.on('message', ({ jobs, claims }: LuaBatch) => {
  const reply = (message: LuaReply) => parentPort?.postMessage(message);
  let done = false;
  for (const [index, job] of jobs.entries()) {
    if (Atomics.compareExchange(claims, index, Claim.free, Claim.taken) !== Claim.free) continue;
    const outcome = perform(job);
    done = index === jobs.length - 1;
    // At once: what ended must not wait for the next, which may be endless.
    reply({ outcomes: [[index, outcome]], done });
  }
  if (!done) reply({ outcomes: [], done: true });
});
