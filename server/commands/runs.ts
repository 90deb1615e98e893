import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { hasTenant } from '../domains/billing/subscriptions/store.ts';
import { listMatching, type MatchingRun } from '../domains/run-stops/match-store.ts';
import { requestStop, requireNamed, toJob } from '../domains/run-stops/request.ts';
import { StopFilter } from '../domains/run-stops/schemas.ts';
import { findStop, listStops, type StopMode } from '../domains/run-stops/store.ts';
import { Id } from '../operation/wire.ts';
import { isoTimestamp } from '../platform/clock.ts';
import { invalid, notFound } from '../platform/errors.ts';
import { readAs, readDate } from './arguments.ts';
import { type Outcome, operatorCommand, type Run } from './command-line.ts';
import { type DatabaseServices, openDatabase } from './open-database.ts';
import { printable } from './printable.ts';

type RunServices = Pick<DatabaseServices, 'pool' | 'clock'>;
type Job = ReturnType<typeof toJob>;

const POLL_MS = 1_000;
const readId = readAs(Id, 'It takes an id, a UUID.');
const MAX_LISTED = 1_000;
const Limit = z.coerce.number().int().min(1).max(MAX_LISTED);
const addId = (text: string, before: string[] | undefined) => [...(before ?? []), readId(text)];

/** The options that select active runs of a workspace, of which each narrows the selection. */
const withFilter = (command: Command) =>
  command
    .requiredOption('--workspace <slug>', 'the workspace')
    .option('--workflow <id>', 'runs of this workflow; may be repeated', addId)
    .option('--project <id>', 'runs of this project', readId)
    .option('--root <run id>', 'this run and all that it called, and nothing else', readId)
    .option('--session <id>', 'runs of this session')
    .option('--trigger <type>', 'runs that were triggered like this, such as webhook')
    .option('--paused', 'paused runs alone')
    .option('--from <date>', 'runs that started then or later', readDate)
    .option('--to <date>', 'runs that started before then', readDate);

/**
 * Declares `runs`: lists the active runs of a workspace, stops many of them, and shows the progress (docs/operations.md).
 * The command writes the request to the database, where the running service finds it, and needs no answer from the
 * service. AppError 404 for a resource that the workspace does not have.
 */
export function declareRuns(command: Command, run: Run<RunServices>): void {
  withFilter(command.command('list'))
    .description('list the active runs of a workspace, the oldest first; every option but --workspace narrows which')
    .option(
      '--limit <number>',
      `how many, up to ${MAX_LISTED}`,
      readAs(Limit, `It takes a number from 1 to ${MAX_LISTED}.`),
      50,
    )
    .option('--json', 'print one JSON document')
    .action(({ workspace, limit, json, ...options }) =>
      run(services => listRuns(services, workspace, { options, limit }), { json }),
    );
  withFilter(command.command('stop'))
    .description('stop the active runs of a workspace, in turns; every option but --workspace narrows which')
    .option('--graceful', 'let the steps in flight finish')
    .option('--wait', 'return when it has finished')
    .option('--json', 'print one JSON document')
    .action(({ workspace, graceful, wait, json, ...options }) =>
      run(services => stop(services, workspace, { options, mode: graceful ? 'graceful' : 'immediate', wait }), {
        json,
      }),
    );
  command
    .command('stops')
    .description('show the latest bulk stops of a workspace and how far they have got')
    .requiredOption('--workspace <slug>', 'the workspace')
    .option('--json', 'print one JSON document')
    .action(({ workspace, json }) => run(services => listBulkStops(services, workspace), { json }));
}

type FilterOptions = {
  workflow?: string[] | undefined;
  project?: string | undefined;
  root?: string | undefined;
  session?: string | undefined;
  trigger?: string | undefined;
  paused?: true | undefined;
  from?: number | undefined;
  to?: number | undefined;
};
type Wanted = { options: FilterOptions; mode: StopMode; wait: true | undefined };

async function stop(services: RunServices, tenantId: string, { options, mode, wait }: Wanted): Promise<Outcome> {
  const { pool } = services;
  if (!(await hasTenant(pool, tenantId))) throw notFound(`Workspace ${tenantId}`);
  let row = await requestStop(services, { tenantId, filter: filterOf(options), mode, requestedBy: 'operator' });
  while (wait && row.finishedAt === null) {
    await delay(POLL_MS);
    row = (await findStop(pool, tenantId, row.id)) ?? row;
  }
  const job = toJob(row);
  const hint = `The service works on it, now or once it runs. See npm run baton -- runs stops --workspace ${tenantId}.`;
  return { value: job, text: wait ? lineOf(job) : `${lineOf(job)}\n${hint}` };
}

type Listed = { options: FilterOptions; limit: number };

async function listRuns({ pool }: RunServices, tenantId: string, { options, limit }: Listed): Promise<Outcome> {
  if (!(await hasTenant(pool, tenantId))) throw notFound(`Workspace ${tenantId}`);
  const filter = filterOf(options);
  await requireNamed(pool, tenantId, filter);
  // One more, to know whether there are more.
  const found = await listMatching(pool, tenantId, filter, limit + 1);
  const runs = found.slice(0, limit);
  const more = found.length > limit ? ['There are more: see --limit, and the options that narrow the list.'] : [];
  const value = {
    runs: runs.map(({ id, workflowId, workflow, status, phase, startedAt, stepsDone, stepsTotal, pendingTasks }) => ({
      run_id: id,
      workflow_id: workflowId,
      workflow,
      status,
      orchestration_phase: phase,
      started_at: isoTimestamp(startedAt.getTime()),
      steps_done: stepsDone,
      steps_total: stepsTotal,
      pending_tasks: pendingTasks,
    })),
    more: more.length > 0,
  };
  return { value, text: [...runs.map(lineOfRun), ...more].join('\n') || 'There is no active run.' };
}

const lineOfRun = ({ id, workflow, status, phase, startedAt, stepsDone, stepsTotal, pendingTasks }: MatchingRun) =>
  printable(
    `${id}  ${status}, ${phase}  since ${isoTimestamp(startedAt.getTime())}  steps: ${stepsDone}/${stepsTotal}  tasks: ${pendingTasks}  "${workflow}"`,
  );

function filterOf({ workflow, project, root, session, trigger, paused, from, to }: FilterOptions): StopFilter {
  const { data, error } = StopFilter.safeParse({
    ...(workflow && { workflow_ids: workflow }),
    ...(project && { project_id: project }),
    ...(root && { root_run_id: root }),
    ...(session !== undefined && { session_id: session }),
    ...(trigger !== undefined && { trigger_type: trigger }),
    ...(paused && { status: 'paused' }),
    ...(from !== undefined && { from: isoTimestamp(from) }),
    ...(to !== undefined && { to: isoTimestamp(to) }),
  });
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw invalid('These options select no runs.', problems);
}

async function listBulkStops({ pool }: RunServices, tenantId: string): Promise<Outcome> {
  if (!(await hasTenant(pool, tenantId))) throw notFound(`Workspace ${tenantId}`);
  const stops = (await listStops(pool, tenantId, { after: null, projectId: null, limit: 20 })).map(toJob);
  return { value: { stops }, text: stops.map(lineOf).join('\n') || 'There is no bulk stop.' };
}

const lineOf = ({ stop_id, requested_at, requested_by, state, ...counts }: Job) =>
  `${stop_id}  ${requested_at}  by ${requested_by}  ${state}  matched: ${counts.matched}  stopped: ${counts.stopped}  already ended: ${counts.already_ended}  failed: ${counts.failed}  remaining: ${counts.remaining}`;

/** True once the migration that this command needs has run. */
const SCHEMA = `to_regclass('run_stops') IS NOT NULL`;

export const runs = operatorCommand(declareRuns, openDatabase(SCHEMA));
