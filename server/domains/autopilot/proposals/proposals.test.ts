import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import {
  call,
  chain,
  contextFor,
  createServicesWithSteps,
  createTestProject,
  luaStep,
  refusal,
} from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { autopilotOperations } from '../operations.ts';
import { MAX_OPEN_PROPOSALS, MAX_PROPOSAL_EDITS, MAX_ROUNDS } from '../schemas.ts';

const workflows = operationsByName(workflowOperations);
const autopilot = operationsByName(autopilotOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let strangers: Principal[];

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db, { clock: new ManualClock() }));
  tenant = await createTestTenant(services, { slug: 'acme' });
  const other = await createTestTenant(services, { slug: 'rival' });
  strangers = [other.owner, (await createTestProject(services, tenant, 'second')).contributor];
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor, headers: Record<string, string> = {}) =>
  contextFor(services, principal, { headers: new Map(Object.entries(headers)) });
const workflow = (...ids: string[]) =>
  call(workflows.workflows_create, as(), { name: 'Nightly', graph: chain(...ids) });
const readWorkflow = (id: string) => call(workflows.workflows_get, as(), { id });
const editManually = (id: string, ...edits: unknown[]) => call(workflows.workflows_edit, as(), { id, edits });
const propose = (input: Record<string, unknown>, ctx = as(tenant.viewer)) =>
  call(autopilot.autopilot_propose, ctx, { title: 'Better', ...input });
const edit = (id: string, ...edits: unknown[]) =>
  call(autopilot.autopilot_edit_proposal, as(tenant.viewer), { id, edits });
const get = (id: string) => call(autopilot.autopilot_get_proposal, as(tenant.viewer), { id });
/** Applies the proposal in its current state, unless `more` names another state. */
const apply = async (id: string, steps?: string[], ctx = as(), more: object = {}) => {
  const { etag } = await get(id);
  return call(autopilot.autopilot_apply_proposal, ctx, { id, etag, ...(steps && { steps }), ...more });
};
const undo = (id: string, ctx = as()) => call(autopilot.autopilot_undo_proposal, ctx, { id });
const discard = (id: string) => call(autopilot.autopilot_discard_proposal, as(tenant.viewer), { id });
const set = (step: string, fields: Record<string, unknown>) => ({ type: 'update_step', step, set: fields });
const add = (id: string, ...depends_on: string[]) => ({
  type: 'add_step',
  step: luaStep(id, 'return 1', ...depends_on),
});
const idsOf = (draft: { graph: { steps: { id: string }[] } }) => draft.graph.steps.map(({ id }) => id);

describe('a proposal', () => {
  test('leaves the draft unchanged, shows its changes, and whether they could be published', async () => {
    const before = await workflow('a', 'b');
    const made = await propose({ workflow_id: before.id, edits: [set('a', { name: 'A' }), add('c', 'b')] });
    expect(made).toMatchObject({
      status: 'ready',
      valid: true,
      edits: 2,
      base_revision: 1,
      conflicts: [],
      tried: false,
    });
    expect(made.diff.steps).toMatchObject([
      { change: 'changed', step: 'a', fields: [{ field: 'name', after: 'A' }] },
      { change: 'added', step: 'c' },
    ]);
    expect(await get(made.id)).toEqual(made);
    expect(await readWorkflow(before.id)).toEqual(before);
  });

  test('with errors has the status building, and each error has a hint', async () => {
    const made = await propose({ edits: [add('fetch'), add('next', 'fetsh')] });
    expect(made).toMatchObject({ workflow_id: null, status: 'building', valid: false, rounds: 1 });
    expect(made.validation.errors).toMatchObject([{ code: 'unknown_dependency', hint: 'Did you mean "fetch"?' }]);
    const repaired = await edit(made.id, set('next', { depends_on: ['fetch'] }));
    expect(repaired).toMatchObject({ status: 'ready', rounds: 0, edits: 3 });
  });

  test(`needs input after ${MAX_ROUNDS} answers with errors`, async () => {
    const { id } = await propose({ edits: [add('a', 'nobody')] });
    for (let round = 2; round < MAX_ROUNDS; round += 1) {
      expect(await edit(id, set('a', { name: `Round ${round}` }))).toMatchObject({ status: 'building', rounds: round });
    }
    expect(await edit(id, set('a', { name: 'Last' }))).toMatchObject({ status: 'needs_input', rounds: MAX_ROUNDS });
    expect(await edit(id, set('a', { name: 'Answered' }))).toMatchObject({ status: 'building', rounds: 1 });
    expect(await edit(id, { type: 'update_step', step: 'a', unset: ['depends_on'] })).toMatchObject({
      status: 'ready',
    });
  });

  test('takes all edits of a request, or none', async () => {
    const { id } = await propose({ edits: [add('a')] });
    const refused = await refusal(edit(id, add('b'), set('nobody', {})));
    expect(refused).toMatchObject({ status: 422, code: 'edit_not_applicable', details: [{ path: 'edits[1]' }] });
    expect(idsOf((await get(id)).draft)).toEqual(['a']);
  });

  test('is created once if the call of an agent is repeated after a crash', async () => {
    const agentCall = { runId: newId(), stepId: 'agent.1.1' };
    const calling = () => ({ ...as(tenant.viewer), agentCall });
    const first = await propose({ title: 'Once', edits: [add('one')] }, calling());
    expect(await propose({ title: 'Once', edits: [add('one')] }, calling())).toEqual(first);
    const next = { ...calling(), agentCall: { ...agentCall, stepId: 'agent.1.2' } };
    expect((await propose({ title: 'Twice' }, next)).id).not.toBe(first.id);
  });

  test('replaces and closes an earlier proposal', async () => {
    const { id } = await propose({});
    await propose({ supersedes: id });
    expect(await get(id)).toMatchObject({ status: 'superseded' });
    expect(await refusal(propose({ supersedes: id }))).toMatchObject({ status: 409, code: 'proposal_closed' });
    expect(await refusal(edit(id, add('a')))).toMatchObject({ status: 409, code: 'proposal_closed' });
    expect(await refusal(apply(id))).toMatchObject({ status: 409, code: 'proposal_closed' });
    expect(await discard(id)).toMatchObject({ status: 'superseded' });
  });

  test('stays in the list when it is discarded', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id });
    expect(await discard(id)).toMatchObject({ status: 'discarded' });
    expect(await discard(id)).toMatchObject({ status: 'discarded' });
    const other = await propose({ workflow_id });
    const list = (input: Record<string, unknown>) => call(autopilot.autopilot_list_proposals, as(), input);
    expect((await list({ workflow_id })).proposals.map(each => each.id)).toEqual([other.id, id]);
    expect((await list({ workflow_id, status: 'discarded' })).proposals).toHaveLength(1);
    const first = await list({ workflow_id, limit: '1' });
    const second = await list({ workflow_id, limit: '1', cursor: first.next_cursor });
    expect([first, second].map(({ proposals }) => proposals[0]?.id)).toEqual([other.id, id]);
    expect(second.next_cursor).toBeNull();
  });
});

describe('applying', () => {
  test('merges into the current draft, and publishes no version', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const { id } = await propose({ workflow_id, edits: [set('a', { name: 'A' }), add('c', 'b')] });
    await editManually(workflow_id, set('b', { name: 'By hand' }), set('a', { timeout_s: 9 }));
    const done = await apply(id);
    expect(done.proposal).toMatchObject({
      status: 'applied',
      applied_revision: 3,
      applied_by: tenant.contributor.email,
    });
    expect(done.workflow).toMatchObject({ status: 'draft', latest_version: null, etag: '"3"' });
    expect(done.workflow.graph.steps).toMatchObject([
      { id: 'a', name: 'A', timeout_s: 9 },
      { id: 'b', name: 'By hand' },
      { id: 'c' },
    ]);
    expect(await refusal(apply(id))).toMatchObject({ status: 409, code: 'proposal_closed' });
    expect(await refusal(discard(id))).toMatchObject({ status: 409, code: 'proposal_closed' });
  });

  test('is a conflict with both sides if the draft changed the same field, and writes nothing', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const { id } = await propose({ workflow_id, edits: [set('a', { name: 'Mine' }), set('b', { name: 'B' })] });
    await editManually(workflow_id, set('a', { name: 'Theirs' }));
    const before = await readWorkflow(workflow_id);
    expect((await get(id)).conflicts).toEqual([{ step: 'a', field: 'name', proposal: 'Mine', draft: 'Theirs' }]);
    const refused = await refusal(apply(id));
    expect(refused).toMatchObject({ status: 409, code: 'proposal_conflict' });
    expect(refused.details).toEqual([
      { path: 'steps.a.name', step_id: 'a', code: 'proposal_conflict', message: 'proposal: "Mine"; draft: "Theirs"' },
    ]);
    expect(await readWorkflow(workflow_id)).toEqual(before);
    expect(await get(id)).toMatchObject({ status: 'ready' });
    expect((await apply(id, ['b'])).workflow.graph.steps).toMatchObject([{ name: 'Theirs' }, { name: 'B' }]);
  });

  test('can be limited to some steps and the steps that they need', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const edits = [add('c', 'b'), add('d', 'c'), set('a', { name: 'A' }), { type: 'set_details', name: 'Other' }];
    const { id } = await propose({ workflow_id, edits });
    expect(await refusal(apply(id, ['d']))).toMatchObject({ code: 'step_needed', details: [{ step_id: 'd' }] });
    expect(await refusal(apply(id, ['b']))).toMatchObject({ code: 'unknown_step', details: [{ path: 'steps[0]' }] });
    const { workflow: after } = await apply(id, ['d', 'c']);
    expect(idsOf(after)).toEqual(['a', 'b', 'c', 'd']);
    expect(after.name).toBe('Nightly');
    expect(after.graph.steps[0]).not.toHaveProperty('name');
  });

  test('creates the proposed new workflow', async () => {
    const { id } = await propose({ edits: [{ type: 'set_details', name: 'Made' }, add('a')] });
    const { workflow: made, proposal } = await apply(id);
    expect(made).toMatchObject({ name: 'Made', status: 'draft' });
    expect(proposal.workflow_id).toBe(made.id);
    expect(await readWorkflow(made.id)).toEqual(made);
    await editManually(made.id, add('own'));
    expect(idsOf((await undo(id)).workflow)).toEqual(['own']);
  });

  test('twice at once succeeds once', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id, edits: [add('b', 'a')] });
    const both = await Promise.allSettled([apply(id), apply(id, undefined, as(tenant.owner))]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const failed = both.find(({ status }) => status === 'rejected');
    expect(failed).toMatchObject({ reason: { status: 409, code: 'proposal_closed' } });
    expect(await readWorkflow(workflow_id)).toMatchObject({ etag: '"2"' });
  });

  test('twice at once creates one workflow', async () => {
    const { id } = await propose({ edits: [{ type: 'set_details', name: 'Made once' }, add('a')] });
    const both = await Promise.allSettled([apply(id), apply(id, undefined, as(tenant.owner))]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { workflows: made } = await call(workflows.workflows_list, as(), { q: 'Made once' });
    expect(made).toHaveLength(1);
  });

  test('keeps the changes of two concurrent proposals', async () => {
    const { id: workflow_id } = await workflow('a');
    const one = await propose({ workflow_id, edits: [add('b', 'a')] });
    const other = await propose({ workflow_id, edits: [add('c', 'a')] });
    await Promise.all([apply(one.id), apply(other.id)]);
    expect(idsOf(await readWorkflow(workflow_id)).sort()).toEqual(['a', 'b', 'c']);
  });

  test('honors the ETag of the draft, and refuses archived workflows and other kinds of workflows', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id, edits: [add('b', 'a')] });
    expect(await refusal(apply(id, undefined, as(), { draft_etag: '"7"' }))).toMatchObject({ status: 412 });
    await call(workflows.workflows_archive, as(), { id: workflow_id });
    expect(await refusal(apply(id))).toMatchObject({ status: 409, code: 'workflow_archived' });
    expect(await refusal(propose({ workflow_id }))).toMatchObject({ status: 409, code: 'workflow_archived' });
  });
});

describe('undo', () => {
  test('reverses the changes of the proposal, and keeps later changes', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const edits = [set('a', { name: 'A' }), add('c', 'b'), { type: 'set_details', description: 'Better' }];
    const { id } = await propose({ workflow_id, edits });
    await apply(id);
    await editManually(workflow_id, set('a', { timeout_s: 9 }), add('own', 'b'), {
      type: 'set_details',
      name: 'Renamed',
    });
    const { workflow: after, proposal } = await undo(id);
    expect(proposal.status).toBe('undone');
    expect(idsOf(after)).toEqual(['a', 'b', 'own']);
    expect(after).toMatchObject({ name: 'Renamed', description: '' });
    expect(after.graph.steps[0]).toEqual({ ...luaStep('a', 'return "a"'), timeout_s: 9 });
    expect(await refusal(undo(id))).toMatchObject({ status: 409, code: 'proposal_not_applied' });
  });

  test('is a conflict if later edits changed the same field, or need a step that the proposal added', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id, edits: [set('a', { name: 'A' }), add('b', 'a')] });
    expect(await refusal(undo(id))).toMatchObject({ status: 409, code: 'proposal_not_applied' });
    await apply(id);
    await editManually(workflow_id, set('a', { name: 'By hand' }), add('c', 'b'));
    const before = await readWorkflow(workflow_id);
    const refused = await refusal(undo(id));
    expect(refused).toMatchObject({ status: 409, code: 'proposal_conflict' });
    expect(refused.details?.map(({ path }) => path)).toEqual(['steps.a.name', 'steps.b']);
    expect(refused.details?.[0]?.message).toBe('undone: absent; draft: "By hand"');
    expect(await readWorkflow(workflow_id)).toEqual(before);
  });
});

describe('authorization', () => {
  const token = (principal: Principal, ...scopes: string[]): Principal =>
    ({ ...principal, credential: { kind: 'pat', patId: newId(), scopes } }) as Principal;

  test('proposing needs the scope to read the draft', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id });
    const ctx = as(token(tenant.viewer, 'ai:use'));
    for (const ask of [
      () => propose({ workflow_id }, ctx),
      () => call(autopilot.autopilot_edit_proposal, ctx, { id, edits: [add('b')] }),
      () => call(autopilot.autopilot_discard_proposal, ctx, { id }),
    ]) {
      expect(await refusal(ask())).toMatchObject({ status: 403, code: 'insufficient_scope' });
    }
    expect(await propose({ workflow_id }, as(token(tenant.viewer, 'ai:use', 'workflow:read')))).toMatchObject({
      edits: 0,
    });
  });

  test('members of other workspaces and projects are refused', async () => {
    const { id: workflow_id } = await workflow('a');
    const { id } = await propose({ workflow_id, edits: [add('b')] });
    for (const stranger of strangers) {
      const ctx = as(stranger);
      for (const ask of [
        () => call(autopilot.autopilot_get_proposal, ctx, { id }),
        () => call(autopilot.autopilot_edit_proposal, ctx, { id, edits: [add('c')] }),
        () => call(autopilot.autopilot_discard_proposal, ctx, { id }),
        () => call(autopilot.autopilot_apply_proposal, ctx, { id }),
        () => call(autopilot.autopilot_undo_proposal, ctx, { id }),
        () => propose({ workflow_id }, ctx),
        () => propose({ supersedes: id }, ctx),
      ]) {
        expect(await refusal(ask())).toMatchObject({ status: 404 });
      }
      expect((await call(autopilot.autopilot_list_proposals, ctx, { workflow_id })).proposals).toEqual([]);
    }
  });
});

describe('limits', () => {
  test(`a proposal has at most ${MAX_PROPOSAL_EDITS} edits`, async () => {
    const { id } = await propose({ edits: [add('a')] });
    const hundred = Array.from({ length: 100 }, () => set('a', { name: 'A' }));
    for (let sent = 100; sent < MAX_PROPOSAL_EDITS; sent += 100) await edit(id, ...hundred);
    expect(await edit(id, ...hundred.slice(1))).toMatchObject({ edits: MAX_PROPOSAL_EDITS });
    expect(await refusal(edit(id, set('a', { name: 'B' })))).toMatchObject({ status: 422, code: 'limit_reached' });
  });

  test('their edits take at most 4 MiB', async () => {
    const { id } = await propose({ edits: [add('a')] });
    const large = (bytes: number) => set('a', { script: 'x'.repeat(bytes) });
    for (let mebibytes = 0; mebibytes < 4; mebibytes += 1) await edit(id, large(1_000_000));
    await edit(id, large(180_000));
    expect(await refusal(edit(id, large(100_000)))).toMatchObject({ status: 422, code: 'limit_reached' });
  });

  test(`a project has at most ${MAX_OPEN_PROPOSALS} open proposals`, async () => {
    const { projectId, contributor } = await createTestProject(services, tenant, 'crowded');
    const ctx = as(contributor);
    const first = await propose({}, ctx);
    await db.pool.query(
      `INSERT INTO autopilot_proposals SELECT gen_random_uuid(), tenant_id, project_id, workflow_id, title, status, revision,
         base_revision, base, draft, ops, rounds, validation, checks, trial, trial_workflow_id, before, after, applied_revision,
         applied_by, applied_at, thread_id, message_id, created_by, created_at, updated_at
         FROM autopilot_proposals CROSS JOIN generate_series(1, $2) WHERE project_id = $1`,
      [projectId, MAX_OPEN_PROPOSALS - 2],
    );
    await propose({}, ctx);
    expect(await refusal(propose({}, ctx))).toMatchObject({ status: 422, code: 'limit_reached' });
    await propose({ supersedes: first.id }, ctx);
  });
});
