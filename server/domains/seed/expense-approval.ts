import { readFileSync } from 'node:fs';

/** The example workflow of a new installation: a small real task that uses every step type which can run. */

const lua = (name: string): string =>
  readFileSync(new URL(`./expense-approval/${name}.lua`, import.meta.url), 'utf8').trimEnd();

const samplePayload = {
  employee: 'Mina Okafor',
  purpose: 'Customer workshop in Leipzig',
  currency: 'EUR',
  cost_centre: 'sales',
  items: [
    { description: 'Train, both ways', category: 'travel', amount: 138.4, receipt: true },
    { description: 'Hotel, one night', category: 'lodging', amount: 129, receipt: true },
    { description: 'Dinner', category: 'meals', amount: 46.5, receipt: true },
  ],
};

const instructions = `**{{input.employee}}** asks for **{{input.currency ?? "EUR"}} {{steps.assess.result.total}}** (of which VAT {{steps.assess.result.vat}}).

> {{input.purpose ?? "No purpose given."}}

{{steps.assess.result.item_table}}

**Risk score {{steps.assess.result.risk_score}} of 100.** What the policy found:

{{steps.assess.result.findings}}`;

const steps = () => [
  {
    id: 'has_items',
    type: 'condition',
    name: 'There is something to pay',
    mode: 'validate',
    expression: 'has(input.items) && size(input.items) > 0 && input.items.all(item, item.amount > 0)',
    message: 'A claim needs at least one item, and every item an amount above zero.',
    position: { x: 124, y: 0 },
  },
  {
    id: 'assess',
    type: 'lua_script',
    name: 'Hold it against the policy',
    script: lua('assess'),
    timeout_s: 10,
    depends_on: ['has_items'],
    position: { x: 124, y: 104 },
  },
  {
    id: 'needs_a_person',
    type: 'condition',
    name: 'Over 500, or risky?',
    expression: 'steps.assess.result.total > 500 || steps.assess.result.risky',
    then: ['manager_approval'],
    else: ['auto_approve'],
    depends_on: ['assess'],
    position: { x: 124, y: 208 },
  },
  {
    id: 'manager_approval',
    type: 'human_task',
    name: 'Approve the expenses of {{input.employee}}',
    instructions,
    form: {
      type: 'object',
      properties: {
        cost_centre: { type: 'string', title: 'Cost centre', enum: ['general', 'sales', 'engineering', 'marketing'] },
        comment: { type: 'string', title: 'Comment', description: 'The employee reads this.', maxLength: 500 },
      },
      additionalProperties: false,
    },
    depends_on: ['needs_a_person'],
    position: { x: 0, y: 312 },
  },
  {
    id: 'auto_approve',
    type: 'lua_script',
    name: 'Approve by policy',
    script: lua('auto-approve'),
    depends_on: ['needs_a_person'],
    position: { x: 248, y: 312 },
  },
  {
    id: 'approved',
    type: 'condition',
    name: 'Approved?',
    expression: 'steps.manager_approval.result == null || steps.manager_approval.result.approved',
    then: ['book'],
    else: ['decline'],
    depends_on: ['manager_approval', 'auto_approve'],
    position: { x: 124, y: 416 },
  },
  {
    id: 'book',
    type: 'lua_script',
    name: 'Prepare the booking',
    script: lua('book'),
    retry_count: 2,
    depends_on: ['approved'],
    position: { x: 0, y: 520 },
  },
  {
    id: 'decline',
    type: 'lua_script',
    name: 'Tell the employee why not',
    script: lua('decline'),
    depends_on: ['approved'],
    position: { x: 248, y: 520 },
  },
  {
    id: 'summary',
    type: 'lua_script',
    name: 'Sum it up',
    script: lua('summary'),
    depends_on: ['book', 'decline'],
    position: { x: 124, y: 624 },
  },
];

const description = `Decides an expense claim.

1. A **condition** refuses claims without items.
2. A **Lua script** adds the items up, splits off VAT, holds each item against the limit of its category and scores the risk.
3. Up to 500 and without risk, the policy approves by itself. Everything else **waits for a person** in the inbox.
4. What was approved is prepared for booking; what was not, is declined with a reason.

Try it with *Run*: change the amounts, or leave a receipt out.`;

/** Returns the document in the form that an import accepts. */
export const expenseApproval = () => ({
  name: 'Expense approval',
  description,
  graph: { steps: steps() },
  run_setup: { trigger_payload: samplePayload },
});

export const changelog = 'First version: policy check, approval above 500 or at risk, booking.';

type Sample = {
  /** The session identifies the run if seeding was interrupted. */
  session: string;
  input: typeof samplePayload;
  /** A person's answer; null leaves the task in the inbox; absent if the run has no task. */
  answer?: { approved: boolean; result: Record<string, string> } | null;
};

/** One run of each kind: approved by policy, approved by a person, declined by a person, and one that still waits. */
export const samples: readonly Sample[] = [
  { session: 'example-approved-by-policy', input: samplePayload },
  {
    session: 'example-approved-by-a-person',
    input: {
      employee: 'Jonas Weber',
      purpose: 'Trade fair in Lisbon',
      currency: 'EUR',
      cost_centre: 'marketing',
      items: [
        { description: 'Flight', category: 'travel', amount: 412.8, receipt: true },
        { description: 'Hotel, three nights', category: 'lodging', amount: 537, receipt: true },
      ],
    },
    answer: { approved: true, result: { cost_centre: 'marketing', comment: 'Hotels were scarce that week.' } },
  },
  {
    session: 'example-declined',
    input: {
      employee: 'Ada Lindqvist',
      purpose: 'Home office',
      currency: 'EUR',
      cost_centre: 'engineering',
      items: [
        { description: 'Espresso machine', category: 'furniture', amount: 749, receipt: true },
        { description: 'Beans', category: 'meals', amount: 96, receipt: false },
      ],
    },
    answer: { approved: false, result: { comment: 'The office kitchen has one. Please return it.' } },
  },
  {
    session: 'example-waiting',
    input: {
      employee: 'Tomás Rivera',
      purpose: 'Licences for the data team',
      currency: 'EUR',
      cost_centre: 'engineering',
      items: [
        { description: 'Notebook server, one year', category: 'software', amount: 1280, receipt: true },
        { description: 'Taxi to the vendor', category: 'travel', amount: 38.5, receipt: false },
      ],
    },
    answer: null,
  },
];
