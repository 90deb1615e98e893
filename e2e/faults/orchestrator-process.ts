import pg from 'pg';
import { readConfig } from '../../server/config.ts';
import type { RunRef, StartRun } from '../../server/orchestrator/orchestrator.ts';
import { createEmbeddedOrchestrator } from '../../server/orchestrator/runtime.ts';
import { LuaPool } from '../../server/orchestrator/steps/lua/index.ts';
import { createStepTypes } from '../../server/orchestrator/steps/registry.ts';
import { systemClock } from '../../server/platform/clock.ts';
import { AppError } from '../../server/platform/errors.ts';
import { createLogger } from '../../server/platform/logger.ts';

/**
 * The orchestrator alone in a process, to be killed. Asked over IPC; every answer is sent after the promise it stands for
 * has settled, so that whoever reads it may hold the service to it.
 */
export type Request =
  | { id: number; kind: 'start'; run: StartRun }
  | { id: number; kind: 'complete'; ref: RunRef; step: string; approved: boolean };
export type Response = { kind: 'ready' } | { kind: 'answer'; id: number; outcome: string };

const [, , connectionString = ''] = process.argv;
const pool = new pg.Pool({ connectionString, max: 5 });
const orchestrator = createEmbeddedOrchestrator({
  pool,
  connectionString,
  clock: systemClock,
  logger: createLogger('warn'),
  stepTypes: createStepTypes({ luaPool: new LuaPool({ workers: 2 }) }),
  config: readConfig({}).orchestrator,
});

const send = (response: Response) => process.send?.(response);

async function serve(request: Request): Promise<unknown> {
  if (request.kind === 'start') return orchestrator.start(request.run);
  const { ref, step, approved } = request;
  return orchestrator.completeTask(ref, { step, approved, result: { note: 'seen' }, by: 'tester' });
}

process.on('message', (request: Request) => {
  serve(request).then(
    () => send({ kind: 'answer', id: request.id, outcome: 'ok' }),
    (error: unknown) =>
      send({ kind: 'answer', id: request.id, outcome: error instanceof AppError ? error.code : String(error) }),
  );
});
// The parent is gone: nobody will ever ask again.
process.on('disconnect', () => process.exit(0));
await orchestrator.ready;
while (orchestrator.status() !== 'leading') await new Promise(resolve => setTimeout(resolve, 20));
send({ kind: 'ready' });
