'use client';
import { Button } from '../../../ui/button.tsx';
import type { CompletionSource } from '../../code/completion.ts';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { groupPairs } from './curl/curl-fields.ts';
import { readPairs } from './curl/templated-text.ts';
import { KeyValueTable } from './key-value-table.tsx';
import { cellText, mapOf, rowsOf } from './key-values.ts';

type Props = StepFormProps & { completion: CompletionSource | undefined };

/** The parameters that are added to the URL. Parameters in the URL itself can be moved here. */
export function ParamsTab({ step, set, draw, problemOf, readOnly, completion }: Props) {
  if (rowsOf(step.query) === null) return draw('query');
  const [base = '', ...rest] = typeof step.url === 'string' ? step.url.split('?') : [];
  const inUrl = readPairs(rest.join('?')) ?? [];
  const move = () => {
    const present = (rowsOf(step.query) ?? []).map(({ name, value }) => [name, cellText(value)] as const);
    set({ url: base, query: groupPairs([...inUrl, ...present]) ?? undefined });
  };
  return (
    <>
      <KeyValueTable
        step={step.id}
        noun="Parameter"
        placeholder="Name"
        repeats
        value={step.query}
        readOnly={readOnly}
        completion={completion}
        onChange={query => set({ query })}
      />
      {inUrl.length > 0 && !readOnly ? (
        <Button size="sm" className="self-start" onClick={move}>
          {inUrl.length === 1
            ? 'Move the parameter of the URL here'
            : `Move ${inUrl.length} parameters of the URL here`}
        </Button>
      ) : null}
      <FieldMessages of={problemOf} names={['query']} />
    </>
  );
}

/** The headers of the request. */
export function HeadersTab({ step, set, draw, problemOf, readOnly, completion }: Props) {
  const rows = rowsOf(step.headers);
  if (rows === null || rows.length !== Object.keys(mapOf(rows) ?? {}).length) return draw('headers');
  return (
    <>
      <KeyValueTable
        step={step.id}
        noun="Header"
        placeholder="Name"
        repeats={false}
        value={step.headers}
        readOnly={readOnly}
        completion={completion}
        onChange={headers => set({ headers })}
      />
      <p className="text-xs text-muted">
        Keep secrets in a connection, under Auth. The body sets Content-Type by itself.
      </p>
      <FieldMessages of={problemOf} names={['headers']} />
    </>
  );
}
