import { CHILD, DEMO_API, HANDLER, type PartnerTemplate, type Template } from './template.ts';

const outcome = `local review, response, problem = steps.approve.result, steps.ship.result, steps.ship.error
local one = { order = input.order.id, customer = input.order.customer, amount = input.order.amount }
if response then
  one.state, one.shipment = "shipped", response.body.shipment_id
elseif problem then
  one.state, one.reason = "failed", problem.message
else
  one.state, one.reason = "held", review and review.comment or "It was not approved."
end
return one`;

const shipOneOrder: PartnerTemplate = {
  name: 'Ship one order',
  sentence: 'Ships an order through an API; a person approves it first if it is large.',
  graph: {
    input_schema: {
      type: 'object',
      required: ['api_url', 'approval_above', 'order'],
      properties: {
        api_url: { type: 'string', minLength: 1, description: 'The address of the API.' },
        approval_above: { type: 'number', minimum: 0, description: 'Larger orders need an approval.' },
        order: {
          type: 'object',
          required: ['id', 'customer', 'amount'],
          description: 'The order, as the API gives it.',
          properties: {
            id: { type: 'string', minLength: 1 },
            customer: { type: 'string' },
            amount: { type: 'number' },
          },
        },
      },
    },
    steps: [
      {
        id: 'is_large',
        type: 'condition',
        name: 'Is it large?',
        expression: 'input.order.amount > input.approval_above',
        then: ['approve'],
        else: [],
      },
      {
        id: 'approve',
        type: 'human_task',
        name: 'Approve a large order',
        instructions:
          'Ship order **{{input.order.id}}** of **{{input.order.customer}}** for **{{input.order.amount}}**?',
        form: { type: 'object', properties: { comment: { type: 'string', title: 'Comment' } } },
        depends_on: ['is_large'],
      },
      {
        id: 'may_ship',
        type: 'condition',
        name: 'May it be shipped?',
        expression: '!steps.is_large.result.value || steps.approve.result.approved',
        then: ['ship'],
        else: [],
        depends_on: ['is_large', 'approve'],
      },
      {
        id: 'ship',
        type: 'http_request',
        name: 'Ship it',
        method: 'POST',
        url: '{{input.api_url}}/orders/{{input.order.id}}/shipments',
        body: { service: 'standard' },
        retry_count: 2,
        on_error: 'continue',
        depends_on: ['may_ship'],
      },
      {
        id: 'outcome',
        type: 'lua_script',
        name: 'Say what became of it',
        script: outcome,
        depends_on: ['approve', 'may_ship', 'ship'],
      },
    ],
    output: '{{steps.outcome.result}}',
  },
};

const shippingFailed: PartnerTemplate = {
  name: 'Shipping failed',
  sentence: 'Asks a person to look into a run of Ship orders that has failed.',
  graph: {
    steps: [
      {
        id: 'look',
        type: 'human_task',
        name: 'Look into failed shipping',
        instructions:
          '**{{input.failed_run.workflow_name}}** failed in its step `{{input.failed_run.error.step_id}}`: {{input.failed_run.error.message}}\n\n[Open the failed run]({{input.failed_run.url}}). Approve once it has been taken care of.',
        form: { type: 'object', properties: { note: { type: 'string', title: 'What was done' } } },
      },
    ],
    output: { handled: '{{steps.look.result.approved}}', note: '{{steps.look.result.note ?? null}}' },
  },
};

const summary = `local shipped, held, failed, total = {}, {}, {}, 0
for i, order in ipairs(steps.orders.result.items) do
  local one = steps.each.result.results[i]
  if one == nil or one == json.null then
    failed[#failed + 1] = { order = order.id, reason = "Its run failed." }
  elseif one.state == "shipped" then
    shipped[#shipped + 1] = one.order
    total = total + one.amount
  else
    local list = one.state == "held" and held or failed
    list[#list + 1] = { order = one.order, reason = one.reason }
  end
end
return {
  text = string.format("%d shipped (%.2f), %d held back, %d failed", #shipped, total, #held, #failed),
  shipped = json.array(shipped), held = json.array(held), failed = json.array(failed)
}`;

export const shipOrders: Template = {
  slug: 'ship-orders',
  name: 'Ship orders',
  sentence: 'Reads orders from an API and ships each in a run of its own; a person approves the large ones.',
  needs: [{ kind: 'demo_api', label: 'an API of orders, such as the bundled demo API' }],
  sampleInput: { api_url: DEMO_API, approval_above: 500, grace_s: 2 },
  child: shipOneOrder,
  handler: shippingFailed,
  graph: {
    on_failure: { workflow_id: HANDLER },
    input_schema: {
      type: 'object',
      required: ['api_url', 'approval_above'],
      properties: {
        api_url: { type: 'string', minLength: 1, description: 'The address of the API.' },
        approval_above: { type: 'number', minimum: 0, description: 'Larger orders need an approval.' },
        grace_s: {
          type: 'number',
          minimum: 0,
          maximum: 86_400,
          description: 'Seconds before the first order is shipped, in which the run can still be stopped.',
        },
      },
    },
    steps: [
      {
        id: 'orders',
        type: 'http_request',
        name: 'Read all pages of orders',
        url: '{{input.api_url}}/orders',
        pagination: { next: '{{response.body.next}}', items: 'orders' },
        retry_count: 3,
      },
      {
        id: 'grace',
        type: 'wait',
        name: 'Leave time to stop the run',
        seconds: '{{input.grace_s ?? 0}}',
        depends_on: ['orders'],
      },
      {
        id: 'each',
        type: 'for_each',
        name: 'For each order',
        items: '{{steps.orders.result.items}}',
        concurrency: 3,
        on_item_error: 'continue',
        steps: [
          {
            id: 'ship',
            type: 'call_workflow',
            name: 'Ship one order',
            workflow_id: CHILD,
            input: { api_url: '{{input.api_url}}', approval_above: '{{input.approval_above}}', order: '{{item}}' },
          },
        ],
        depends_on: ['orders', 'grace'],
      },
      { id: 'summary', type: 'lua_script', name: 'Sum up', script: summary, depends_on: ['orders', 'each'] },
    ],
    output: {
      summary: '{{steps.summary.result.text}}',
      shipped: '{{steps.summary.result.shipped}}',
      held: '{{steps.summary.result.held}}',
      failed: '{{steps.summary.result.failed}}',
    },
  },
};
