import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { actionsOfSubject } from '../../../orchestrator/ports/billable-actions.ts';
import { DAY_MS, isoTimestamp } from '../../../platform/clock.ts';
import { invalid } from '../../../platform/errors.ts';
import { visibleProjects } from '../../runs/access/visibility.ts';
import { type UsageDimensionsInput, type UsageDimensionsOutput, usageDimensions } from '../schemas.ts';
import { toFilter } from './history.ts';
import { queryUsage, type RollupColumn, type UsageRollup } from './rollup-store.ts';
import { findMemberNames, findPeriodStart, findWorkflowNames, type UsageFilter } from './store.ts';

type Dimension = (typeof usageDimensions)[number];
type Item = { key: string; label: string; quantity: number; microcredits: number };

/** The maximum number of items of a dimension; further ones are combined as `other`. */
const MAX_ITEMS = 100;

/** The column of each dimension, and the columns of the rollups that it is read from. */
const readings: Record<
  Dimension,
  { by: RollupColumn[]; key: RollupColumn; counts: (sum: UsageRollup) => boolean; quantity: 'steps' | 'quantity' }
> = {
  workflow: { by: ['workflow'], key: 'workflow', counts: () => true, quantity: 'steps' },
  action: { by: ['action'], key: 'action', counts: () => true, quantity: 'quantity' },
  step_type: { by: ['step_type'], key: 'step_type', counts: () => true, quantity: 'steps' },
  tool: { by: ['action', 'subject'], key: 'subject', counts: isOf('tool'), quantity: 'quantity' },
  model: { by: ['action', 'subject'], key: 'subject', counts: isOf('model'), quantity: 'quantity' },
  user: { by: ['started_by'], key: 'started_by', counts: () => true, quantity: 'steps' },
  day: { by: ['day'], key: 'day', counts: () => true, quantity: 'steps' },
};

function isOf(subject: 'tool' | 'model') {
  const actions = actionsOfSubject(subject);
  return ({ key }: UsageRollup) => actions.some(action => action === key.action);
}

/**
 * GET /v1/billing/usage-dimensions: the usage of a period by dimension. Viewers see the projects of which they are
 * members, other roles the whole workspace.
 */
export async function usageByDimension(
  ctx: Context,
  { by, time_zone: timeZone, ...filters }: z.output<typeof UsageDimensionsInput>,
): Promise<z.input<typeof UsageDimensionsOutput>> {
  const { principal, services } = ctx;
  const period = await periodOf(ctx, filters);
  const filter: UsageFilter = { ...toFilter(filters), ...period };
  if (principal.role === 'project_viewer') filter.projects = await narrow(ctx, filter.projects);
  const wanted = by === undefined ? usageDimensions : [by];
  // Actions are always included, because their sum is the total.
  const sets = distinct([['action'], ...wanted.map(dimension => readings[dimension].by)]);
  const now = services.clock.now();
  const sums = await queryUsage(services.pool, principal.tenantId, filter, { by: sets, timeZone, now }).catch(
    unknownZone,
  );
  const rowsFor = (set: RollupColumn[]) => sums[sets.findIndex(other => isSame(other, set))] ?? [];
  const dimensions = wanted.map(dimension => ({
    by: dimension,
    items: itemsOf(dimension, rowsFor(readings[dimension].by)),
  }));
  await label(services.pool, principal.tenantId, dimensions);
  return {
    from: isoTimestamp(period.from),
    to: isoTimestamp(period.to),
    time_zone: timeZone,
    total_microcredits: rowsFor(['action']).reduce((total, sum) => total + sum.microcredits, 0),
    dimensions,
  };
}

const isSame = (a: readonly string[], b: readonly string[]) => a.join() === b.join();
const distinct = (sets: RollupColumn[][]) =>
  sets.filter((set, index) => sets.findIndex(other => isSame(other, set)) === index);

/** The requested range; by default the current billing period, or the last 30 days if that is shorter. */
async function periodOf(
  { principal, services }: Context,
  { from, to }: { from?: string | undefined; to?: string | undefined },
): Promise<{ from: number; to: number }> {
  const end = to === undefined ? services.clock.now() + 1 : Date.parse(to);
  if (from !== undefined) {
    if (Date.parse(from) >= end) throw invalid('The period is empty.', [{ path: 'to', message: 'must be after from' }]);
    return { from: Date.parse(from), to: end };
  }
  if (to !== undefined) return { from: end - 30 * DAY_MS, to: end };
  const start = await findPeriodStart(services.pool, principal.tenantId);
  return { from: start ?? end - 30 * DAY_MS, to: end };
}

async function narrow(ctx: Context, asked: readonly string[] | undefined): Promise<readonly string[]> {
  const visible = await visibleProjects(ctx);
  return asked === undefined ? visible : visible.filter(project => asked.includes(project));
}

/** The runtime and the database may know different time zones. */
function unknownZone(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === '22023')
    throw invalid('The time zone is unknown.', [{ path: 'time_zone', message: 'must be an IANA time zone' }]);
  throw error;
}

function itemsOf(dimension: Dimension, sums: readonly UsageRollup[]): Item[] {
  const { key, counts, quantity } = readings[dimension];
  const items = new Map<string, Item>();
  for (const sum of sums.filter(counts)) {
    const name = sum.key[key] ?? '';
    const item = items.get(name) ?? { key: name, label: name, quantity: 0, microcredits: 0 };
    item.quantity += sum[quantity];
    item.microcredits += sum.microcredits;
    items.set(name, item);
  }
  const sorted = [...items.values()].sort(byCost);
  return dimension === 'day' ? lastDays(sorted) : limitItems(sorted);
}

const byCost = (a: Item, b: Item) =>
  b.microcredits - a.microcredits || b.quantity - a.quantity || (a.key < b.key ? -1 : 1);

function limitItems(sorted: Item[]): Item[] {
  const rest = sorted.slice(MAX_ITEMS);
  return rest.length === 0 ? sorted : [...sorted.slice(0, MAX_ITEMS), combine(rest)];
}

/** Keeps the last hundred days, in order, and combines the earlier ones. */
function lastDays(items: Item[]): Item[] {
  const days = items.sort((a, b) => (a.key < b.key ? -1 : 1));
  const before = days.slice(0, Math.max(0, days.length - MAX_ITEMS));
  return before.length === 0 ? days : [...days.slice(-MAX_ITEMS), combine(before)];
}

const combine = (items: readonly Item[]): Item => ({
  key: 'other',
  label: 'Other',
  quantity: items.reduce((sum, item) => sum + item.quantity, 0),
  microcredits: items.reduce((sum, item) => sum + item.microcredits, 0),
});

/** Labels workflows and people with their names; a person who is no longer a member keeps the address. */
async function label(
  pool: Pool,
  tenantId: string,
  dimensions: readonly { by: Dimension; items: Item[] }[],
): Promise<void> {
  const itemsOfDimension = (dimension: Dimension) => dimensions.find(({ by }) => by === dimension)?.items ?? [];
  const name = async (items: Item[], find: typeof findWorkflowNames) => {
    if (items.length === 0) return;
    const names = await find(
      pool,
      tenantId,
      items.map(({ key }) => key),
    );
    for (const item of items) item.label = names.get(item.key) ?? item.label;
  };
  await name(itemsOfDimension('workflow'), findWorkflowNames);
  await name(itemsOfDimension('user'), findMemberNames);
}
