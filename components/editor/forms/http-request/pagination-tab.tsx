'use client';
import { useRef } from 'react';
import type { Json, JsonObject } from '@/server/platform/json.ts';
import { Field, Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import type { CompletionSource } from '../../code/completion.ts';
import { explained } from '../../inspector/field-help.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { LineField } from '../line-field.tsx';
import { KeyValueTable } from './key-value-table.tsx';
import { rowsOf } from './key-values.ts';
import { NestedNumber, objectOf, withField } from './nested-fields.tsx';

type Rule = 'none' | 'next' | 'query' | 'page' | 'offset';
const RULES: readonly { value: Rule; label: string; hint?: string }[] = [
  { value: 'none', label: 'One page only' },
  { value: 'next', label: 'A URL in the response', hint: 'such as a Link header' },
  { value: 'query', label: 'A value from the response', hint: 'such as a cursor' },
  { value: 'page', label: 'Page number', hint: 'page=1, page=2' },
  { value: 'offset', label: 'Offset', hint: 'offset=0, offset=100' },
];
const STARTS: Readonly<Record<Exclude<Rule, 'none'>, Json>> = {
  next: '{{response.links.next}}',
  query: { cursor: '{{response.body.cursor}}' },
  page: {},
  offset: {},
};

type Props = StepFormProps & { completion: CompletionSource | undefined };

/** The pagination options: whether more pages are read, how the next page is found, and where the items are. */
export function PaginationTab(props: Props) {
  const { step, set, readOnly, problemOf } = props;
  const pages = objectOf(step.pagination);
  const rule = RULES.find(({ value }) => value !== 'none' && pages[value] !== undefined)?.value ?? 'none';
  const previous = useRef(new Map<Rule, JsonObject>());
  const changePagination = (next: JsonObject) => set({ pagination: next });
  const choose = (next: Rule) => {
    if (rule !== 'none') previous.current.set(rule, pages);
    if (next === 'none') return set({ pagination: undefined });
    const { next: _n, query: _q, page: _p, offset: _o, ...shared } = pages;
    changePagination(previous.current.get(next) ?? { [next]: STARTS[next], ...shared });
  };
  return (
    <>
      <Field
        label="Next page"
        {...explained('The result has the items of all pages in one list. Only GET requests have pages.', 'Next page')}
      >
        <Select value={rule} options={RULES} disabled={readOnly} onChange={choose} />
      </Field>
      {rule === 'none' ? null : (
        <>
          <RuleFields {...props} rule={rule} pages={pages} changePagination={changePagination} />
          <Field
            label="List in the body"
            {...explained(
              'The path of the list, such as data.orders. Empty: the body is the list.',
              'List in the body',
            )}
          >
            <Input
              value={typeof pages.items === 'string' ? pages.items : ''}
              placeholder="The body is the list"
              readOnly={readOnly}
              className="font-mono"
              onChange={({ target: { value } }) =>
                changePagination(withField(pages, 'items', value === '' ? undefined : value))
              }
            />
          </Field>
          <LineField
            label="More pages while"
            hint="A template of a flag, such as {{response.body.has_more}}. Empty: until a page has no next one."
            value={typeof pages.has_more === 'string' ? pages.has_more : ''}
            readOnly={readOnly}
            completion={props.completion}
            onChange={text => changePagination(withField(pages, 'has_more', text === '' ? undefined : text))}
          />
          <NestedNumber
            {...props}
            path="pagination.max_pages"
            label="At most (pages)"
            hint="Default: 100."
            value={pages.max_pages}
            onChange={value => changePagination(withField(pages, 'max_pages', value))}
          />
        </>
      )}
      <FieldMessages of={problemOf} names={['pagination']} />
    </>
  );
}

type RuleProps = Props & { rule: Rule; pages: JsonObject; changePagination: (pages: JsonObject) => void };

function RuleFields({ rule, pages, changePagination, ...props }: RuleProps) {
  const { draw, readOnly, completion } = props;
  if (rule === 'next')
    return (
      <LineField
        label="URL of the next page"
        hint="Templates read response.status, .headers, .body, .links and .last_item. The pages end where it is empty."
        required
        value={typeof pages.next === 'string' ? pages.next : ''}
        readOnly={readOnly}
        completion={completion}
        onChange={next => changePagination({ ...pages, next })}
      />
    );
  if (rule === 'query') {
    if (rowsOf(pages.query) === null) return draw('pagination');
    return (
      <section aria-label="Parameters of the next page" className="flex flex-col gap-1.5">
        <h3 className="text-sm font-medium">Parameters of the next page</h3>
        <KeyValueTable
          step={props.step.id}
          noun="Parameter of the next page"
          placeholder="cursor"
          repeats
          value={pages.query}
          readOnly={readOnly}
          completion={completion}
          onChange={query => changePagination({ ...pages, query: query ?? {} })}
        />
      </section>
    );
  }
  return rule === 'none' ? null : (
    <CountedFields {...props} rule={rule} pages={pages} changePagination={changePagination} />
  );
}

function CountedFields({ rule, pages, changePagination, ...props }: RuleProps) {
  const { readOnly, completion } = props;
  const counted = objectOf(pages[rule]);
  const change = (name: string, value: Json | undefined) =>
    changePagination({ ...pages, [rule]: withField(counted, name, value) });
  const isPage = rule === 'page';
  const last = isPage ? 'last' : 'total';
  return (
    <>
      <Field label="Parameter">
        <Input
          value={typeof counted.parameter === 'string' ? counted.parameter : ''}
          placeholder={isPage ? 'page' : 'offset'}
          readOnly={readOnly}
          onChange={({ target: { value } }) => change('parameter', value === '' ? undefined : value)}
        />
      </Field>
      <div className="flex flex-wrap gap-4">
        <NestedNumber
          {...props}
          path={`pagination.${rule}.first`}
          label="First"
          hint={isPage ? 'Default: 1.' : 'Default: 0.'}
          value={counted.first}
          onChange={value => change('first', value)}
        />
        <NestedNumber
          {...props}
          path={`pagination.${rule}.size`}
          label="Items of a full page"
          hint="A page with fewer is the last."
          value={counted.size}
          onChange={value => change('size', value)}
        />
      </div>
      <LineField
        label={isPage ? 'Last page' : 'Number of all items'}
        hint={isPage ? 'Such as {{response.body.pages}}' : 'Such as {{response.body.total}}'}
        value={typeof counted[last] === 'string' ? counted[last] : ''}
        readOnly={readOnly}
        completion={completion}
        onChange={text => change(last, text === '' ? undefined : text)}
      />
    </>
  );
}
