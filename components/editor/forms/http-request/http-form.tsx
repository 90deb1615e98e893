'use client';
import { useState } from 'react';
import { Select } from '../../../ui/select.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { useCompletion } from '../../code/use-completion.tsx';
import { withCurrent } from '../../inspector/pickers.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { LineField } from '../line-field.tsx';
import { AuthTab } from './auth-tab.tsx';
import { BodyTab, bodyKindOf } from './body-tab.tsx';
import { type CurlRequest, isCurl, readCurl } from './curl/read-curl.ts';
import { CurlActions, CurlNotice, PasteCurlDialog } from './curl-actions.tsx';
import { rowsOf } from './key-values.ts';
import { OptionsTab } from './options-tab.tsx';
import { PaginationTab } from './pagination-tab.tsx';
import { HeadersTab, ParamsTab } from './parameter-tabs.tsx';
import { fieldsToSet } from './pasted-fields.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

type TabName = 'params' | 'headers' | 'body' | 'auth' | 'pagination' | 'options';
/** The fields of each tab. */
const FIELDS: Readonly<Record<TabName, readonly string[]>> = {
  params: ['query'],
  headers: ['headers'],
  body: ['body', 'form', 'text', 'multipart', 'body_with_get'],
  auth: ['connection_id', 'auth'],
  pagination: ['pagination'],
  options: ['follow_redirects', 'expect', 'response', 'on_lost'],
};

/** The form of an HTTP request: method and URL, and everything else in tabs. */
export function HttpForm(props: StepFormProps) {
  const { step, set, problemOf, readOnly } = props;
  const [pasted, setPasted] = useState<CurlRequest | null>(null);
  const [pasting, setPasting] = useState(false);
  const completion = useCompletion(step.id, false);
  const method = typeof step.method === 'string' ? step.method : 'GET';
  const url = typeof step.url === 'string' ? step.url : '';
  const applyRequest = (request: CurlRequest) => {
    set(fieldsToSet(step, request));
    setPasted(request);
    setPasting(false);
  };
  const onPaste = (text: string): boolean => {
    if (readOnly || !isCurl(text)) return false;
    const request = readCurl(text);
    if ('problem' in request) {
      // As a URL, the command would be invalid, and its secrets would be in the draft.
      setPasted({ fields: {}, credentials: [], notices: [`The command was not pasted. ${request.problem}`] });
      return true;
    }
    applyRequest(request);
    return true;
  };
  return (
    <>
      <LineField
        label="URL"
        step={step.id}
        required
        value={url}
        readOnly={readOnly}
        completion={completion}
        placeholder="https://api.example.com/orders, or a curl command"
        problem={problemOf('url', 'error') ?? problemOf('method', 'error')}
        onChange={text => set({ url: text })}
        onPaste={onPaste}
        actions={<CurlActions step={step} readOnly={readOnly} onPaste={() => setPasting(true)} />}
        before={
          <Select
            label="Method"
            value={method}
            disabled={readOnly}
            className="w-26 shrink-0 font-medium"
            options={withCurrent(
              METHODS.map(each => ({ value: each, label: each })),
              method,
            )}
            onChange={next => set({ method: next === 'GET' ? undefined : next })}
          />
        }
      />
      <FieldMessages
        of={(name, severity) => (severity === 'warning' ? problemOf(name, severity) : undefined)}
        names={['url']}
      />
      {pasted === null ? null : <CurlNotice {...props} request={pasted} onClose={() => setPasted(null)} />}
      <RequestTabs {...props} completion={completion} />
      {pasting ? <PasteCurlDialog onUse={applyRequest} onClose={() => setPasting(false)} /> : null}
    </>
  );
}

function RequestTabs({ completion, ...props }: StepFormProps & { completion: ReturnType<typeof useCompletion> }) {
  const { step, problemOf } = props;
  const [tab, setTab] = useState<TabName>('params');
  return (
    <Tabs
      label="Parts of the request"
      dense
      value={tab}
      onChange={setTab}
      tabs={(
        [
          ['params', 'Params', countOf(step.query), <ParamsTab key="tab" {...props} completion={completion} />],
          ['headers', 'Headers', countOf(step.headers), <HeadersTab key="tab" {...props} completion={completion} />],
          [
            'body',
            'Body',
            bodyKindOf(step) === 'none' ? 0 : 1,
            <BodyTab key="tab" {...props} completion={completion} />,
          ],
          ['auth', 'Auth', step.connection_id === undefined ? 0 : 1, <AuthTab key="tab" {...props} />],
          [
            'pagination',
            'Pagination',
            step.pagination === undefined ? 0 : 1,
            <PaginationTab key="tab" {...props} completion={completion} />,
          ],
          ['options', 'Options', 0, <OptionsTab key="tab" {...props} />],
        ] as const
      ).map(([value, label, count, content]) => ({
        value,
        label: <TabLabel label={label} count={count} isWrong={FIELDS[value].some(name => problemOf(name, 'error'))} />,
        content: <div className="flex flex-col gap-4">{content}</div>,
      }))}
    />
  );
}

function TabLabel({ label, count, isWrong }: { label: string; count: number; isWrong: boolean }) {
  return (
    <span className="inline-flex items-center gap-1">
      {label}
      {isWrong ? (
        <span role="img" aria-label="has a problem" className="size-1.5 rounded-full bg-bad" />
      ) : count > 0 ? (
        <span className="rounded-sm bg-active px-1 text-xs text-muted tabular-nums">
          {count > 1 || label === 'Params' || label === 'Headers' ? count : '•'}
        </span>
      ) : null}
    </span>
  );
}

const countOf = (value: unknown): number => rowsOf(value)?.length ?? 1;
