import { createHmac } from 'node:crypto';
import type { Message } from '../../platform/mail/mailer.ts';
import type { NotificationKind } from './schemas.ts';

/** One subject of a notification: only names and ids, without data of the run. */
export type Notice = {
  kind: NotificationKind;
  tenantId: string;
  projectId: string;
  workflowId: string;
  workflowName: string;
  runId: string;
  /** Empty for a failed run. */
  stepId: string;
  taskName: string | null;
  /** ms since the epoch. */
  createdAt: number;
};

const MAX_NAME_LENGTH = 100;

/** Returns a name on one line, cut to the length that an email subject can show. */
function shortName(name: string): string {
  const line = name.replace(/\s+/g, ' ').trim();
  return line.length > MAX_NAME_LENGTH ? `${line.slice(0, MAX_NAME_LENGTH)}…` : line;
}

function titleOf({ kind, workflowName, taskName, stepId }: Notice): string {
  const workflow = shortName(workflowName);
  switch (kind) {
    case 'task_waiting':
      return `${shortName(taskName ?? stepId)} (${workflow}) is waiting for you`;
    case 'run_failed':
      return `A run of ${workflow} failed`;
  }
}

/**
 * Returns the page of the console that shows the subject of a notice. It opens in the right
 * workspace, and changes nothing.
 */
export function linkOf(
  baseUrl: string,
  { kind, tenantId, projectId, workflowId, runId, stepId }: Omit<Notice, 'workflowName' | 'taskName' | 'createdAt'>,
): string {
  const path =
    kind === 'task_waiting'
      ? `/inbox/${runId}/${encodeURIComponent(stepId)}`
      : `/workflows/${workflowId}/runs/${runId}`;
  return `${baseUrl}${path}?tenant=${encodeURIComponent(tenantId)}&project=${projectId}`;
}

function summaryOf(notices: readonly Notice[]): string {
  const [first, ...others] = notices;
  if (first !== undefined && others.length === 0) return titleOf(first);
  const tasks = notices.filter(({ kind }) => kind === 'task_waiting').length;
  const runs = notices.length - tasks;
  return [
    ...(tasks === 0 ? [] : [`${tasks} ${tasks === 1 ? 'task is' : 'tasks are'} waiting for you`]),
    ...(runs === 0 ? [] : [`${runs} ${runs === 1 ? 'run' : 'runs'} failed`]),
  ].join(', ');
}

/** Returns the mail that notifies a person of all these notices. */
export function mailOf(baseUrl: string, notices: readonly Notice[]): Omit<Message, 'to'> {
  const items = notices.map(notice => `${titleOf(notice)}:\n${linkOf(baseUrl, notice)}\n`);
  return { subject: summaryOf(notices), text: `${items.join('\n')}\n${footer(baseUrl)}` };
}

/** Returns the mail for testing whether mail arrives. */
export function testMailOf(baseUrl: string): Omit<Message, 'to'> {
  return {
    subject: 'Notifications from Baton arrive here',
    text: `This is the test that you asked for: your notifications arrive.\n\n${footer(baseUrl)}`,
  };
}

const footer = (baseUrl: string) => `You chose these emails. Change that in your settings:
${baseUrl}/settings/notifications
`;

/**
 * Slack reads `<!channel>` as a command to alert everyone, so these three characters are escaped, as
 * its documentation requires.
 */
const escapeForSlack = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns the body of a webhook that notifies a person of all these notices. Slack shows `text`. */
export function webhookBodyOf(baseUrl: string, notices: readonly Notice[]): string {
  const lines = notices.map(notice => `${escapeForSlack(titleOf(notice))}\n${linkOf(baseUrl, notice)}`);
  return JSON.stringify({
    text: lines.join('\n'),
    notifications: notices.map(notice => ({
      kind: notice.kind,
      workflow_id: notice.workflowId,
      workflow_name: notice.workflowName,
      run_id: notice.runId,
      task_id: notice.stepId === '' ? null : notice.stepId,
      task_name: notice.taskName,
      url: linkOf(baseUrl, notice),
      created_at: new Date(notice.createdAt).toISOString(),
    })),
  });
}

/** Returns the body of a test delivery to a webhook. */
export const testWebhookBody = () =>
  JSON.stringify({ text: 'This is a test: notifications from Baton arrive here.', notifications: [] });

/**
 * Returns the headers that sign a body, in the same way as senders of inbound webhooks sign theirs
 * (docs/specification/webhooks.md#signature). `now` in ms.
 */
export function signedHeaders(secret: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `sha256=${mac}`,
  };
}
