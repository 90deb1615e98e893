import {
  add,
  all,
  answerText,
  type Check,
  call,
  checkOutputs,
  checkWorkflow,
  type Goal,
  ofType,
  propose,
  run,
  setName,
  setOutput,
} from '../goal.ts';

const noted = (input: object, expected: readonly unknown[]): Check =>
  all(async ({ act, notes }, { workflowId }) => {
    notes.length = 0;
    const { status } = await run(act, String(workflowId), input);
    if (status !== 'completed') return [`it is ${status}`];
    return JSON.stringify(notes) === JSON.stringify(expected)
      ? []
      : [`these notes were sent: ${JSON.stringify(notes)}`];
  });

/** Looks up a tool, and proposes these steps with the tool's instance. */
const withTool = (tool: string, name: string, ...edits: object[]) => [
  call('autopilot_find_tools', { q: tool }),
  call('autopilot_propose', { title: name, edits: [setName(name), ...edits] }),
  answerText(`I propose ${name}.`),
];
const instance_id = '{{last.tools.0.instances.0.id}}';

/** Workflows that use other systems and models. */
export const OUTSIDE: readonly Goal[] = [
  {
    name: 'tool-read',
    words:
      'Build a workflow named "Rate" that looks the exchange rate of the currency in its input ("currency") up with a tool of this workspace. Its output is {"rate": the rate}.',
    check: checkOutputs([{ currency: 'USD' }, { rate: 1.25 }], [{ currency: 'CHF' }, { rate: 0.5 }]),
    solution: withTool(
      'exchange',
      'Rate',
      add({
        id: 'rate',
        type: 'mcp_call',
        instance_id,
        tool_name: 'exchange_rate',
        tool_args: { currency: '{{input.currency}}' },
      }),
      setOutput({ rate: '{{steps.rate.result.rate}}' }),
    ),
  },
  {
    name: 'tool-write',
    words:
      'Build a workflow named "Note" that sends a note with the tool of this workspace for that. The text of the note is "Order NUMBER has arrived", with the "number" of the input.',
    check: noted({ number: 7 }, [{ text: 'Order 7 has arrived' }]),
    solution: withTool(
      'send_note',
      'Note',
      add({
        id: 'note',
        type: 'mcp_call',
        instance_id,
        tool_name: 'send_note',
        tool_args: { text: 'Order {{input.number}} has arrived' },
      }),
    ),
  },
  {
    name: 'tool-on-condition',
    words:
      'Build a workflow named "Alarm". Its input has a number "degrees". Above 30 it sends a note with the text "Too hot" by the tool of this workspace for that; otherwise it sends nothing.',
    check: all(noted({ degrees: 31 }, [{ text: 'Too hot' }]), noted({ degrees: 30 }, [])),
    solution: withTool(
      'send_note',
      'Alarm',
      add({ id: 'hot', type: 'condition', expression: 'input.degrees > 30', then: ['note'] }),
      add({
        id: 'note',
        type: 'mcp_call',
        instance_id,
        tool_name: 'send_note',
        tool_args: { text: 'Too hot' },
        depends_on: ['hot'],
      }),
    ),
  },
  {
    name: 'request-read',
    words:
      'Build a workflow named "Stock" that reads {api}/stock by HTTP. Its output is {"stock": the "stock" of the JSON that it returns}.',
    check: checkOutputs([{}, { stock: 7 }]),
    solution: propose(
      'Stock',
      setName('Stock'),
      add({ id: 'read', type: 'http_request', url: '{api}/stock' }),
      setOutput({ stock: '{{steps.read.result.body.stock}}' }),
    ),
  },
  {
    name: 'request-write',
    words:
      'Build a workflow named "Order" that posts {"item": …, "quantity": …} as JSON to {api}/orders, both taken from its input.',
    check: all(async ({ act, orders }, { workflowId }) => {
      orders.length = 0;
      const { status } = await run(act, String(workflowId), { item: 'pen', quantity: 2 });
      const isRight = status === 'completed' && JSON.stringify(orders) === '[{"item":"pen","quantity":2}]';
      return isRight ? [] : [`it is ${status}, and these orders were posted: ${JSON.stringify(orders)}`];
    }),
    solution: propose(
      'Order',
      setName('Order'),
      add({
        id: 'post',
        type: 'http_request',
        method: 'POST',
        url: '{api}/orders',
        body: { item: '{{input.item}}', quantity: '{{input.quantity}}' },
      }),
    ),
  },
  {
    name: 'retries',
    words:
      'Build a workflow named "Patient" that reads {api}/stock by HTTP, and tries three times more when that fails.',
    check: all(
      checkWorkflow(
        workflow => ofType(workflow, 'http_request')[0]?.retry_count !== 3 && 'it is not tried three times more',
      ),
    ),
    solution: propose(
      'Patient',
      setName('Patient'),
      add({ id: 'read', type: 'http_request', url: '{api}/stock', retry_count: 3 }),
    ),
  },
  {
    name: 'model-text',
    words:
      'Build a workflow named "Summary" that has the model {model} summarise the "text" of its input in one sentence. Its output is {"summary": the text of the answer}.',
    check: all(async ({ act }, { workflowId }) => {
      const { status, output } = await run(act, String(workflowId), {
        text: 'The train was late. The meeting began without us.',
      });
      const summary = (output as { summary?: unknown } | null)?.summary;
      return status === 'completed' && typeof summary === 'string' && summary !== ''
        ? []
        : [`it is ${status} without a text`];
    }),
    solution: propose(
      'Summary',
      setName('Summary'),
      add({ id: 'ask', type: 'llm_call', model: '{model}', prompt: 'Summarise in one sentence: {{input.text}}' }),
      setOutput({ summary: '{{steps.ask.result.text}}' }),
    ),
    asked: { 'Summarise in one sentence:': 'They were late.' },
  },
  {
    name: 'model-data',
    words:
      'Build a workflow named "Mood" that has the model {model} say whether the "text" of its input is friendly: the answer of the model is an object with one field "friendly", true or false. The output of the workflow is {"friendly": …}.',
    check: checkOutputs([{ text: 'Thank you so much, you are wonderful!' }, { friendly: true }]),
    solution: propose(
      'Mood',
      setName('Mood'),
      add({
        id: 'ask',
        type: 'llm_call',
        model: '{model}',
        prompt: 'Is this text friendly? {{input.text}}',
        response_schema: requiresFriendly(),
      }),
      setOutput({ friendly: '{{steps.ask.result.object.friendly}}' }),
    ),
    asked: { 'Is this text friendly?': '{"friendly": true}' },
  },
  {
    name: 'agent',
    words:
      'Build a workflow named "Clerk" with an agent that uses the model {model}. It may use the tool of this workspace for exchange rates, and no other tool. Its task is the "question" of the input, in at most 5 turns. The output is {"answer": its text}.',
    check: all(
      checkWorkflow(workflow => {
        const [agent] = ofType(workflow, 'agent');
        const { tools = [], limits } = (agent ?? {}) as {
          tools?: { tools?: string[] }[];
          limits?: { max_turns?: number };
        };
        const isSo = tools.length === 1 && tools[0]?.tools?.join() === 'exchange_rate' && limits?.max_turns === 5;
        return !isSo && 'the agent has other tools or limits';
      }),
      async ({ act }, { workflowId }) => {
        const { status, output } = await run(act, String(workflowId), { question: 'Say hello.' });
        return status === 'completed' && (output as { answer?: string }).answer
          ? []
          : [`it is ${status} without an answer`];
      },
    ),
    solution: withTool(
      'exchange',
      'Clerk',
      add({
        id: 'clerk',
        type: 'agent',
        model: '{model}',
        prompt: 'Answer the question: {{input.question}}',
        tools: [{ type: 'mcp', instance_id, tools: ['exchange_rate'] }],
        limits: { max_turns: 5 },
      }),
      setOutput({ answer: '{{steps.clerk.result.text}}' }),
    ),
    asked: { 'Answer the question:': 'Hello.' },
  },
];

function requiresFriendly() {
  return { type: 'object', properties: { friendly: { type: 'boolean' } }, required: ['friendly'] };
}
