import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestMemory, type EpisodeResult, type TestMemory } from '../../testing/memory.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { visibilities } from './schemas.ts';
import { VISIBILITIES } from './scope.ts';

/** Three workspaces have three projects with three people each. Each person, project and workspace has a memory. */
type Person = {
  who: string;
  principal: Principal;
  private: string;
  project: string;
  workspace: string;
  itemId: string;
  episode: EpisodeResult;
};
let memory: TestMemory;
const people: Person[] = [];

beforeAll(async () => {
  memory = await createTestMemory();
  for (const slug of ['one', 'two', 'three']) {
    const tenant = await createTestTenant(memory.services, { slug });
    const { tenantId, projectId, owner } = tenant;
    const projects = [projectId, await project(tenant, 'second'), await project(tenant, 'third')];
    await memory.remember(owner, 'zebra', `zebra of the workspace ${slug}`, { visibility: 'workspace' });
    for (const [nth, id] of projects.entries()) {
      const admin = { ...owner, projectId: id };
      await memory.remember(admin, 'zebra', `zebra of the project ${slug} ${nth}`, { visibility: 'project' });
      for (const name of ['ann', 'bob', 'cy']) {
        const at = `${name}-${nth}@${slug}.example.com`;
        const principal = await createTestMember(
          memory.services,
          { tenantId, projectId: id },
          'project_contributor',
          at,
        );
        const who = `${slug} ${nth} ${name}`;
        const itemId = await memory.remember(principal, 'zebra', `zebra of ${who}`);
        const episode = await memory.said(principal, [['user', `zebra said by ${who}`]], { thread_id: 'zebra' });
        const project = `zebra of the project ${slug} ${nth}`;
        const workspace = `zebra of the workspace ${slug}`;
        people.push({ who, principal, private: `zebra of ${who}`, project, workspace, itemId, episode });
      }
    }
  }
});
afterAll(() => memory.close());

const project = async (tenant: TestTenant, name: string) =>
  (await createTestProject(memory.services, tenant, name)).projectId;
const ownTexts = (person: Person) =>
  [person.private, person.project, person.workspace, `zebra said by ${person.who}`].sort();
const textsIn = (value: unknown): string[] =>
  [...new Set([...JSON.stringify(value).matchAll(/zebra (?:of|said)[\w ]+/g)].map(([text]) => text))].sort();

test('requests and rows have the same visibilities', () => {
  expect(visibilities).toEqual(VISIBILITIES);
});

describe('a person finds the memories of their own, their project and their workspace', () => {
  const queries = [
    'zebra',
    '"zebra of"',
    '%',
    '_',
    'zebra %',
    "zebra' OR true --",
    'zebr',
    'z_bra',
    'z%a',
    'zebra*:A | !x',
  ];

  test.each(queries)('with the query %s', async query => {
    for (const person of people) {
      const found = await memory.search(person.principal, query, { k: 100, include_superseded: true, explain: true });
      expect(ownTexts(person)).toEqual(expect.arrayContaining(textsIn(found)));
      if (query === 'zebra') expect(textsIn(found)).toEqual(ownTexts(person));
    }
  });

  test('with every filter', async () => {
    const [first] = people;
    if (first === undefined) throw new Error('There are no people.');
    for (const person of people) {
      for (const visibility of visibilities) {
        const found = await memory.search(person.principal, 'zebra', { k: 100, visibility });
        expect(textsIn(found).filter(text => !ownTexts(person).includes(text))).toEqual([]);
        const listed = await memory.call(person.principal, 'memory_items_list', { visibility });
        const expected = { private: person.private, project: person.project, workspace: person.workspace };
        expect(textsIn(listed)).toEqual([expected[visibility]]);
      }
      for (const [field, kind] of [
        ['workflow_id', 'workflow'],
        ['agent_id', 'agent'],
      ] as const) {
        const id = await memory.subjectOf(person.principal, kind);
        expect(textsIn(await memory.search(person.principal, 'zebra', { k: 100, [field]: id }))).toEqual(
          ownTexts(person),
        );
        const other = people.find(({ principal }) => principal.projectId !== person.principal.projectId);
        const foreign = await memory.subjectOf(other?.principal ?? first.principal, kind);
        const narrowed = memory.search(person.principal, 'zebra', { [field]: foreign });
        await expect(narrowed).rejects.toMatchObject({ status: 404 });
      }
    }
  });

  test('with every list, tool and export', async () => {
    for (const person of people) {
      const { call } = memory;
      const args = { query: 'zebra', k: 100 };
      expect(
        textsIn(await call(person.principal, 'memory_tools_call', { tool: 'memory_search', arguments: args })),
      ).toEqual(ownTexts(person));
      expect(textsIn(await call(person.principal, 'memory_items_list'))).toEqual(
        [person.private, person.project, person.workspace].sort(),
      );
      const { episodes } = (await call(person.principal, 'memory_episodes_list')) as { episodes: { id: string }[] };
      expect(episodes.map(({ id }) => id)).toEqual([person.episode.id]);
      const next = (await call(person.principal, 'memory_get_continuation', { id: person.episode.id })) as object;
      expect(next).toEqual({ episodes: [] });
      const mine = await exported(person.principal, 'me');
      expect(textsIn(mine)).toEqual([person.private, `zebra said by ${person.who}`].sort());
      expect(textsIn(await exported(person.principal, 'project'))).toEqual(ownTexts(person));
    }
  });
});

async function exported(principal: Principal, of: string): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = (await memory.call(principal, 'memory_export', { of, limit: 1, ...(cursor && { cursor }) })) as {
      next_cursor: string | null;
    };
    pages.push(page);
    cursor = page.next_cursor;
    if (cursor === null) return pages;
  }
}

test('fields of a scope are unknown in requests', async () => {
  const [first, second] = people;
  for (const field of ['tenant_id', 'tenantId', 'project_id', 'user_id', 'scope', 'namespace']) {
    const sent = { query: 'zebra', [field]: second?.principal.userId };
    await expect(memory.call(first?.principal ?? null, 'memory_search', sent)).rejects.toMatchObject({ status: 422 });
    const call = { tool: 'memory_search', arguments: sent };
    await expect(memory.call(first?.principal ?? null, 'memory_tools_call', call)).rejects.toMatchObject({
      status: 422,
    });
  }
});

test("another person's ids are 404 for every route and tool, and their memories do not change", async () => {
  const [mallory] = people;
  if (mallory === undefined) throw new Error('There are no people.');
  for (const { itemId, episode } of people.slice(1)) {
    const [chunk] = episode.chunks;
    const evidence = [{ chunk_id: chunk?.id, quote: 'zebra said' }];
    const attempts: [Parameters<TestMemory['call']>[1], object, number][] = [
      ['memory_items_get', { id: itemId }, 404],
      ['memory_items_patch', { id: itemId, text: 'zebra of mallory' }, 404],
      ['memory_items_patch', { id: itemId, status: 'rejected' }, 404],
      ['memory_items_delete', { id: itemId }, 404],
      ['memory_confirm_item', { id: itemId }, 404],
      ['memory_get_episode', { id: episode.id }, 404],
      ['memory_get_continuation', { id: episode.id }, 404],
      ['memory_forget', { of: 'episode', ref: episode.id }, 404],
      ['memory_tools_call', { tool: 'memory_get_episode', arguments: { id: episode.id } }, 404],
      ['memory_tools_call', { tool: 'memory_get_continuation', arguments: { id: episode.id } }, 404],
      ['memory_tools_call', { tool: 'memory_confirm_item', arguments: { id: itemId } }, 404],
      ['memory_propose_items', { items: [{ subject: 'zebra', text: 'theirs', evidence }] }, 422],
      ['memory_propose_items', { items: [{ subject: 'zebra', text: 'theirs', supersedes: itemId }] }, 422],
    ];
    for (const [name, input, status] of attempts) {
      await expect(memory.call(mallory.principal, name, input), name).rejects.toMatchObject({ status });
    }
    expect(await memory.find(mallory.principal, itemId)).toEqual([]);
    expect(await memory.find(mallory.principal, episode.id)).toEqual([]);
  }
  const listed = await memory.call(mallory.principal, 'memory_forget', { of: 'thread', ref: 'zebra' });
  expect(listed).toEqual({ items: 0, episodes: 1 });
  expect(await memory.call(mallory.principal, 'memory_forget', { of: 'me' })).toEqual({ items: 1, episodes: 0 });
  for (const person of people.slice(1)) {
    expect(textsIn(await memory.search(person.principal, 'zebra', { k: 100 }))).toEqual(ownTexts(person));
  }
});

test('a shared item cannot quote a private memory', async () => {
  const person = people[1];
  const [chunk] = person?.episode.chunks ?? [];
  const item = { subject: 'zebra', text: 'A zebra.', evidence: [{ chunk_id: chunk?.id, quote: 'zebra said' }] };
  const propose = (visibility: string) =>
    memory.call(person?.principal ?? null, 'memory_propose_items', { items: [{ ...item, visibility }] });
  await expect(propose('project')).rejects.toMatchObject({ status: 422, code: 'evidence_not_shared' });
  await expect(propose('private')).resolves.toMatchObject({ items: [{ status: 'proposed' }] });
});

test('removing a member deletes their private memories, and deleting a project deletes all of its memories', async () => {
  const { db } = memory;
  const [, , leaver] = people;
  const tables = ['memory_items', 'memory_episodes', 'memory_chunks'];
  const count = async (condition: string, value: string | undefined) =>
    Promise.all(
      tables.map(async table => (await db.pool.query(`SELECT FROM ${table} WHERE ${condition}`, [value])).rowCount),
    );
  expect(await count('user_id = $1', leaver?.principal.userId)).toEqual([1, 1, 1]);
  await db.pool.query('DELETE FROM project_members WHERE user_id = $1', [leaver?.principal.userId]);
  await db.pool.query('DELETE FROM memberships WHERE user_id = $1', [leaver?.principal.userId]);
  expect(await count('user_id = $1', leaver?.principal.userId)).toEqual([0, 0, 0]);
  const gone = people.at(-1)?.principal.projectId;
  expect(await count('project_id = $1', gone)).toEqual([4, 3, 3]);
  await db.pool.query('DELETE FROM projects WHERE id = $1', [gone]);
  expect(await count('project_id = $1', gone)).toEqual([0, 0, 0]);
});
