/** The times at which a workflow starts, in UTC. */
export type Schedule = {
  every: 'hour' | 'day' | 'weekday' | 'week' | 'month';
  minute: number;
  hour: number;
  /** 0 is Sunday. */
  weekday: number;
  /** From 1 to 28, because every month has these days. */
  day: number;
};
/** A scheduler that starts workflows through the REST API. */
export type Scheduler = 'crontab' | 'systemd' | 'kubernetes' | 'github';
export const SCHEDULERS: readonly { value: Scheduler; label: string }[] = [
  { value: 'crontab', label: 'crontab' },
  { value: 'systemd', label: 'systemd' },
  { value: 'kubernetes', label: 'Kubernetes' },
  { value: 'github', label: 'GitHub Actions' },
];

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
/** The placeholder for a token until the user creates one. */
export const TOKEN_PLACEHOLDER = 'REPLACE_WITH_AN_API_KEY';

export type Scheduled = {
  /** The base URL of the API, such as https://baton.example.com. */
  origin: string;
  workflow: { id: string; name: string };
  schedule: Schedule;
  token: string | null;
};

/** Returns the five cron fields of a schedule. */
export function cronOf({ every, minute, hour, weekday, day }: Schedule): string {
  switch (every) {
    case 'hour':
      return `${minute} * * * *`;
    case 'day':
      return `${minute} ${hour} * * *`;
    case 'weekday':
      return `${minute} ${hour} * * 1-5`;
    case 'week':
      return `${minute} ${hour} * * ${weekday}`;
    case 'month':
      return `${minute} ${hour} ${day} * *`;
  }
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** Returns the systemd calendar event of a schedule. */
export function calendarOf({ every, minute, hour, weekday, day }: Schedule): string {
  const at = `${twoDigits(hour)}:${twoDigits(minute)}:00 UTC`;
  switch (every) {
    case 'hour':
      return `*-*-* *:${twoDigits(minute)}:00 UTC`;
    case 'day':
      return `*-*-* ${at}`;
    case 'weekday':
      return `Mon..Fri *-*-* ${at}`;
    case 'week':
      return `${(WEEKDAYS[weekday] ?? 'Sunday').slice(0, 3)} *-*-* ${at}`;
    case 'month':
      return `*-*-${twoDigits(day)} ${at}`;
  }
}

/** Returns a schedule in words. */
export function scheduleWords({ every, minute, hour, weekday, day }: Schedule): string {
  const at = `${twoDigits(hour)}:${twoDigits(minute)} UTC`;
  switch (every) {
    case 'hour':
      return `every hour at minute ${minute}`;
    case 'day':
      return `every day at ${at}`;
    case 'weekday':
      return `Monday to Friday at ${at}`;
    case 'week':
      return `every ${WEEKDAYS[weekday] ?? 'Sunday'} at ${at}`;
    case 'month':
      return `on day ${day} of every month at ${at}`;
  }
}

/**
 * Returns the configuration for a scheduler. Any member can choose a workflow's name, so it only appears in a comment,
 * on one line and without special characters. A start that is sent twice for one scheduled time starts a single run,
 * because both requests have the same `Idempotency-Key`.
 */
export function scheduleFor(scheduler: Scheduler, scheduled: Scheduled): string {
  switch (scheduler) {
    case 'crontab':
      return crontab(scheduled);
    case 'systemd':
      return systemd(scheduled);
    case 'kubernetes':
      return kubernetes(scheduled);
    case 'github':
      return github(scheduled);
  }
}

/** Returns a name on one line: all characters except letters, digits, spaces and plain punctuation are removed. */
const comment = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N} .,:;!?()'&+_-]+/gu, ' ')
    .trim()
    .slice(0, 120);

/** Quotes a text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Returns the command that starts the workflow. `key` is a shell text that is the same for each attempt at one scheduled time. */
function startCommand({ origin, workflow }: Scheduled, key: string): string {
  const url = `${origin}/v1/workflows/${encodeURIComponent(workflow.id)}/command`;
  const body = JSON.stringify({ command: 'start', params: { trigger_type: 'schedule' } });
  return [
    'curl -sS --fail-with-body --max-time 60 --retry 5 --retry-all-errors -X POST',
    quoted(url),
    '-H "Authorization: Bearer $BATON_TOKEN"',
    "-H 'Content-Type: application/json'",
    `-H "Idempotency-Key: schedule-${key}"`,
    `-d ${quoted(body)}`,
  ].join(' ');
}

const BY_THE_MINUTE = '$(date -u +%Y-%m-%dT%H:%MZ)';
const tokenOf = ({ token }: Scheduled) => token ?? TOKEN_PLACEHOLDER;
const about = ({ workflow, schedule }: Scheduled) =>
  `Starts "${comment(workflow.name)}" ${scheduleWords(schedule)}`.replaceAll('"', "'");
/**
 * Returns a name for files and objects from the workflow's id, because the workflow's name may contain any character.
 */
const unitName = ({ workflow }: Scheduled) =>
  `baton-${workflow.id
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '')
    .slice(0, 36)}`;

function crontab(scheduled: Scheduled): string {
  // In a crontab, a percent sign ends the command.
  const command = startCommand(scheduled, BY_THE_MINUTE).replaceAll('%', '\\%');
  return [
    `# ${about(scheduled)}`,
    '# Add it with: crontab -e (CRON_TZ needs cronie; elsewhere cron uses the time of the machine)',
    'CRON_TZ=UTC',
    `BATON_TOKEN=${tokenOf(scheduled)}`,
    `${cronOf(scheduled.schedule)} ${command}`,
    '',
  ].join('\n');
}

/** Returns a text for use within double quotes of a unit file. */
const unitQuoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

function systemd(scheduled: Scheduled): string {
  const name = unitName(scheduled);
  return [
    `# ${about(scheduled)}`,
    `# /etc/systemd/system/${name}.service (readable by root only: chmod 600)`,
    '[Unit]',
    'Description=Start of a Baton workflow',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    `Environment=${unitQuoted(`BATON_TOKEN=${tokenOf(scheduled)}`)}`,
    `ExecStart=/bin/sh -c ${unitQuoted(startCommand(scheduled, BY_THE_MINUTE))}`,
    '',
    `# /etc/systemd/system/${name}.timer`,
    '[Unit]',
    'Description=Schedule of a Baton workflow',
    '',
    '[Timer]',
    `OnCalendar=${calendarOf(scheduled.schedule)}`,
    'Persistent=true',
    '',
    '[Install]',
    'WantedBy=timers.target',
    '',
    `# Then: systemctl daemon-reload && systemctl enable --now ${name}.timer`,
    '',
  ].join('\n');
}

function kubernetes(scheduled: Scheduled): string {
  const name = unitName(scheduled);
  return [
    `# ${about(scheduled)}`,
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    `  name: ${name}`,
    'stringData:',
    `  token: ${JSON.stringify(tokenOf(scheduled))}`,
    '---',
    'apiVersion: batch/v1',
    'kind: CronJob',
    'metadata:',
    `  name: ${name}`,
    'spec:',
    `  schedule: ${JSON.stringify(cronOf(scheduled.schedule))}`,
    '  timeZone: Etc/UTC',
    '  concurrencyPolicy: Forbid',
    '  jobTemplate:',
    '    spec:',
    '      backoffLimit: 3',
    '      template:',
    '        spec:',
    '          restartPolicy: Never',
    '          containers:',
    '            - name: start',
    '              image: curlimages/curl:8.11.1',
    '              command: ["/bin/sh", "-c"]',
    // The job name identifies the scheduled time, even if a second pod retries.
    `              args: [${JSON.stringify(startCommand(scheduled, '$JOB_NAME'))}]`,
    '              env:',
    '                - name: BATON_TOKEN',
    '                  valueFrom:',
    '                    secretKeyRef:',
    `                      name: ${name}`,
    '                      key: token',
    '                - name: JOB_NAME',
    '                  valueFrom:',
    '                    fieldRef:',
    "                      fieldPath: metadata.labels['job-name']",
    '',
  ].join('\n');
}

function github(scheduled: Scheduled): string {
  return [
    `# ${about(scheduled)}`,
    '# .github/workflows/baton.yml. Keep the token as a secret of the repository:',
    `#   gh secret set BATON_TOKEN --body ${quoted(tokenOf(scheduled))}`,
    'name: Start a Baton workflow',
    'on:',
    '  schedule:',
    `    - cron: ${JSON.stringify(cronOf(scheduled.schedule))}`,
    '  workflow_dispatch:',
    'jobs:',
    '  start:',
    '    runs-on: ubuntu-latest',
    '    permissions: {}',
    '    steps:',
    '      - env:',
    `          BATON_TOKEN: $${'{{'} secrets.BATON_TOKEN }}`,
    `        run: ${JSON.stringify(startCommand(scheduled, '$GITHUB_RUN_ID'))}`,
    '',
  ].join('\n');
}
