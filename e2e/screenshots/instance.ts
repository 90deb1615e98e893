import { shipOrders } from '../../components/workflows/templates/ship-orders.ts';
import { graphOf, type PartnerTemplate, sampleInputOf } from '../../components/workflows/templates/template.ts';
import type { TestServer } from '../fixtures/server.ts';

type Answer = Record<string, unknown>;
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Returns a caller of the API of a server with its seeded token, which throws on an answer that is not 2xx. */
export function createCall({ url, pat }: Pick<TestServer, 'url' | 'pat'>): Call {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${pat}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text ? (JSON.parse(text) as Answer) : {};
  };
}

/** Asks again until the answer is there: what happens on the server takes its time. */
export async function until<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  const end = Date.now() + 120_000;
  while (Date.now() < end) {
    const found = await look();
    if (found) return found;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  throw new Error('What the pictures show did not happen within two minutes.');
}

/** The paths of what the pictures show. */
export type Shown = {
  workflow: string;
  waitingRun: string;
  endedRun: string;
  failedRun: string;
  loopRun: string;
  task: string;
  webhook: string;
  mcpServer: string;
};

/** Fills an instance that was started with the example: one of everything that a page of the console can show. */
export async function fillInstance(call: Call, url: string): Promise<Shown> {
  // The seed answers the tasks of two of its runs, which wait for a moment as well.
  await until(async () => {
    const runs = await runsOf(call, 'example-');
    return runs.filter(run => run.orchestration_phase === 'complete').length >= 4;
  });
  const waiting = await until(() => firstRun(call, 'example-', 'blocked'));
  const ended = await until(() => firstRun(call, 'example-', 'complete', waiting.workflow_id));
  const failedRun = await failingRun(call);
  const loopRun = await runOfLoop(call, `${url}/demo/api`);
  const { ingress_path } = await call('POST', '/v1/inbound-webhooks', {
    workflow_id: waiting.workflow_id,
    name: 'Travel desk',
  });
  await call('POST', '/v1/connections', {
    display_name: 'Ticket system',
    provider: 'custom',
    service: 'api_key',
    credentials: { token: 'not-a-secret' },
  });
  await rememberOffice(call);
  await call('POST', '/v1/pats', { display_name: 'CI', scopes: ['workflow:read', 'workflow:run'] });
  const [server] = await until(async () => {
    const servers = listed(await call('GET', '/v1/mcp/servers'), 'servers');
    return servers.length > 0 && servers;
  });
  return {
    workflow: `/workflows/${waiting.workflow_id}`,
    waitingRun: pathOf(waiting),
    endedRun: pathOf(ended),
    failedRun,
    loopRun,
    task: `/inbox/${waiting.run_id}/manager_approval`,
    webhook: `/webhooks/${String(ingress_path).split('/').at(-1)}`,
    mcpServer: `/mcp-servers/${String(server?.id)}`,
  };
}

type Run = { run_id: string; workflow_id: string; orchestration_phase: string };

const pathOf = ({ workflow_id, run_id }: Run) => `/workflows/${workflow_id}/runs/${run_id}`;
const listed = (answer: Answer, name: string): Answer[] => (answer[name] as Answer[] | undefined) ?? [];

async function runsOf(call: Call, q: string): Promise<Run[]> {
  return ((await call('GET', `/v1/runs?q=${q}`)) as { runs: Run[] }).runs;
}

async function firstRun(call: Call, q: string, phase: string, workflow?: string): Promise<Run | undefined> {
  return (await runsOf(call, q)).find(
    run => run.orchestration_phase === phase && (workflow === undefined || run.workflow_id === workflow),
  );
}

/** A conversation, with an item that is active, and two that wait for review. */
async function rememberOffice(call: Call): Promise<void> {
  const said = {
    office: 'The office moved to Lisbon in May.',
    lunch: 'Lunch for visitors is ordered before ten.',
    travel: 'Trains are preferred to flights below six hours.',
  };
  const turns = Object.values(said).map(text => ({ role: 'user', text }));
  const { episode_id } = await call('POST', '/v1/memory/index-conversation', { thread_id: 'Travel desk', turns });
  const chunks = listed(await call('GET', `/v1/memory/episodes/${String(episode_id)}`), 'chunks');
  const items = Object.entries(said).map(([subject, text], at) => ({
    subject,
    text,
    evidence: [{ chunk_id: chunks[at]?.id, quote: text }],
  }));
  const [office] = listed(await call('POST', '/v1/memory/items', { items }), 'items');
  await call('POST', `/v1/memory/items/${String(office?.id)}/confirm`, {});
}

async function publish(call: Call, { name, graph }: Pick<PartnerTemplate, 'name' | 'graph'>): Promise<string> {
  const { id } = await call('POST', '/v1/workflows', { name, graph });
  await call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First version' });
  return String(id);
}

/** Starts a run; returns the path of its page. */
export async function start(call: Call, id: string, input: object): Promise<string> {
  const params = { trigger_payload: input };
  const { run_id } = await call('POST', `/v1/workflows/${id}/command`, { command: 'start', params });
  return `/workflows/${id}/runs/${String(run_id)}`;
}

async function failingRun(call: Call): Promise<string> {
  const script = 'local total = steps.read.result.total\nif total > 10 then\n  error("The total is too high")\nend';
  const steps = [
    { id: 'read', type: 'lua_script', name: 'Read the bill', script: 'log("12 items") return { total = 12 }' },
    { id: 'check', type: 'lua_script', name: 'Check the total', script, depends_on: ['read'] },
    { id: 'pay', type: 'human_task', name: 'Pay it', depends_on: ['check'] },
  ];
  const path = await start(call, await publish(call, { name: 'Pay a bill', graph: { steps } }), {});
  await until(async () => (await call('GET', `/v1${path}/summary`)).run_complete);
  return path;
}

/** A run of the template *Ship orders*, in which a large order waits for a person. */
async function runOfLoop(call: Call, api: string): Promise<string> {
  const { child, handler } = shipOrders;
  if (child === undefined || handler === undefined) throw new Error('Ship orders has lost its partners.');
  const partners = { child: await publish(call, child), handler: await publish(call, handler) };
  const graph = graphOf(shipOrders, { instanceId: null, model: null, partners });
  const id = await publish(call, { name: shipOrders.name, graph });
  const path = await start(call, id, { ...sampleInputOf(shipOrders, api), grace_s: 0 });
  await until(async () => listed(await call('GET', `/v1/tasks/pending?workflow_id=${partners.child}`), 'tasks')[0]);
  return path;
}
