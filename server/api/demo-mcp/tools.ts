import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** Units of a currency for one euro, at the European Central Bank's reference rates of one day. */
const PER_EURO = { EUR: 1, USD: 1.1721, GBP: 0.8712, JPY: 183.65, CHF: 0.9306, SEK: 10.82 } as const;
const AS_OF = '2026-01-02';
const Currency = z.enum(['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'SEK']);
const Amount = z.number().min(0).max(1_000_000_000);

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** Registers the tools. They neither store nor call anything: the same arguments give the same result. */
export function registerDemoTools(server: McpServer): void {
  registerExchangeRate(server);
  registerInvoice(server);
  registerFeed(server);
  registerSlowCount(server);
  registerFail(server);
}

function registerExchangeRate(server: McpServer): void {
  server.registerTool(
    'lookup_exchange_rate',
    {
      title: 'Look up an exchange rate',
      description: `The reference rate between two currencies, from a fixed table of ${AS_OF}; with an amount, also its worth.`,
      inputSchema: { from: Currency, to: Currency, amount: Amount.optional() },
      outputSchema: {
        from: Currency,
        to: Currency,
        rate: z.number(),
        as_of: z.string(),
        converted: z.number().optional(),
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ from, to, amount }) => {
      const rate = rounded(PER_EURO[to] / PER_EURO[from], 6);
      const converted = amount === undefined ? {} : { converted: rounded(amount * rate, 2) };
      return result({ from, to, rate, as_of: AS_OF, ...converted });
    },
  );
}

function registerInvoice(server: McpServer): void {
  const Line = z.object({
    description: z.string().min(1).max(200),
    quantity: z.number().min(0).max(1_000_000),
    unit_price: Amount,
  });
  server.registerTool(
    'create_invoice',
    {
      title: 'Create an invoice',
      description: 'Makes a draft invoice. It is stored nowhere; the same call of a run gives the same number again.',
      inputSchema: {
        customer: z.string().min(1).max(200),
        currency: Currency.default('EUR'),
        lines: z.array(Line).min(1).max(100),
      },
      outputSchema: {
        invoice_number: z.string(),
        customer: z.string(),
        currency: Currency,
        total: z.number(),
        status: z.literal('draft'),
      },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ customer, currency, lines }, { _meta }) => {
      const total = lines.reduce((sum, line) => sum + line.quantity * line.unit_price, 0);
      // A retried step sends the same key, by which a real service would find its first invoice.
      const key = _meta?.idempotency_key ?? JSON.stringify([customer, currency, lines]);
      const digest = createHash('sha256').update(String(key)).digest('hex');
      const invoice_number = `INV-${digest.slice(0, 8).toUpperCase()}`;
      return result({ invoice_number, customer, currency, total: rounded(total, 2), status: 'draft' });
    },
  );
}

/** Entries of the feed, newest first. */
const FEED = [
  { day: '2026-01-02', title: 'Release 4.2', summary: 'Exports are twice as fast, and reports can be scheduled.' },
  { day: '2025-12-29', title: 'Maintenance on 5 January', summary: 'The service pauses for ten minutes at 03:00 UTC.' },
  { day: '2025-12-22', title: 'Meet us in Stockholm', summary: 'We talk about durable workflows on 20 January.' },
  { day: '2025-12-15', title: 'Release 4.1', summary: 'Tasks can be reassigned, and the inbox has a history.' },
  {
    day: '2025-12-08',
    title: 'How we test recovery',
    summary: 'A simulation crashes the service between any two turns.',
  },
].map(({ day, title, summary }) => ({
  title,
  link: `https://news.example.com/${day}`,
  published_at: `${day}T09:00:00Z`,
  summary,
}));

function registerFeed(server: McpServer): void {
  const Entry = z.object({ title: z.string(), link: z.string(), published_at: z.string(), summary: z.string() });
  server.registerTool(
    'read_feed',
    {
      title: 'Read a feed',
      description: 'The latest entries of a made-up company’s news, newest first.',
      inputSchema: { limit: z.int().min(1).max(20).default(10) },
      outputSchema: { title: z.string(), entries: z.array(Entry) },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ limit }) => result({ title: 'News', entries: FEED.slice(0, limit) }),
  );
}

function registerSlowCount(server: McpServer): void {
  server.registerTool(
    'slow_count',
    {
      title: 'Count slowly',
      description: 'Counts and reports progress until it is done or cancelled, as an example of a long call.',
      inputSchema: { to: z.int().min(1).max(60).default(5), delay_ms: z.int().min(10).max(1_000).default(500) },
      outputSchema: { counted: z.int() },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ to, delay_ms }, { signal, _meta, sendNotification }) => {
      for (let progress = 1; progress <= to; progress++) {
        await delay(delay_ms, undefined, { signal });
        const progressToken = _meta?.progressToken;
        if (progressToken === undefined) continue;
        const params = { progressToken, progress, total: to, message: `counted to ${progress}` };
        await sendNotification({ method: 'notifications/progress', params });
      }
      return result({ counted: to });
    },
  );
}

function registerFail(server: McpServer): void {
  server.registerTool(
    'fail',
    {
      title: 'Fail',
      description: 'Always fails, with the message given. Shows what becomes of a step, its retries and its run.',
      inputSchema: { message: z.string().min(1).max(500).default('The demo tool fails, as requested.') },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ message }) => ({ content: [{ type: 'text', text: message }], isError: true }),
  );
}

const result = <T extends Record<string, unknown>>(structuredContent: T) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }],
  structuredContent,
});
