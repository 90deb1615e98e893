import type { GraphStep } from '../../orchestrator/core/index.ts';

/**
 * The second workflow of a new installation. It is meant to be started by a webhook, and calls the demo MCP server, and
 * a model if there is a key.
 */

export const orderToInvoiceName = 'Order to invoice';
export const orderChangelog = 'First version: rate and invoice from the demo MCP server.';

const sumLines = `local lines, total = {}, 0
for i, item in ipairs(input.items) do
  lines[i] = { description = item.name, quantity = item.quantity, unit_price = item.price }
  total = total + item.quantity * item.price
end
log(#lines .. " lines, " .. total .. " in all")
return { lines = lines, total = total }`;

const answer = `local note = steps.note.result
return {
  invoice = steps.invoice.result.invoice_number,
  total = steps.invoice.result.total,
  currency = steps.invoice.result.currency,
  in_euro = steps.rate.result.converted,
  note = note and note.text or "Thank you for your order, " .. input.customer .. "."
}`;

/** `model` null: the step that calls a model is disabled. */
export function orderToInvoice({ instanceId, model }: { instanceId: string; model: string | null }) {
  const steps: GraphStep[] = [
    {
      id: 'has_items',
      type: 'condition',
      name: 'The order can be billed',
      mode: 'validate',
      expression: 'has(input.customer) && has(input.items) && size(input.items) > 0',
      message: 'An order needs a customer and at least one item.',
      position: { x: 124, y: 0 },
    },
    {
      id: 'lines',
      type: 'lua_script',
      name: 'Add up the items',
      script: sumLines,
      timeout_s: 10,
      depends_on: ['has_items'],
      position: { x: 124, y: 104 },
    },
    {
      id: 'rate',
      type: 'mcp_call',
      name: 'What it is in euro',
      instance_id: instanceId,
      tool_name: 'lookup_exchange_rate',
      tool_args: { from: '{{input.currency ?? "EUR"}}', to: 'EUR', amount: '{{steps.lines.result.total}}' },
      timeout_s: 30,
      retry_count: 3,
      depends_on: ['lines'],
      position: { x: 0, y: 208 },
    },
    {
      id: 'invoice',
      type: 'mcp_call',
      name: 'Make the invoice',
      instance_id: instanceId,
      tool_name: 'create_invoice',
      tool_args: {
        customer: '{{input.customer}}',
        currency: '{{input.currency ?? "EUR"}}',
        lines: '{{steps.lines.result.lines}}',
      },
      timeout_s: 30,
      retry_count: 3,
      depends_on: ['lines'],
      position: { x: 248, y: 208 },
    },
    {
      id: 'note',
      type: 'llm_call',
      name: 'Write a note to the customer',
      model: model ?? 'openai/gpt-5-mini',
      prompt: `Write two friendly sentences to {{input.customer}}, thanking for the order of {{steps.lines.result.total}} {{input.currency ?? "EUR"}}
and naming the invoice {{steps.invoice.result.invoice_number}}. Plain text.`,
      max_tokens: 2_000,
      disabled: model === null,
      depends_on: ['invoice'],
      position: { x: 248, y: 312 },
    },
    {
      id: 'answer',
      type: 'lua_script',
      name: 'What the shop is told',
      script: answer,
      depends_on: ['rate', 'invoice', 'note'],
      position: { x: 124, y: 416 },
    },
  ];
  return {
    name: orderToInvoiceName,
    description:
      'Turns an order into an invoice with the tools of the demo MCP server. Start it by a signed webhook. A note to the customer is written by a model once **Settings → Model keys** has a key and the step is enabled.',
    graph: { steps },
    run_setup: { trigger_payload: sampleOrder },
  };
}

export const sampleOrder = {
  customer: 'Lindgren & Co',
  currency: 'SEK',
  items: [
    { name: 'Desk lamp', quantity: 2, price: 449 },
    { name: 'Notebook', quantity: 10, price: 59.5 },
  ],
};
