import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import { createTestPat } from '../../testing/identity.ts';
import { type Ask, isOn, type SurfaceName, surfaceNames, surfacesOf } from '../../testing/surfaces.ts';
import { startTestNode, type TestNode } from '../../testing/two-nodes.ts';
import {
  type Answer,
  absentVersions,
  callsTo,
  registry,
  startTestWorlds,
  type TestWorlds,
  type World,
} from '../../testing/world.ts';
import { operations } from '../operations.ts';
import type { RegisteredOperation } from '../registry.ts';

/**
 * Tests that another node answers each operation, on each surface, as the leading node does. The other node
 * has no engine: an operation that it handled itself would fail, or not be counted as forwarded.
 */
let worlds: TestWorlds;
/** The two tenants have the same resources, and get the same writes. */
let rival: Sent & { token: string };
let acme: Sent & { token: string };
let near: TestNode;
let leader: Node;
let other: Node;

/** A request's matter: the ids of a tenant's resources, the token of its owner, and fields besides the example's. */
type Sent = { ids: World['ids']; token?: string; extra?: Record<string, unknown> };
type Node = { ask: Record<SurfaceName, Ask>; answers: Answer[] };
type Case = [SurfaceName, string, RegisteredOperation];

const cases: Case[] = surfaceNames.flatMap(surface =>
  registry.operations
    .filter(entry => isOn(surface, entry))
    .map((entry): Case => [surface, entry.operation.name, entry]),
);
const isPublic = ([, , { operation }]: Case) => operation.access === 'public';
const isRead = ([, , { operation }]: Case) => operation.method === 'GET';
const isDeletion = ([, , { operation }]: Case) => operation.method === 'DELETE';
const own = cases.filter(each => !isPublic(each));
/** The second answer has no token any more. */
const ONCE = ['pats_reveal'];
/** A trial may have ended when its start is answered, and more runs have failed a moment later: only the codes are compared. */
const OF_WHAT_GOES_ON = ['autopilot_try_proposal', 'runs_start_bulk', 'runs_preview_bulk'];

beforeAll(async () => {
  worlds = await startTestWorlds({
    BATON_MCP_GROUPS: 'core,catalog,memory,chat,files,websocket,vault,pat,inbound,llm_keys',
    BATON_MCP_RISK: 'true',
  });
  const { services } = worlds.service.container;
  rival = { ids: worlds.rival.ids, token: worlds.rivalToken };
  acme = { ids: worlds.acme.ids, token: (await createTestPat(services, worlds.acme.owner, scopes)).token };
  const orchestrator = { ...services.orchestrator, leads: () => false };
  near = await startTestNode('near', { ...services, orchestrator }, operations);
  near.owner = { kind: 'node', id: 'leader', url: worlds.service.url };
  leader = nodeAt(worlds.service.url);
  other = nodeAt(near.url);
});
afterAll(async () => {
  await near.close();
  await worlds.close();
});

/** Returns the surfaces of the node at `url`, with the answers that they get. */
function nodeAt(url: string): Node {
  const answers: Answer[] = [];
  const { request, call } = callsTo(url);
  const keep = async (answer: Promise<Answer>) => {
    answers.push(await answer);
    return answer;
  };
  const kept: TestWorlds = {
    ...worlds,
    request: (...args) => keep(request(...args)),
    call: (...args) => keep(call(...args)),
  };
  return { ask: surfacesOf(kept), answers };
}

/** Texts that are others in each answer, also where JSON is a text inside of JSON. */
const VARYING: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'time'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'],
  // Tokens, secrets and challenges.
  [/[\w-]{32,}/g, 'secret'],
];
/** Texts that differ between two tenants that get the same writes: names, credits and counts, and how far a run has come. */
const OF_TENANT: readonly [RegExp, string][] = [
  [/acme|rival/g, 'slug'],
  [/(?<!"status)(":)-?\d+(?:\.\d+)?/g, '$10'],
  [/(status\\*":\\*")(queued|running|completed|failed)\b/g, '$1any'],
];

/** Returns the answer in terms of all surfaces, and as it came, without what varies. */
async function answerOf({ ask, answers }: Node, [surface, , entry]: Case, { ids, token, extra }: Sent) {
  const verdict = await ask[surface](entry, ids, token === undefined ? {} : { token }, extra);
  const came = JSON.stringify(answers.splice(0));
  return { verdict, came: without(VARYING, came) };
}

const without = (varying: typeof VARYING, text: string): string =>
  varying.reduce((left, [pattern, name]) => left.replaceAll(pattern, name), text);

/** Expects the same answer of both nodes, and returns its verdict. */
async function expectSame(each: Case, sent: Sent): Promise<string> {
  const owner = await answerOf(leader, each, sent);
  expect(await answerOf(other, each, sent)).toEqual(owner);
  return owner.verdict;
}

/** Ids of nothing, and versions that do not exist. */
const absent = (): World['ids'] => ({
  ...Object.fromEntries(Object.keys(worlds.rival.ids).map(name => [name, newId()])),
  ...absentVersions,
});

describe('every operation answers as at the leader', () => {
  test.each(own)('%s %s', async (...each) => {
    const [surface, , entry] = each;
    const before = near.outcomes.length;
    expect(await expectSame(each, { ...rival, extra: { nonsense: '1' } })).toBe('validation_error');
    const isForwarded = !isRead(each) || surface === 'mcp' || surface === 'catalog';
    expect(near.outcomes.slice(before)).toEqual(isForwarded ? ['answered'] : []);
    if (entry.pathParameters.length > 0) await expectSame(each, { ...rival, ids: absent() });
  });
});

describe('every public operation answers as at the leader', () => {
  test.each(cases.filter(isPublic))('%s %s', async (...each) => {
    for (const extra of [{}, { nonsense: '1' }])
      for (const ids of [rival.ids, acme.ids, absent()]) await expectSame(each, { ids, extra });
  });
});

describe('every read has the body of the leader', () => {
  test.each(own.filter(each => isRead(each) && !ONCE.includes(each[1])))('%s %s', async (...each) => {
    // What goes on in the tenant may change between the two.
    const verdict = await vi.waitFor(() => expectSame(each, rival), { timeout: 60_000, interval: 50 });
    if (each[2].pathParameters.length === 0) expect(verdict).toBe('ok');
  });
});

// Last, and deletions at the end, because these writes are carried out: one tenant's here, the other's at the leader.
describe('every write has the body of the leader', () => {
  const writes = own.filter(each => !isRead(each));
  const done = new Set<string>();

  test.each([...writes.filter(each => !isDeletion(each)), ...writes.filter(isDeletion)])('%s %s', async (...each) => {
    const [, name] = each;
    const [here, there] = [await answerOf(other, each, rival), await answerOf(leader, each, acme)];
    if (here.verdict === 'ok') done.add(name);
    // Its name is unique in the deployment.
    if (name === 'workspaces_create') return;
    expect(here.verdict).toBe(there.verdict);
    if (!OF_WHAT_GOES_ON.includes(name)) expect(without(OF_TENANT, here.came)).toBe(without(OF_TENANT, there.came));
  });
  test('and most of them succeed', () => {
    const names = new Set(writes.map(([, name]) => name));
    expect(done.size / names.size).toBeGreaterThan(0.7);
  });
});
