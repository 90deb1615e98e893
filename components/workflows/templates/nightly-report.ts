import type { Template } from './template.ts';

const total = `local sums, names, all = {}, {}, 0
for _, sale in ipairs(steps.sales.result.body) do
  if not sums[sale.region] then
    names[#names + 1] = sale.region
    sums[sale.region] = 0
  end
  sums[sale.region] = sums[sale.region] + sale.amount
  all = all + sale.amount
end
table.sort(names)
local lines = { "Sales: " .. string.format("%.2f", all) }
for _, name in ipairs(names) do lines[#lines + 1] = "- " .. name .. ": " .. string.format("%.2f", sums[name]) end
return { total = all, text = table.concat(lines, "\\n") }`;

export const nightlyReport: Template = {
  slug: 'nightly-report',
  name: 'Nightly report',
  sentence: 'Reads the day’s sales from an API, adds them up by region, and posts the report to a chat.',
  needs: [
    { kind: 'outside', label: 'a scheduler (such as cron) that starts it each night by a webhook or the API' },
    { kind: 'outside', label: 'an API that lists sales as [{region, amount}]' },
    { kind: 'outside', label: 'an incoming webhook of a chat that accepts {text}' },
  ],
  sampleInput: { sales_url: 'https://api.example.com/sales', chat_url: 'https://chat.example.com/hooks/reports' },
  graph: {
    input_schema: {
      type: 'object',
      required: ['sales_url', 'chat_url'],
      properties: {
        sales_url: { type: 'string', minLength: 1, description: 'Where the sales are read.' },
        chat_url: { type: 'string', minLength: 1, description: 'Where the report is posted.' },
      },
    },
    steps: [
      { id: 'sales', type: 'http_request', name: 'Read the sales', url: '{{input.sales_url}}', retry_count: 3 },
      { id: 'total', type: 'lua_script', name: 'Add up by region', script: total, depends_on: ['sales'] },
      {
        id: 'post',
        type: 'http_request',
        name: 'Post the report',
        method: 'POST',
        url: '{{input.chat_url}}',
        body: { text: '{{steps.total.result.text}}' },
        retry_count: 3,
        depends_on: ['total'],
      },
    ],
    output: { total: '{{steps.total.result.total}}', text: '{{steps.total.result.text}}' },
  },
};
