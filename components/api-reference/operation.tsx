'use client';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { type ApiDocument, type ApiOperation, typeOf } from './document.ts';
import { SchemaFields } from './fields.tsx';

const tones: Record<string, Tone> = { GET: 'info', POST: 'ok', PATCH: 'warn', PUT: 'warn', DELETE: 'bad' };

export function Method({ method }: { method: string }) {
  return (
    <Badge tone={tones[method] ?? 'neutral'} className="w-14 shrink-0 justify-center font-mono">
      {method}
    </Badge>
  );
}

/** One operation: its description, parameters, body, responses, and an example call to copy. */
export function OperationView({ operation, document }: { operation: ApiOperation; document: ApiDocument }) {
  const success = operation.responses.filter(response => response.status.startsWith('2'));
  const failures = operation.responses.filter(response => !response.status.startsWith('2'));
  return (
    <article className="flex flex-col gap-5">
      <header>
        <h2 className="text-lg font-semibold">{operation.summary}</h2>
        <p className="mt-1 flex flex-wrap items-center gap-2">
          <Method method={operation.method} />
          <code className="wrap-anywhere">{operation.path}</code>
          <span className="text-xs text-faint">{operation.id}</span>
        </p>
      </header>
      {operation.description ? <Markdown text={operation.description} /> : null}
      {operation.method === 'GET' || operation.path.startsWith('/v1') ? (
        <Example text={curl(operation, document.servers[0]?.url ?? '')} />
      ) : null}
      {operation.parameters.length > 0 ? (
        <Part title="Parameters">
          <ul>
            {operation.parameters.map(parameter => (
              <li key={`${parameter.in}:${parameter.name}`} className="border-b py-1.5 last:border-b-0">
                <span className="flex flex-wrap items-baseline gap-x-2">
                  <code className="font-semibold">{parameter.name}</code>
                  <span className="font-mono text-xs text-muted">{typeOf(parameter.schema ?? {}, document)}</span>
                  <span className="text-xs text-faint">{parameter.in}</span>
                  {parameter.required ? <span className="text-xs text-warn">required</span> : null}
                </span>
                {parameter.description ? <p className="text-xs text-muted">{parameter.description}</p> : null}
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      {operation.body ? (
        <Part title="Body">
          <SchemaFields schema={operation.body} document={document} />
        </Part>
      ) : null}
      {success.map(response => (
        <Part key={response.status} title={`Response ${response.status}`}>
          {response.schema ? (
            <SchemaFields schema={response.schema} document={document} />
          ) : (
            <p className="text-xs text-muted">{response.description || 'No body.'}</p>
          )}
        </Part>
      ))}
      {failures.length > 0 ? (
        <Part title="Other responses">
          <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
            {failures.map(response => (
              <div key={response.status} className="contents">
                <dt className="font-mono">{response.status}</dt>
                <dd className="text-muted">{response.description.replaceAll('`', '')}</dd>
              </div>
            ))}
          </dl>
        </Part>
      ) : null}
    </article>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1 text-sm font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function Example({ text }: { text: string }) {
  return (
    <div className="relative rounded-md border bg-sunken">
      <div className="absolute top-1 right-1">
        <CopyButton text={text} label="Copy the call" />
      </div>
      <ScrollRegion label="Example call" className="overflow-x-auto p-3 pr-10">
        <pre className="text-xs leading-5">{text}</pre>
      </ScrollRegion>
    </div>
  );
}

function curl(operation: ApiOperation, server: string): string {
  const parts = [`curl${operation.method === 'GET' ? '' : ` -X ${operation.method}`} '${server}${operation.path}'`];
  parts.push(`-H "Authorization: Bearer $BATON_PAT"`);
  if (operation.body) parts.push(`-H 'Content-Type: application/json'`, `-d '{…}'`);
  return parts.join(' \\\n  ');
}
