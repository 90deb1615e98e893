import { stepTypeDescription } from './descriptions.ts';

/** A step as a draft has it: any field may be missing, or be of any type. */
type Step = { readonly type: string } & Readonly<Record<string, unknown>>;
/** Returns the name of a workflow or an agent; undefined where it is not known. */
type NameOf = (id: string) => string | undefined;

const MAX_LENGTH = 120;
const ROLES: Readonly<Record<string, string>> = {
  project_contributor: 'contributors',
  tenant_admin: 'admins',
  run_starter: 'whoever started it',
};

/**
 * Returns in one line what a step does, such as “GET api.example.com/orders”; null where its fields do not say it yet, or its
 * type has no line of its own.
 */
export function summaryOf(step: Step, nameOf: NameOf = () => undefined): string | null {
  const line = lines.get(step.type)?.(step, nameOf) ?? null;
  if (line === null) return null;
  const shown = line.replaceAll(/\s+/g, ' ').trim();
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH - 1)}…` : shown || null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');
const orNull = (text: string): string | null => text || null;

const lines = new Map<string, (step: Step, nameOf: NameOf) => string | null>(
  Object.entries({
    http_request: ({ method, url }) => {
      const to = withShortTemplates(textOf(url))
        .replace(/^https?:\/\//i, '')
        .replace(/[?#].*$/, '')
        .replace(/\/$/, '');
      return to && `${textOf(method).toUpperCase() || 'GET'} ${to}`;
    },
    condition: ({ expression }) => orNull(shortExpression(textOf(expression))),
    human_task: ({ assignees }) => `Ask ${whom(assignees)}`,
    wait: ({ seconds, until }) => {
      const instant = textOf(until);
      if (instant) return `Until ${shortInstant(instant)}`;
      if (typeof seconds === 'number') return `For ${duration(seconds)}`;
      return textOf(seconds) ? `For ${withShortTemplates(textOf(seconds))} seconds` : null;
    },
    for_each: ({ items, concurrency }) => {
      const list = shortExpression(textOf(items).replace(/^\{\{(.*)\}\}$/s, '$1'));
      if (!list) return null;
      return typeof concurrency === 'number' && concurrency > 1
        ? `Each of ${list}, ${concurrency} at a time`
        : `Each of ${list}`;
    },
    call_workflow: ({ workflow_id: id, detach }, nameOf) => {
      const name = textOf(id) && (nameOf(textOf(id)) ?? templateOf(id));
      if (!name) return null;
      return detach === true ? `Start ${name}` : `Run ${name} and wait`;
    },
    mcp_call: ({ tool_name: tool }) => orNull(textOf(tool)),
    llm_call: ({ prompt, model }) => firstLine(prompt) ?? orNull(modelOf(model)),
    agent: ({ prompt, agent_id: id, model }, nameOf) => {
      const who = nameOf(textOf(id)) ?? '';
      const task = firstLine(prompt);
      return who && task ? `${who}: ${task}` : orNull(who || task || modelOf(model));
    },
    lua_script: ({ script }) => {
      const text = textOf(script);
      if (!text) return null;
      const comment = /^--(?!\[\[)\s*(\S.*)$/m.exec(text.split('\n', 1)[0] ?? '')?.[1];
      const count = text.split('\n').length;
      return comment ?? (count === 1 ? shortExpression(text) : `${count} lines of Lua`);
    },
    agent_turn: ({ model }) => orNull(modelOf(model)),
    agent_compaction: ({ model }) => orNull(modelOf(model)),
    agent_tool: ({ tool }) => orNull(textOf(tool)),
    memory_extract: ({ model }) => orNull(modelOf(model)),
    stand_in: ({ stands_for: type }) => {
      const label = stepTypeDescription(textOf(type))?.label ?? textOf(type);
      return label && `Instead of: ${label}`;
    },
  } satisfies Record<string, (step: Step, nameOf: NameOf) => string | null>),
);

/** Returns an expression without the beginnings that every path has; texts in quotes stay as they are. */
function shortExpression(expression: string): string {
  return expression.replaceAll(
    /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\binput\.|\bsteps\.(\w+)\.result\b/g,
    (found, step: string | undefined) => (found === 'input.' ? '' : (step ?? found)),
  );
}

const withShortTemplates = (text: string): string =>
  text.replaceAll(/\{\{\s*(.*?)\s*\}\}/gs, (_, path: string) => `{${shortExpression(path)}}`);

const templateOf = (value: unknown): string => (textOf(value).includes('{{') ? withShortTemplates(textOf(value)) : '');

function firstLine(value: unknown): string | null {
  return orNull(withShortTemplates(textOf(value)).split('\n', 1)[0] ?? '');
}

const modelOf = (model: unknown): string => textOf(model).split('/').at(-1) ?? '';

function whom(assignees: unknown): string {
  const named = Array.isArray(assignees) ? assignees.map(textOf).filter(Boolean) : [];
  const [first, ...others] = named.map(name => ROLES[name] ?? (withShortTemplates(name).split('@', 1)[0] || name));
  if (first === undefined) return 'any contributor';
  return others.length === 0
    ? first
    : others.length === 1
      ? `${first} and ${others[0]}`
      : `${first} and ${others.length} others`;
}

const UNITS = [
  { seconds: 86_400, one: 'day', many: 'days' },
  { seconds: 3_600, one: 'hour', many: 'hours' },
  { seconds: 60, one: 'minute', many: 'minutes' },
] as const;

function duration(seconds: number): string {
  const unit = UNITS.find(each => seconds >= each.seconds && seconds % each.seconds === 0);
  if (unit === undefined) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const count = seconds / unit.seconds;
  return `${count} ${count === 1 ? unit.one : unit.many}`;
}

/** Returns an instant to the minute, in the offset that it was written with. */
function shortInstant(instant: string): string {
  const written = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*?(Z|[+-]\d\d:\d\d)$/.exec(instant);
  if (!written) return withShortTemplates(instant);
  const [, day, time, offset] = written;
  return `${day} ${time}${offset === 'Z' ? ' UTC' : ` ${offset}`}`;
}
