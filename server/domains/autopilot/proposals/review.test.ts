import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context, Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestMember, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { call, chain, contextFor, createServicesWithSteps, luaStep, refusal } from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { autopilotOperations } from '../operations.ts';
import { MAX_ROUNDS } from '../schemas.ts';

/** Tests that proposals are applied as reviewed, and that a person is asked after six rounds (docs/security.md#agents). */
const workflows = operationsByName(workflowOperations);
const autopilot = operationsByName(autopilotOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let other: Principal;

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db, { clock: new ManualClock() }));
  tenant = await createTestTenant(services, { slug: 'acme' });
  other = await createTestMember(services, tenant, 'project_viewer', 'other@example.com');
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
const propose = (input: Record<string, unknown>, ctx = as()) =>
  call(autopilot.autopilot_propose, ctx, { title: 'Better', ...input });
const edit = (id: string, edits: unknown[], ctx = as(), more: object = {}) =>
  call(autopilot.autopilot_edit_proposal, ctx, { id, edits, ...more });
const get = (id: string) => call(autopilot.autopilot_get_proposal, as(), { id });
const apply = (id: string, more: object = {}, ctx = as()) =>
  call(autopilot.autopilot_apply_proposal, ctx, { id, ...more });
const undo = (id: string) => call(autopilot.autopilot_undo_proposal, as(), { id });
const add = (id: string, ...depends_on: string[]) => ({
  type: 'add_step',
  step: luaStep(id, 'return 1', ...depends_on),
});
const set = (step: string, fields: Record<string, unknown>) => ({ type: 'update_step', step, set: fields });
const rename = (step: string, to: string) => ({ type: 'rename_step', step, to });
const reader = (id: string, of: string) => ({
  type: 'add_step',
  step: { id, type: 'human_task', instructions: `{{steps.${of}.result}}`, depends_on: [of] },
});

describe('what was reviewed is what is applied', () => {
  test('the state that was reviewed must be named, by the field or by If-Match', async () => {
    const { id, etag } = await propose({ edits: [add('a')] });
    for (const [more, headers] of [
      [{}, {}],
      [{}, { 'if-match': '*' }],
      [{ etag: '*' }, {}],
    ] as const) {
      expect(await refusal(apply(id, more, as(tenant.contributor, headers)))).toMatchObject({
        status: 428,
        code: 'etag_required',
      });
    }
    // The ETag of a draft does not name a state of the proposal.
    expect(await refusal(apply(id, { etag: '"1"' }))).toMatchObject({ status: 412, code: 'etag_mismatch' });
    expect(await refusal(apply(id, { etag: 'proposal-1' }))).toMatchObject({ status: 422 });
    expect(await refusal(apply(id, { etag }, as(tenant.contributor, { 'if-match': '"1"' })))).toMatchObject({
      status: 412,
    });
    expect(await apply(id, {}, as(tenant.contributor, { 'if-match': etag }))).toMatchObject({
      proposal: { status: 'applied' },
    });
  });

  test('a proposal that has changed since its review is not applied', async () => {
    const { id, etag } = await propose({ edits: [add('a')] });
    const changed = await edit(id, [add('late')]);
    expect(changed.etag).not.toBe(etag);
    expect(await refusal(apply(id, { etag }))).toMatchObject({ status: 412, code: 'etag_mismatch' });
    expect(await get(id)).toMatchObject({ status: 'ready', etag: changed.etag });
    expect((await apply(id, { etag: changed.etag })).workflow.graph.steps).toHaveLength(2);
  });

  test('with an edit and an apply at once, the reviewed state is applied or nothing', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id, etag } = await propose({ edits: [add('a')] });
      const [edited, applied] = await Promise.allSettled([edit(id, [add('late')]), apply(id, { etag })]);
      if (applied.status === 'fulfilled') {
        expect(applied.value.workflow.graph.steps.map(step => step.id)).toEqual(['a']);
        expect(edited).toMatchObject({ status: 'rejected', reason: { code: 'proposal_closed' } });
      } else {
        expect(applied.reason).toMatchObject({ status: 412 });
        expect(edited.status).toBe('fulfilled');
      }
    }
  });

  test('a live trial must name the reviewed state, too', async () => {
    const { id, etag } = await propose({ edits: [add('a')] });
    const tryLive = (more: object) =>
      call(autopilot.autopilot_try_live, as(), {
        id,
        really: ['a'],
        budget_credits: 1,
        checks: [{ step: 'a', op: 'completed' }],
        ...more,
      });
    expect(await refusal(tryLive({}))).toMatchObject({ status: 428 });
    await edit(id, [add('late')]);
    expect(await refusal(tryLive({ etag }))).toMatchObject({ status: 412 });
  });

  test('a contributor, but no viewer, may change the proposals of others; the history names the author', async () => {
    const { id } = await propose({ edits: [add('a')] });
    for (const ask of [
      () => edit(id, [add('late')], as(other)),
      () => propose({ supersedes: id }, as(other)),
      () => call(autopilot.autopilot_discard_proposal, as(other), { id }),
    ])
      expect(await refusal(ask())).toMatchObject({ status: 403, code: 'insufficient_role' });
    const own = await propose({ edits: [add('a')] }, as(other));
    await edit(own.id, [add('b')], as(other));
    await edit(own.id, [add('c'), add('d')], as(tenant.contributor));
    expect((await get(own.id)).changes).toMatchObject([
      { by: other.email, by_agent: false, edits: 2 },
      { by: tenant.contributor.email, by_agent: false, edits: 2 },
    ]);
  });
});

describe('six rounds', () => {
  const agent = (runId = newId()) => {
    let turn = 0;
    return (): Context => {
      turn += 1;
      return { ...as(tenant.viewer), agentCall: { runId, stepId: `agent.${turn}.1` } };
    };
  };
  const wrong = (n: number) => set('a', { depends_on: [`nobody${n}`] });

  test('count refused edits and errors, also of new proposals', async () => {
    const next = agent();
    expect(await refusal(propose({ edits: [add('a'), add('a')] }, next()))).toMatchObject({ status: 422 });
    const { id, rounds } = await propose({ edits: [add('a', 'nobody')] }, next());
    expect(rounds).toBe(2);
    await refusal(edit(id, [rename('b', 'c')], next()));
    await refusal(edit(id, [rename('b', 'd')], next()));
    expect(await get(id)).toMatchObject({ status: 'building', rounds: 4 });
    const again = await propose({ edits: [add('a', 'nobody')], supersedes: id }, next());
    const last = await refusal(edit(again.id, [rename('b', 'e')], next()));
    expect(last.message).toMatch(/ask the person/);
    // From here on every edit is refused, including valid edits and those of new proposals.
    for (const ask of [
      () => edit(again.id, [set('a', { depends_on: [] })], next()),
      () => propose({ edits: [add('a')] }, next()),
    ])
      expect(await refusal(ask())).toMatchObject({ status: 409, code: 'needs_input' });
  });

  test('end the run of an agent even if it claims an answer; the next message begins again', async () => {
    const next = agent();
    const { id } = await propose({ edits: [add('a', 'nobody')] }, next());
    for (let round = 2; round <= MAX_ROUNDS; round += 1) await edit(id, [wrong(round)], next());
    expect(await get(id)).toMatchObject({ status: 'needs_input', rounds: MAX_ROUNDS });
    const claimed = edit(id, [set('a', { depends_on: [] })], next(), { answer: 'The person said yes.' });
    expect(await refusal(claimed)).toMatchObject({ status: 409, code: 'needs_input' });
    expect(await edit(id, [wrong(0)], agent()())).toMatchObject({ status: 'building', rounds: 1 });
  });

  test('of a client with a token end with the `answer` of a person, which the history shows', async () => {
    const credential = { kind: 'pat' as const, patId: newId(), scopes: ['ai:use', 'workflow:read'] as const };
    const client = as({ ...tenant.viewer, credential });
    const { id } = await propose({ edits: [add('a', 'nobody')] }, client);
    for (let round = 2; round <= MAX_ROUNDS; round += 1) await refusal(edit(id, [rename('x', 'y')], client));
    expect(await get(id)).toMatchObject({ status: 'needs_input', rounds: MAX_ROUNDS });
    expect(await refusal(edit(id, [wrong(1)], client))).toMatchObject({ status: 409, code: 'needs_input' });
    const replacing = propose({ supersedes: id, edits: [add('a', 'nobody')] }, client);
    expect(await refusal(replacing)).toMatchObject({ status: 409, code: 'needs_input' });
    const answered = await edit(id, [wrong(1)], client, { answer: 'Read it from the shop.' });
    expect(answered).toMatchObject({ status: 'building', rounds: 1 });
    expect(answered.changes.at(-1)).toMatchObject({ answer: 'Read it from the shop.' });
  });

  test('are counted from zero after an answer without errors', async () => {
    const next = agent();
    const { id } = await propose({ edits: [add('a', 'nobody')] }, next());
    expect(await edit(id, [set('a', { depends_on: [] })], next())).toMatchObject({ status: 'ready', rounds: 0 });
    for (let round = 1; round < MAX_ROUNDS; round += 1)
      expect(await edit(id, [wrong(round)], next())).toMatchObject({ status: 'building', rounds: round });
  });
});

describe('a merge that cannot be published', () => {
  test.each([
    ['a template that reads a renamed step', [rename('b', 'z')], [reader('late', 'b')], ['steps.b']],
    [
      'a template that reads a removed step',
      [{ type: 'remove_step', step: 'b' }],
      [set('c', { script: 'return {{steps.b.result}}' })],
      ['steps.b'],
    ],
    [
      'a cycle of both sides',
      [{ type: 'connect', from: 'x', to: 'y' }],
      [{ type: 'connect', from: 'y', to: 'x' }],
      ['steps.x.depends_on', 'steps.y.depends_on'],
    ],
    [
      'a step that each side put into another branch',
      [{ type: 'connect', from: 'check', to: 'y', branch: 'then' }],
      [{ type: 'connect', from: 'check', to: 'y', branch: 'else' }],
      ['steps.check.then', 'steps.check.else'],
    ],
    [
      'an output that reads a renamed step',
      [rename('b', 'z')],
      [{ type: 'update_graph', set: { output: '{{steps.b.result}}' } }],
      ['steps.b'],
    ],
    [
      'a branch of a step that is no longer a condition',
      [{ type: 'update_step', step: 'check', set: { type: 'lua_script', script: 'return 1' }, unset: ['expression'] }],
      [{ type: 'connect', from: 'check', to: 'y', branch: 'then' }],
      ['steps.check.then'],
    ],
  ])('%s: 409 with both sides, and nothing is written', async (_, ours, theirs, paths) => {
    const graph = chain('a', 'b', 'c');
    const more = [
      luaStep('x', 'return 1'),
      luaStep('y', 'return 1'),
      { id: 'check', type: 'condition', expression: 'true' },
    ];
    const made = { name: 'Both', graph: { steps: [...graph.steps, ...more] } };
    const { id: workflow_id } = await call(workflows.workflows_create, as(), made);
    const { id, etag } = await propose({ workflow_id, edits: ours });
    await editManually(workflow_id, ...theirs);
    const before = await readWorkflow(workflow_id);
    const refused = await refusal(apply(id, { etag }));
    expect(refused).toMatchObject({ status: 409, code: 'proposal_conflict' });
    expect(refused.details?.map(({ path }) => path)).toEqual(paths);
    expect(refused.details?.[0]?.message).toMatch(/^proposal: .+; draft: .+/);
    expect(await readWorkflow(workflow_id)).toEqual(before);
    expect(await get(id)).toMatchObject({ status: 'ready' });
  });
});

describe('an undo', () => {
  test('of a rename is refused if a later step reads the new name', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const { id, etag } = await propose({ workflow_id, edits: [rename('a', 'first')] });
    await apply(id, { etag });
    await editManually(workflow_id, reader('late', 'first'));
    const before = await readWorkflow(workflow_id);
    const refused = await refusal(undo(id));
    expect(refused).toMatchObject({ status: 409, code: 'proposal_conflict', details: [{ path: 'steps.first' }] });
    expect(await readWorkflow(workflow_id)).toEqual(before);
  });

  test('reports whether it changed the draft', async () => {
    const { id: workflow_id } = await workflow('a', 'b');
    const edits = [set('a', { name: 'A' })];
    const one = await propose({ workflow_id, edits });
    expect(await apply(one.id, { etag: one.etag })).toMatchObject({ changed: true });
    expect(await undo(one.id)).toMatchObject({ changed: true });
    const again = await propose({ workflow_id, edits });
    await apply(again.id, { etag: again.etag });
    await editManually(workflow_id, { type: 'update_step', step: 'a', unset: ['name'] });
    expect(await undo(again.id)).toMatchObject({ changed: false, proposal: { status: 'undone' } });
  });

  test('of edits renames later readers, reports whether it changed the draft, and is refused if the old id is taken', async () => {
    const { id } = await workflow('a', 'b');
    const { undo: back, changed } = await editManually(id, rename('a', 'first'));
    expect(changed).toBe(true);
    await editManually(id, reader('late', 'first'));
    const { workflow: after } = await editManually(id, ...back);
    expect(after.graph.steps.map(step => step.id)).toEqual(['a', 'b', 'late']);
    expect(after.graph.steps[2]).toMatchObject({ instructions: '{{steps.a.result}}', depends_on: ['a'] });
    expect(await editManually(id, ...back)).toMatchObject({ changed: false });
    const { undo: again } = await editManually(id, rename('a', 'first'));
    await editManually(id, add('a'));
    const refused = await refusal(editManually(id, ...again));
    expect(refused).toMatchObject({ status: 422, code: 'edit_not_applicable', details: [{ code: 'step_exists' }] });
  });

  test('cannot remove the type of a step, like any edit', async () => {
    const { id } = await workflow('a');
    const update = { change: 'update', step: 'a', set: {}, unset: ['type'], keys: [] };
    for (const bad of [
      { type: 'update_step', step: 'a', unset: ['type'] },
      { type: 'restore', steps: [update] },
    ]) {
      const refused = await refusal(editManually(id, bad));
      expect(refused).toMatchObject({
        status: 422,
        code: 'edit_not_applicable',
        details: [{ code: 'type_not_removable' }],
      });
    }
    for (const type of [null, 5])
      expect(await refusal(editManually(id, set('a', { type })))).toMatchObject({ status: 422 });
  });
});
