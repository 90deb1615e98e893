import type { JsonMap, JsonValue } from '../core/index.ts';

export type LanguageName = 'lua' | 'cel' | 'template';
/** An example of a language: its purpose, its code, and its result with EXAMPLE_DATA. */
export type LanguageExample = { what: string; code: string; result: JsonValue };
export type LanguageHelp = { label: string; facts: readonly string[]; examples: readonly LanguageExample[] };

/** The data that all examples read: the input of the run, and the result of its step `order`. */
export const EXAMPLE_DATA: { input: JsonMap; order: JsonMap } = {
  input: { customer: 'Ada', vip: true, tags: ['new', 'eu'] },
  order: { items: [{ name: 'Lamp', price: 45, quantity: 2 }], note: null },
};

/** The reference of the languages in steps, which the editor shows. Pure data. A test runs every example. */
export const LANGUAGE_HELP: Record<LanguageName, LanguageHelp> = {
  lua: {
    label: 'Lua',
    facts: [
      'Lua 5.4 with string, table, math, utf8, coroutine, and os.time, os.date and os.clock. There is no io, require or debug.',
      'Lists are counted from 1. nil is left out of a table; json.null keeps its place.',
      'Strings are bytes. What a script returns is text: write bytes with base64.encode or hex.encode.',
      'error({code = "E42", message = "…"}) keeps the table: later steps read steps.<id>.error.details.code.',
    ],
    examples: [
      { what: 'Input of the run', code: 'return input.customer', result: 'Ada' },
      { what: 'Result of a step before', code: 'return steps.order.result.items[1].price', result: 45 },
      {
        what: 'A sum',
        code: 'local sum = 0\nfor _, item in ipairs(steps.order.result.items) do\n  sum = sum + item.price * item.quantity\nend\nreturn sum',
        result: 90,
      },
      { what: 'A default', code: 'return input.city or "unknown"', result: 'unknown' },
      { what: 'Parts of a text', code: 'return ("INV-0042"):match("%d+")', result: '0042' },
      { what: 'A list, even if it is empty', code: 'return json.array({})', result: [] },
      { what: 'Bytes from base64', code: 'return #base64.decode("iVBORw0KGgo=")', result: 8 },
      {
        what: 'A time in a zone',
        code: 'return os.date("%Y-%m-%d %H:%M", 1769860800, "Europe/Berlin")',
        result: '2026-01-31 13:00',
      },
      { what: 'JSON from a text', code: 'return json.decode(\'{"n": 1}\').n', result: 1 },
    ],
  },
  cel: {
    label: 'CEL',
    facts: [
      'An expression reads input and steps, and calls nothing outside of itself. Numbers are of one kind, as in JSON.',
      'Reading a field that is missing fails the step: ask with has(…) before.',
    ],
    examples: [
      { what: 'Compare', code: 'input.customer == "Ada" && input.vip', result: true },
      { what: 'A field that may be missing', code: 'has(input.city) && input.city == "Paris"', result: false },
      { what: 'One of several', code: '"eu" in input.tags', result: true },
      { what: 'Some item of a list', code: 'steps.order.result.items.exists(i, i.price > 40)', result: true },
      { what: 'Every item of a list', code: 'steps.order.result.items.all(i, i.quantity > 2)', result: false },
      { what: 'How many', code: 'size(steps.order.result.items.filter(i, i.price > 40)) == 1', result: true },
      { what: 'Text', code: 'input.customer.startsWith("A") && input.customer.matches("^[A-Z][a-z]+$")', result: true },
      { what: 'A choice', code: '(input.vip ? 100 : 50) > 80', result: true },
      {
        what: 'Time',
        code: 'timestamp("2026-01-31T12:00:00Z") + duration("1h") > timestamp("2026-01-31T12:30:00Z")',
        result: true,
      },
      {
        what: 'An hour in a zone',
        code: 'timestamp("2026-01-31T12:00:00Z").getHours("Europe/Berlin") == 13',
        result: true,
      },
      { what: 'Base64', code: 'string(base64.decode("QWRh")) == input.customer', result: true },
    ],
  },
  template: {
    label: 'Templates',
    facts: [
      'A string that is one template and nothing else keeps the type of the value; elsewhere it becomes text.',
      'There are no calls and no operators. A path that does not resolve fails the step unless another one or a default follows it.',
    ],
    examples: [
      { what: 'Input in a text', code: 'Dear {{input.customer}}', result: 'Dear Ada' },
      { what: 'A value with its type', code: '{{steps.order.result.items[0].quantity}}', result: 2 },
      { what: 'A whole list', code: '{{input.tags}}', result: ['new', 'eu'] },
      { what: 'JSON in a text', code: 'Tags: {{input.tags}}', result: 'Tags: ["new","eu"]' },
      { what: 'A default', code: '{{steps.order.result.note ?? "none"}}', result: 'none' },
      { what: 'The first that is there', code: '{{steps.order.result.note ?? input.customer}}', result: 'Ada' },
      { what: 'Braces as text', code: "{{ '{{' }}name}}", result: '{{name}}' },
    ],
  },
};

const LANGUAGES: Readonly<Record<string, readonly LanguageName[]>> = {
  lua_script: ['lua'],
  condition: ['cel', 'template'],
  for_each: ['template', 'cel'],
};
const TEMPLATES: readonly LanguageName[] = ['template'];

/** Returns the languages of the fields of a step type: its own, or templates if it has none. */
export const languagesOf = (type: string): readonly LanguageName[] =>
  Object.hasOwn(LANGUAGES, type) ? (LANGUAGES[type] ?? TEMPLATES) : TEMPLATES;
