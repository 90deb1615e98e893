import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptInput } from '../../../../bin/fake-model/script.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { type ChatService, saidIn, startChatService } from '../../../testing/chat.ts';
import { luaStep } from '../../../testing/workflows.ts';
import { MAX_ROUNDS } from '../schemas.ts';

/** Tests models that ignore the limit of rounds (docs/specification/autopilot.md#rounds). */
let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.fake.requests.length = 0;
});

type Content = Extract<NonNullable<ScriptInput['answers']>[number], { content: unknown }>['content'][number];
const calls = (name: string, args: JsonMap): Content => ({ calls: [{ name, arguments: args }] });
const script = (...contents: Content[]) =>
  chat.fake.script({ answers: contents.map(content => ({ content: [content] })) });
const add = (...steps: JsonMap[]): JsonMap[] => steps.map(step => ({ type: 'add_step', step }));

async function sendMessage(text: string) {
  const sent = await chat.act('autopilot_chat', { text });
  return { run_id: sent.run_id, messages: await chat.settled(String(sent.thread_id)) };
}

describe('a model that does not stop', () => {
  const endless = (next: (turn: number) => Content) => script(...Array.from({ length: 60 }, (_, turn) => next(turn)));

  test.each<[string, (id: string, turn: number) => Content]>([
    [
      'edits that leave errors',
      (id, turn) =>
        calls('autopilot_edit_proposal', { id, edits: [{ type: 'update_step', step: 'a', set: { name: `${turn}` } }] }),
    ],
    [
      'edits that are refused',
      (id, turn) =>
        calls('autopilot_edit_proposal', { id, edits: [{ type: 'rename_step', step: `no${turn}`, to: 'b' }] }),
    ],
    [
      'new proposals',
      (_, turn) => calls('autopilot_propose', { title: `${turn}`, edits: add(luaStep('a', 'return 1', 'nobody')) }),
    ],
    [
      'proposals that are refused',
      (_, turn) => calls('autopilot_propose', { title: `${turn}`, edits: add(luaStep('a', ''), luaStep('a', '')) }),
    ],
    ['edits of no form', (id, turn) => calls('autopilot_edit_proposal', { id, edits: [{ type: `nonsense ${turn}` }] })],
    [
      'edits of a proposal that is not there',
      (_, turn) =>
        calls('autopilot_edit_proposal', {
          id: `01900000-0000-7000-8000-0000000000${turn + 10}`,
          edits: add(luaStep('a', 'return 1')),
        }),
    ],
    ['no JSON', (_, turn) => ({ calls: [{ name: 'autopilot_propose', arguments: `{"title": "${turn}` }] })],
  ])('%s: after six rounds every edit is refused', async (_, next) => {
    const { id } = await chat.act('autopilot_propose', {
      title: 'Broken',
      edits: add(luaStep('a', 'return 1', 'nobody')),
    });
    endless(turn => next(id, turn));
    const { run_id, messages } = await sendMessage('Repair it');
    expect(messages.at(-1)?.metadata.status).toBe('completed');
    // Six rounds, one refusal, and the closing turn, which has no tools.
    expect(chat.fake.requests.length).toBeGreaterThan(MAX_ROUNDS);
    expect(chat.fake.requests.length).toBeLessThanOrEqual(MAX_ROUNDS + 2);
    const closing = chat.fake.requests.at(-1)?.body as { tool_choice?: unknown };
    expect(closing.tool_choice).toBe('none');
    const { rows } = await chat.service.container.services.pool.query('SELECT status FROM runs WHERE id = $1', [
      run_id,
    ]);
    expect(rows).toEqual([{ status: 'completed' }]);
  });

  test('continues when a person has answered its question', async () => {
    const { id } = await chat.act('autopilot_propose', {
      title: 'Broken',
      edits: add(luaStep('a', 'return 1', 'nobody')),
    });
    const edit = (set: JsonMap) =>
      calls('autopilot_edit_proposal', { id, edits: [{ type: 'update_step', step: 'a', set }] });
    const form = { type: 'object', properties: { after: { type: 'string', title: 'After which step' } } };
    const rounds = Array.from({ length: MAX_ROUNDS }, (_, turn) => edit({ name: `${turn}` }));
    script(...rounds, calls('ask_user', { question: 'After what?', form }), edit({ depends_on: [] }), {
      text: 'Done.',
    });
    const sent = await chat.act('autopilot_chat', { text: 'Repair it' });
    const run = { id: sent.workflow_id, runID: sent.run_id };
    const pending = async () => (await chat.act('tasks_list_pending_run', run)).tasks as { task_id: string }[];
    await expect.poll(pending).toHaveLength(1);
    expect(await chat.act('autopilot_get_proposal', { id })).toMatchObject({
      status: 'needs_input',
      rounds: MAX_ROUNDS,
    });
    const [task] = await pending();
    await chat.act('tasks_complete', {
      ...run,
      task_id: String(task?.task_id),
      approved: true,
      result: { after: 'none' },
    });
    const messages = await chat.settled(String(sent.thread_id));
    expect(saidIn(messages.at(-1))).toBe('Done.');
    expect(await chat.act('autopilot_get_proposal', { id })).toMatchObject({ status: 'ready', rounds: 0 });
  });
});
