import type { Page } from '@playwright/test';
import { consolePages } from '../fixtures/pages.ts';
import type { Assistants } from './assistants.ts';
import type { Shown } from './instance.ts';

/** A picture: its name, the path of its page, and what is done there before it is taken. */
export type View = { name: string; path: string; act?: (page: Page) => Promise<void> };

export const publicViews: readonly View[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'forgot-password', path: '/forgot-password' },
  { name: 'accept-invitation', path: '/accept-invitation#token=x' },
];

/** The pages of the console, with what can be opened on them. */
export function viewsOf(shown: Shown & Assistants): View[] {
  const views = [...workflowViews(shown), ...runViews(shown), ...assistantViews(shown), ...otherViews(shown)];
  const others = consolePages().filter(path => !views.some(view => view.path === path));
  return [...views, ...others.map(path => ({ name: path.slice(1).replaceAll('/', '-'), path }))];
}

function workflowViews({ workflow }: Shown): View[] {
  return [
    { name: 'workflows', path: '/workflows' },
    { name: 'workflows-create', path: '/workflows?create=1' },
    { name: 'workflows-import', path: '/workflows?import=1' },
    { name: 'editor', path: workflow },
    { name: 'editor-step', path: `${workflow}?step=assess` },
    { name: 'editor-json', path: `${workflow}?panel=json` },
    { name: 'editor-test', path: `${workflow}?step=assess&panel=test` },
    { name: 'workflow-runs', path: `${workflow}?tab=runs` },
    { name: 'workflow-versions', path: `${workflow}?tab=versions` },
    {
      name: 'run-dialog',
      path: workflow,
      act: page => page.getByRole('button', { name: 'Run', exact: true }).click(),
    },
    { name: 'palette', path: '/workflows', act: page => page.keyboard.press('ControlOrMeta+k') },
    { name: 'shortcuts', path: '/workflows', act: page => page.keyboard.press('?') },
  ];
}

function runViews({ waitingRun, endedRun, failedRun, loopRun }: Shown): View[] {
  return [
    { name: 'run', path: waitingRun },
    { name: 'run-step', path: `${endedRun}?step=assess` },
    { name: 'run-timeline', path: `${endedRun}?tab=timeline` },
    { name: 'run-events', path: `${endedRun}?tab=events&event=1` },
    { name: 'run-input', path: `${endedRun}?tab=data` },
    { name: 'run-output', path: `${endedRun}?tab=output` },
    { name: 'run-compare', path: `${waitingRun}?tab=compare&with=${endedRun.split('/').at(-1)}` },
    { name: 'run-failed', path: `${failedRun}?step=check` },
    { name: 'run-loop', path: `${loopRun}?step=each` },
    { name: 'runs', path: '/runs' },
  ];
}

function assistantViews({ agent, agentRun, thread, autopilot, proposal, newWorkflow }: Assistants): View[] {
  const chat = (page: Page) => page.keyboard.press('ControlOrMeta+j');
  return [
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: agent },
    { name: 'agent-run', path: agentRun },
    { name: 'agent-run-turn', path: `${agentRun}?step=agent.1` },
    { name: 'chat-thread', path: thread },
    { name: 'chat-beside', path: '/workflows', act: chat },
    { name: 'autopilot-chat', path: autopilot },
    { name: 'autopilot-proposal', path: proposal },
    { name: 'autopilot-new-workflow', path: newWorkflow },
  ];
}

function otherViews({ task, webhook, mcpServer }: Shown): View[] {
  return [
    { name: 'inbox', path: '/inbox' },
    { name: 'inbox-task', path: task },
    { name: 'memory-search', path: '/memory?q=office' },
    { name: 'memory-review', path: '/memory?view=review' },
    { name: 'memory-items', path: '/memory?view=items' },
    { name: 'memory-about-you', path: '/memory?view=me' },
    { name: 'memory-health', path: '/memory?view=health' },
    { name: 'webhooks', path: '/webhooks' },
    { name: 'webhooks-create', path: '/webhooks?create=1' },
    { name: 'webhook', path: webhook },
    { name: 'connections', path: '/connections' },
    { name: 'connections-create', path: '/connections?create=credentials' },
    { name: 'mcp-servers', path: '/mcp-servers' },
    { name: 'mcp-servers-catalog', path: '/mcp-servers?open=catalog' },
    { name: 'mcp-servers-instances', path: '/mcp-servers?view=instances' },
    { name: 'mcp-server', path: mcpServer },
    { name: 'analytics', path: '/analytics' },
    { name: 'usage', path: '/billing' },
    ...['members', 'api-keys', 'model-keys', 'projects', 'audit-log', 'notifications', 'profile', 'api-reference'].map(
      page => ({ name: `settings-${page}`, path: `/settings/${page}` }),
    ),
  ];
}
