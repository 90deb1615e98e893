import { z } from 'zod';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';

/** docs/specification/limits.md#http-requests */
export const MAX_URL_LENGTH = 8 * 1024;
export const MAX_PAGES = 100;

const READS =
  'reads response.status, .headers, .body and .links, and response.last_item, the last one of the list of the page';
const parameter = (fallback: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: `The name of the parameter. Default ${fallback}` });
const size = z
  .number()
  .int()
  .min(1)
  .max(100_000)
  .optional()
  .meta({ description: 'The items of a full page: one with fewer is the last. Without it, an empty page is' });
const first = (fallback: number) =>
  z
    .number()
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .meta({ description: `Default ${fallback}` });
const count = (of: string) =>
  z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: `Template of ${of}, such as {{response.body.total}}; pages end there` });

const PageNumber = z.strictObject({
  parameter: parameter('page'),
  first: first(1),
  size,
  last: count('the last page'),
});
const Offset = z.strictObject({
  parameter: parameter('offset'),
  first: first(0),
  size,
  total: count('the number of all items'),
});

const Pages = z.strictObject({
  next: z
    .string()
    .min(1)
    .max(MAX_URL_LENGTH)
    .optional()
    .meta({
      description: `The URL of the next page, from templates: ${READS}. Pages end where it is null, false or empty`,
    }),
  query: JsonObjectSchema.optional().meta({
    description: `Instead of next: parameters of the next page, which replace those of the page before. It ${READS}`,
  }),
  page: PageNumber.optional().meta({ description: 'Instead of next: the number of the page is a parameter' }),
  offset: Offset.optional().meta({
    description: 'Instead of next: the number of items before the page is a parameter',
  }),
  has_more: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: 'Template of a flag, such as {{response.body.has_more}}: pages end where it is false' }),
  items: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: 'Path of the list in the body, such as data.orders. Default: the body is the list' }),
  max_pages: z
    .number()
    .int()
    .min(1)
    .max(MAX_PAGES)
    .optional()
    .meta({ description: `Default ${MAX_PAGES}` }),
});

/** The field `pagination` of an `http_request` step (docs/specification/steps.md#pages). */
export const paginationField = Pages.meta({
  description:
    'Reads a list of several pages: one of next, query, page and offset says which page follows, has_more and max_pages where they end, items where the list is',
});

/** The rules that determine the next page. A step has one of them. */
export const PAGE_RULES = ['next', 'query', 'page', 'offset'] as const;

export type Pagination = z.output<typeof paginationField>;
