import type { FakeModel } from '../../bin/fake-model/server.ts';
import type { JsonValue } from '../../server/orchestrator/core/index.ts';
import { addModel, makeInstance } from '../fixtures/agents.ts';
import { type Call, until } from './instance.ts';

/** The paths of what the pictures show of agents, chat and Autopilot. */
export type Assistants = {
  agent: string;
  agentRun: string;
  thread: string;
  autopilot: string;
  proposal: string;
  newWorkflow: string;
};

const invoice = { customer: 'Ann', lines: [{ description: 'Work', quantity: 2, unit_price: 50 }] };
const RATES = `The rate of today is **1.08**.

| EUR | USD |
| --- | --- |
| 100 | 108 |
| 250 | 270 |

I can write the invoice, if you want:

1. for Ann, with two hours of work,
2. in dollars.`;

const lua = (id: string, name: string, script: string, ...depends_on: string[]) => ({
  id,
  name,
  type: 'lua_script',
  script,
  depends_on,
});
const edits: JsonValue[] = [
  { type: 'update_step', step: 'price', set: { script: 'return { net = input.net * 1 }' } },
  {
    type: 'add_step',
    step: lua('tax', 'Add the tax', 'return { sum = steps.price.result.net * 1.2 }', 'price'),
  },
  { type: 'remove_step', step: 'old', heal: true },
];

/** Gives the instance a scripted model, and one of everything that asks it. */
export async function fillAssistants(call: Call, model: FakeModel): Promise<Assistants> {
  await addModel({ call }, model);
  const calls = (name: string, args: JsonValue) => ({ calls: [{ name, arguments: args }] });
  const workflow = String(
    (
      await call('POST', '/v1/workflows', {
        name: 'Invoice total',
        graph: { steps: [lua('price', 'Price', 'return { net = 10 }'), lua('old', 'Old total', 'return 1', 'price')] },
      })
    ).id,
  );
  const made = { title: 'Greet people', edits: [{ type: 'set_details', name: 'Greeting' }, greeting] };
  const changed = { workflow_id: workflow, title: 'Add the tax', edits };
  model.script({
    answers: [
      {
        match: { last: 'Write an invoice' },
        content: [{ text: 'I write it.' }, calls('create_invoice', invoice)],
      },
      {
        match: { last: 'What is 250 EUR' },
        content: [{ reasoning: 'The rate is asked first.' }, calls('lookup_exchange_rate', { from: 'EUR', to: 'USD' })],
      },
      { match: { any: 'What is 250 EUR', turn: 1 }, content: [{ text: RATES }] },
      { match: { last: 'Add the tax', turn: 0 }, content: [calls('autopilot_propose', changed)] },
      { match: { last: 'greets', turn: 0 }, content: [calls('autopilot_propose', made)] },
      { match: { any: 'Add the tax' }, content: [{ text: 'I have proposed a step that adds the tax.' }] },
      { content: [{ text: 'I have proposed it.' }] },
    ],
  });
  const agent = await call('POST', '/v1/agents', {
    name: 'Billing clerk',
    description: 'Answers about rates, and writes invoices.',
    model: 'openai_compatible/scripted',
    instructions: 'You look up rates and write invoices.\n\nAmounts have **two** decimals.',
    starters: ['What is 250 EUR in USD?'],
    tools: [
      {
        type: 'mcp',
        instance_id: await makeInstance({ call }, 'Billing desk'),
        tools: ['lookup_exchange_rate', 'create_invoice'],
      },
    ],
  });
  const thread = `/chat/${await said(call, String(agent.id), 'What is 250 EUR in USD?', 'Write an invoice of it for Ann.')}`;
  const { run_id } = await call('POST', `/v1/agents/${String(agent.id)}/runs`, {
    input: { message: 'Write an invoice for Ann.' },
  });
  await until(async () => waits(call, String(agent.id), String(run_id)));
  const autopilot = await call('POST', '/v1/autopilot/chat', {
    text: 'Add the tax to the total.',
    context: { workflow_id: workflow },
  });
  const alone = await call('POST', '/v1/autopilot/chat', { text: 'Build a workflow that greets people.' });
  for (const { thread_id } of [autopilot, alone]) await until(() => answered(call, String(thread_id)));
  const { proposals } = (await call('GET', '/v1/autopilot/proposals')) as {
    proposals: { id: string; workflow_id: string | null }[];
  };
  const idOf = (of: string | null) => {
    const found = proposals.find(each => each.workflow_id === of);
    if (found === undefined) throw new Error('Autopilot has not proposed what the pictures show.');
    return found.id;
  };
  return {
    agent: `/agents/${String(agent.id)}`,
    agentRun: `/workflows/${String(agent.id)}/runs/${String(run_id)}`,
    thread,
    autopilot: `/chat/${String(autopilot.thread_id)}`,
    proposal: `/workflows/${workflow}?panel=autopilot&proposal=${idOf(workflow)}`,
    newWorkflow: `/workflows/proposals/${idOf(null)}`,
  };
}

const greeting = { type: 'add_step', step: lua('greet', 'Greet', 'return "Hello " .. input.name') };

/** A thread with the agent in which these messages were sent, each after the answer to the one before; an answer may wait for an approval. */
async function said(call: Call, agent_id: string, ...messages: string[]): Promise<string> {
  const thread = String((await call('POST', '/v1/chat/threads', { agent_id })).id);
  for (const text of messages) {
    const { workflow_id, run_id } = await call('POST', `/v1/chat/threads/${thread}/messages`, { text });
    await until(async () => (await answered(call, thread)) || waits(call, String(workflow_id), String(run_id)));
  }
  return thread;
}

type Message = { metadata: { status: string } };

/** Whether nothing of the thread is being written. */
async function answered(call: Call, thread: string): Promise<boolean> {
  const { messages } = (await call('GET', `/v1/chat/threads/${thread}/messages?limit=200`)) as { messages: Message[] };
  return !messages.some(({ metadata: { status } }) => status === 'queued' || status === 'running');
}

async function waits(call: Call, workflow: string, run: string): Promise<boolean> {
  const { tasks } = (await call('GET', `/v1/tasks/pending?workflow_id=${workflow}`)) as { tasks: { run_id: string }[] };
  return tasks.some(({ run_id }) => run_id === run);
}
